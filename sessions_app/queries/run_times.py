"""Which run of a conversation was going on at a time."""

from datetime import datetime

from django.utils import timezone

from sessions_app.domain.moments import MeantTime, read_moment
from sessions_app.models import Session, lineage_runs, lineage_runs_at

SAMPLES = 400


def position_at(*, session: Session, text: str, now: datetime) -> int | None:
    """Return the run that a time in words leads to, or None where the text is none.

    It is the first run that began at that time, else the newest before it, or the first of all. Times are by the clock
    of whoever looks. Reads some hundred times of runs at most twice for each end, also of a hundred thousand runs.
    """
    newest = lineage_runs(session).filter(position=session.last_position).first()
    if newest is None:
        return None
    last = timezone.localtime(newest.created_at).replace(tzinfo=None)
    meant = read_moment(text, today=timezone.localtime(now).date(), newest=last)
    return None if meant is None else _within(session, meant)


def _within(session: Session, meant: MeantTime) -> int:
    before, through = (begun_before(session, timezone.make_aware(end)) for end in (meant.start, meant.end))
    return before + 1 if through > before else max(before, 1)


def begun_before(session: Session, moment: datetime) -> int:
    """Return the newest run that began before a moment, 0 if none did; runs are taken to have begun in their order.

    No index goes by time, so the times at even distances are read, then those between two of them.
    """
    low, high = 0, session.last_position
    while low < high:
        step = -(-(high - low) // SAMPLES)
        positions = [*range(low + step, high, step), high]
        begun = dict(lineage_runs_at(session, positions).values_list("position", "created_at"))
        low = max((p for p in positions if p in begun and begun[p] < moment), default=low)
        high = min((p for p in positions if p > low), default=low + 1) - 1
    return low
