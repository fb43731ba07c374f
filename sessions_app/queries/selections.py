"""Sessions that somebody has picked out of the list, one by one or all that match, for something to be done to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Exists, OuterRef

from sessions_app.models import Project, Session, SessionTag
from sessions_app.queries.capped_counts import COUNTED_AT_MOST, CappedCount
from sessions_app.queries.keyset import rows_behind
from sessions_app.queries.session_filters import SessionFilter, matching_sessions
from sessions_app.queries.sessions import order_of

MOST_SELECTED = 10_000
NAMED = 12
TAGS_OFFERED = 50

# Keys are numbers of ours, so that they can stand in the statement; as parameters they would be too many.
_BELOW = """
    WITH RECURSIVE below AS (
        SELECT id FROM sessions_app_session WHERE parent_id IN ({keys})
        UNION SELECT children.id FROM below JOIN sessions_app_session AS children ON children.parent_id = below.id
    )
    SELECT COUNT(*) FROM (SELECT id FROM below WHERE id NOT IN ({keys}) LIMIT {most}) AS counted
"""


@dataclass(frozen=True, slots=True)
class Selection:
    """Sessions that were picked; `named` are the first of them, `parents` of them have children.

    `below` counts those that stand below them and are not picked themselves. `tags` are those most of them have.
    """

    pks: Sequence[int]
    named: Sequence[Session]
    parents: int
    below: CappedCount
    tags: Sequence[tuple[str, int]]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.pks)


def picked_sessions(*, project: Project, pks: Sequence[int]) -> list[int]:
    """Return the keys among these that are of sessions of the project, in their order, each once."""
    known = set(Session.objects.filter(project=project, pk__in=pks[:MOST_SELECTED]).values_list("pk", flat=True))
    return [pk for pk in dict.fromkeys(pks) if pk in known]


def all_matching(*, project: Project, wanted: SessionFilter) -> list[int]:
    """Return the keys of what the list shows, in its order, at most MOST_SELECTED."""
    found = rows_behind(matching_sessions(project, wanted), order_of(wanted), None)
    return list(found.values_list("pk", flat=True)[:MOST_SELECTED])


def selection_of(*, pks: Sequence[int]) -> Selection:
    """Return what a question about sessions has to say of them."""
    sessions = Session.objects.filter(pk__in=pks)
    named = sessions.only("public_id", "title").in_bulk(pks[:NAMED])
    children = Session.objects.filter(parent=OuterRef("pk"))
    tags = SessionTag.objects.filter(session__in=pks).order_by().values_list("name").annotate(count=Count("pk"))
    return Selection(
        pks=pks,
        named=[named[pk] for pk in pks[:NAMED] if pk in named],
        parents=sessions.filter(Exists(children)).count(),
        below=_below(pks),
        tags=list(tags.order_by("-count", "name")[:TAGS_OFFERED]),
    )


def _below(pks: Sequence[int]) -> CappedCount:
    if not pks:
        return CappedCount(0)
    keys = ", ".join(map(str, map(int, pks)))
    with connection.cursor() as cursor:
        cursor.execute(_BELOW.format(keys=keys, most=COUNTED_AT_MOST + 1))
        return CappedCount.of(cursor.fetchone()[0])
