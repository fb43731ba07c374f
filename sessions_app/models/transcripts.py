"""How prompts read a session's lineage from rows: a constant number of queries for each link of the fork chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_

from django.db.models import BooleanField, ExpressionWrapper, Q

from sessions_app.domain import transcript
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.domain.transcript import OPEN_STATUSES, ParentContext, SummaryEntry
from sessions_app.models.runs import Run, RunQuerySet
from sessions_app.models.sessions import Session
from sessions_app.models.summaries import Summary

_ANCESTORS = """
    WITH RECURSIVE above AS (
        SELECT id, parent_id, public_id, title, forked_at, 1 AS level FROM sessions_app_session WHERE id = %s
        UNION ALL
        SELECT parents.id, parents.parent_id, parents.public_id, parents.title, parents.forked_at, above.level + 1
        FROM above JOIN sessions_app_session AS parents ON parents.id = above.parent_id WHERE above.level < %s
    )
    SELECT id, parent_id, public_id, title, forked_at FROM above ORDER BY level
"""
# SQLite refuses a condition of a thousand alternatives in a row, but not one of alternatives between alternatives.
_ALTERNATIVES = 100


@dataclass(frozen=True, slots=True)
class Stretch:
    """The runs first..last of a lineage that one session holds itself."""

    session: Session
    first: int
    last: int


def ancestors_of(session: Session, *, at_most: int = LARGEST_INTEGER) -> list[Session]:
    """Return the parents from the nearest to the root by one query, with id, title and `forked_at` alone."""
    if session.parent_id is None:
        return []
    return list(Session.objects.raw(_ANCESTORS, [session.parent_id, at_most]))


def lineage_of(session: Session) -> list[Stretch]:
    """Return the stretches that make up a session's lineage, newest first; empty ones are left out.

    Raises Session.DoesNotExist if a session that holds some of it has been deleted since this one was read.
    """
    stretches = [Stretch(session, session.first_position, session.last_position)]
    shared = session.forked_at
    above = iter(ancestors_of(session) if shared else ())
    while shared:
        holder = next(above, None)
        if holder is None:
            raise Session.DoesNotExist("A session that holds runs of this one has been deleted.")
        stretches.append(Stretch(holder, holder.first_position, shared))
        shared = None if holder.forked_at is None else min(shared, holder.forked_at)
    return [stretch for stretch in stretches if stretch.first <= stretch.last]


def lineage_runs(session: Session, *, first: int = 1, last: int | None = None) -> RunQuerySet:
    """Return the runs first..last of a session's lineage (all if left out), unordered."""
    end = session.last_position if last is None else last
    clipped = [Stretch(each.session, max(each.first, first), min(each.last, end)) for each in lineage_of(session)]
    return _runs_in([stretch for stretch in clipped if stretch.first <= stretch.last])


def _runs_in(stretches: Sequence[Stretch]) -> RunQuerySet:
    if not stretches:
        return Run.objects.none()
    each = [Q(session=stretch.session, position__range=(stretch.first, stretch.last)) for stretch in stretches]
    some = [reduce(or_, each[start : start + _ALTERNATIVES]) for start in range(0, len(each), _ALTERNATIVES)]
    return Run.objects.filter(reduce(or_, (Q(ExpressionWrapper(one, BooleanField())) for one in some)))


class SessionTranscript:
    """The TranscriptReader of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def lineage(self) -> list[Stretch]:
        """The stretches of the lineage, newest first."""
        return lineage_of(self._session)

    @cached_property
    def _open(self) -> Run | None:
        newest = Run.objects.with_events().filter(session=self._session, status__in=OPEN_STATUSES)
        return newest.filter(position=self._session.last_position).first()

    @property
    def instructions(self) -> str:
        """The session's system prompt, maybe empty."""
        return self._session.instructions

    @property
    def finished_through(self) -> int:
        """The position of the newest finished run; 0 if there is none."""
        return self._session.last_position - (self._open is not None)

    def open_run(self) -> transcript.Run | None:
        """The newest run while it is pending or running."""
        return None if self._open is None else self._open.to_value()

    def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[transcript.Run]:
        """Finished runs p with not_below <= p < position, newest first: as many as fit `tokens`, and one more."""
        wanted: list[Stretch] = []
        ceiling: int | None = None
        for stretch in self.lineage:
            first, last = (
                max(stretch.first, not_below),
                min(stretch.last, position - 1, self.finished_through),
            )
            if first > last:
                continue
            runs = Run.objects.filter(session=stretch.session)
            if ceiling is None:
                newest = runs.get(position=last)
                ceiling = newest.tokens_before_o200k + newest.tokens_o200k
            behind = runs.filter(tokens_before_o200k__lt=ceiling - tokens).order_by("-tokens_before_o200k", "-position")
            cut = behind.values_list("position", flat=True).first()
            cut = None if cut is None or cut < first else cut
            wanted.append(Stretch(stretch.session, first if cut is None else cut, last))
            if cut is not None:
                break
        rows = _runs_in(wanted).with_events().order_by("-position")
        return [row.to_value() for row in rows]

    def newest_summary(self, covers_at_most: int) -> SummaryEntry | None:
        """The newest entry in use that covers at most the runs 1..`covers_at_most`."""
        if self._session.summary_id is None:
            return None
        entries = Summary.objects.in_use().filter(session=self._session, covers_through__lte=covers_at_most)
        newest = entries.last()
        return None if newest is None else newest.to_value()

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parents, root first; parents without a summary are left out.

        Behind a fork link only a summary of shared runs counts: what the parent heard later is not the fork's.
        """
        contexts: list[ParentContext] = []
        shared = self._session.forked_at
        for parent in ancestors_of(self._session, at_most=depth):
            entries = Summary.objects.in_use().filter(session=parent)
            newest = (entries if shared is None else entries.filter(covers_through__lte=shared)).last()
            # A fork may have adopted what its parent hands down as well.
            if newest is not None and all(newest.text != context.text for context in contexts):
                contexts.append(ParentContext(str(parent), newest.text))
            grand = parent.forked_at
            shared = grand if grand is None or shared is None else min(shared, grand)
        return contexts[::-1]
