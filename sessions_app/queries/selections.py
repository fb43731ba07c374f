"""Sessions that somebody has picked out of the list, one by one or all that match, for something to be done to them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef

from sessions_app.domain.errors import InvalidInput
from sessions_app.models import Project, Session, SessionTag
from sessions_app.queries.capped_counts import CappedCount
from sessions_app.queries.descendant_counts import count_below
from sessions_app.queries.keyset import rows_behind
from sessions_app.queries.session_filters import SessionFilter, matching_sessions
from sessions_app.queries.sessions import order_of

MOST_SELECTED = 10_000
NAMED = 12
TAGS_OFFERED = 50


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
    """Return those of these keys that are of sessions of the project, in their order, each once; refuse too many."""
    named = list(dict.fromkeys(pks))
    if len(named) > MOST_SELECTED:
        raise InvalidInput(f"At most {MOST_SELECTED:,} sessions at once: {len(named):,} are picked.")
    known = set(Session.objects.filter(project=project, pk__in=named).values_list("pk", flat=True))
    return [pk for pk in named if pk in known]


def all_matching(*, project: Project, wanted: SessionFilter) -> tuple[list[int], bool]:
    """Return the keys of what the list shows, in its order, at most MOST_SELECTED, and whether there are more."""
    found = rows_behind(matching_sessions(project, wanted), order_of(wanted), None)
    pks = list(found.values_list("pk", flat=True)[: MOST_SELECTED + 1])
    return pks[:MOST_SELECTED], len(pks) > MOST_SELECTED


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
        below=count_below(pks),
        tags=list(tags.order_by("-count", "name")[:TAGS_OFFERED]),
    )
