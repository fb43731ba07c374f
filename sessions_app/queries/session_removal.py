"""What deleting a session would take with it."""

from dataclasses import dataclass

from sessions_app.models import Session
from sessions_app.models.sessions import CHILD_START
from sessions_app.queries.capped_counts import CappedCount
from sessions_app.queries.descendant_counts import count_below


@dataclass(frozen=True, slots=True)
class Removal:
    """What goes: the session's own runs and summaries. `children` stand right below it, `below` are all of them.

    `shared_through`: forks keep the session's own runs up to there.
    """

    runs: int
    summaries: int
    children: int
    below: CappedCount
    shared_through: int


def removal_of(session: Session) -> Removal:
    """Return what deleting a session would take, by four queries; its tree is counted up to 10,000."""
    forks = session.children.alias(start=CHILD_START).filter(start__gte=session.first_position)
    return Removal(
        runs=session.own_run_count,
        summaries=session.summaries.count(),
        children=session.children.count(),
        below=count_below([session.pk]),
        shared_through=forks.order_by("-start").values_list("forked_at", flat=True).first() or 0,
    )
