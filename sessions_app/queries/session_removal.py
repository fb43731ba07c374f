"""What deleting a session would take with it."""

from dataclasses import dataclass

from django.db import connection

from sessions_app.models import Session
from sessions_app.queries.capped_counts import COUNTED_AT_MOST, CappedCount

_BELOW = """
    WITH RECURSIVE below AS (
        SELECT id FROM sessions_app_session WHERE parent_id = %s
        UNION ALL
        SELECT children.id FROM below JOIN sessions_app_session AS children ON children.parent_id = below.id
    )
    SELECT COUNT(*) FROM (SELECT id FROM below LIMIT %s) AS counted
"""


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
    forks = session.children.filter(forked_at__gte=session.first_position)
    return Removal(
        runs=session.own_run_count,
        summaries=session.summaries.count(),
        children=session.children.count(),
        below=_below(session),
        shared_through=forks.order_by("-forked_at").values_list("forked_at", flat=True).first() or 0,
    )


def _below(session: Session) -> CappedCount:
    with connection.cursor() as cursor:
        cursor.execute(_BELOW, [session.pk, COUNTED_AT_MOST + 1])
        return CappedCount.of(cursor.fetchone()[0])
