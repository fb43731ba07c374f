"""What the list of sessions shows: whole trees, or the single sessions that filters pick out of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, F
from django.db.models.functions import Lower

from sessions_app.domain.errors import NotFound
from sessions_app.domain.search_words import Sought, marked, read_query
from sessions_app.models import Project, Session, SessionTag
from sessions_app.models.search_index import PLACES_READ, are_all_read
from sessions_app.models.sessions import LINEAGE_TOKENS
from sessions_app.queries import session_trees
from sessions_app.queries.capped_counts import COUNTED_AT_MOST, CappedCount, capped_count
from sessions_app.queries.keyset import Cursor, Order, read_count, read_cursor, read_text, read_time, rows_behind
from sessions_app.queries.search_hits import Hits, search_hits
from sessions_app.queries.session_conditions import has_cut_results, has_lost_runs, has_unseen_runs
from sessions_app.queries.session_filters import SessionFilter, SessionSort, SessionView, in_view, matching_sessions
from sessions_app.queries.session_rows import MoreChildren, SessionRow, with_row_columns
from sessions_app.queries.session_trees import Tree

NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of the list: trees in order, how many of how many are shown, and the cursor to the next page.

    Whole trees are counted, or if `picked` the sessions that were looked for, without those that lead to them.
    `only_newest`: so many places hold the words that were searched for that only the newest were read. `sessions` are
    those in all trees, counted where nothing is left out.
    """

    trees: Sequence[Tree]
    picked: bool
    shown: int
    total: CappedCount
    next_cursor: str
    only_newest: bool = False
    sessions: CappedCount | None = None

    @property
    def caption(self) -> str:
        """How much of the list is on the page, in words."""
        counted = _counted(self.total, "matching session" if self.picked else "tree")
        is_whole = self.sessions is not None and not self.next_cursor
        caption = counted if is_whole else f"{self.shown:,} of {counted} shown"
        if self.sessions:
            caption += f", {_counted(self.sessions, 'session')}{'' if is_whole else ' in all'}"
        return f"{caption}, among the newest {PLACES_READ:,} places with these words" if self.only_newest else caption

    @property
    def all_caption(self) -> str:
        """What all of the list are, for a box that picks them, in words."""
        words = f"All {self.total} of this list"
        return f"{words}: the first {COUNTED_AT_MOST:,} of them" if self.total.at_least else words


_ORDERS: Mapping[SessionSort, Order] = {
    SessionSort.CREATED: Order(SessionSort.CREATED, F("created_at"), read_time, descending=True),
    SessionSort.RUNS: Order(SessionSort.RUNS, F("last_position"), read_count, descending=True),
    SessionSort.TOKENS: Order(SessionSort.TOKENS, LINEAGE_TOKENS, read_count, descending=True),
    SessionSort.TITLE: Order(SessionSort.TITLE, Lower("title"), read_text),
    SessionSort.UNSEEN: Order(SessionSort.UNSEEN, F("unseen_runs"), read_count, descending=True),
}
_BY_OWN_ACTIVITY = Order("activity", F("updated_at"), read_time, descending=True)
_BY_TREE_ACTIVITY = Order("tree-activity", F("tree_active_at"), read_time, descending=True)


def session_page(
    *,
    project: Project,
    wanted: SessionFilter,
    default_model: str,
    limit: int,
    after: str | None = None,
    open_ids: Iterable[str] = (),
) -> SessionPage:
    """Return the page behind the cursor `after`; the number of queries does not depend on what is found."""
    order = order_of(wanted)
    cursor = None if after is None else read_cursor(after, order)
    matching = matching_sessions(project, wanted)
    # Keys from an index alone; the rest is read of the rows that are listed only.
    found = list(rows_behind(matching, order, cursor).values_list("order_key", "pk")[: limit + 1])
    listed = _rows_of([pk for _, pk in found[:limit]])
    shown = (cursor.shown if cursor else 0) + len(listed)
    if wanted.picks_sessions or wanted.roots_only:
        trees = session_trees.trees_around(listed, project=project, default_model=default_model)
    else:
        trees = session_trees.trees_of(listed, project=project, default_model=default_model, open_ids=open_ids)
    page = SessionPage(
        trees=trees,
        picked=wanted.picks_sessions,
        shown=shown,
        total=capped_count(matching) if cursor or len(found) > limit else CappedCount.of(len(found)),
        next_cursor=_cursor_behind(order, found[limit - 1], shown) if len(found) > limit else "",
        sessions=None if wanted.narrows or wanted.roots_only else capped_count(project.sessions.all()),
    )
    return _with_hits(page, project, read_query(wanted.words)) if wanted.words else page


def session_tree(*, project: Project, root_id: str, default_model: str, open_ids: Iterable[str]) -> Tree:
    """Return one tree of the list, open where `open_ids` says so, or raise NotFound."""
    roots = list(with_row_columns(Session.objects.filter(project=project, public_id=root_id).roots()))
    if not roots:
        raise NotFound("There is no such conversation at the root of a tree.")
    return session_trees.trees_of(roots, project=project, default_model=default_model, open_ids=open_ids)[0]


def _counted(count: CappedCount, noun: str) -> str:
    return f"{count} {noun}{'' if count.value == 1 else 's'}"


def _with_hits(page: SessionPage, project: Project, sought: Sought) -> SessionPage:
    """Show in the rows that were searched for where the words stand."""
    if not sought.terms:
        return page
    listed = [row.pk for tree in page.trees for row in tree.rows if isinstance(row, SessionRow) and row.sought]
    hits = search_hits(sought, project=project, session_pks=listed)
    trees = [replace(tree, rows=[_with_hit(row, hits, sought) for row in tree.rows]) for tree in page.trees]
    return replace(page, trees=trees, only_newest=not are_all_read(sought, project_pk=project.pk))


def _with_hit(row: SessionRow | MoreChildren, hits: Mapping[int, Hits], sought: Sought) -> SessionRow | MoreChildren:
    if not isinstance(row, SessionRow) or not row.sought:
        return row
    return replace(row, hits=hits.get(row.pk), name=tuple(marked(row.title or row.public_id, sought)))


def _cursor_behind(order: Order, last: tuple[Any, int], shown: int) -> str:
    key, pk = last
    return Cursor(order.name, key, pk, shown).to_text()


def _rows_of(pks: Sequence[int]) -> list[Session]:
    """Return the sessions with these keys in their order; without those that have been deleted just now."""
    rows = with_row_columns(Session.objects.filter(pk__in=pks)).in_bulk()
    return [rows[pk] for pk in pks if pk in rows]


def order_of(wanted: SessionFilter) -> Order:
    """Return the order in which the list shows what fits."""
    if wanted.sort is SessionSort.ACTIVITY:
        return _BY_OWN_ACTIVITY if wanted.picks_sessions else _BY_TREE_ACTIVITY
    return _ORDERS[wanted.sort]


@dataclass(frozen=True, slots=True)
class Sidebar:
    """The sidebar's counts: of each view, of sessions whose next prompt loses runs, leaves some unseen or cuts tool
    results, and of the tags and users seen most among the newest 10,000 sessions."""

    views: Mapping[SessionView, CappedCount]
    lost: CappedCount
    unseen: CappedCount
    cut: CappedCount
    tags: Sequence[tuple[str, int]]
    users: Sequence[tuple[str, int]]

    @property
    def at_least(self) -> bool:
        """Whether there are more sessions than were counted, so that tags and users may have more."""
        return self.views[SessionView.ALL].at_least


def sidebar(*, project: Project) -> Sidebar:
    """Return the sidebar's counts; what they cost is bounded, whatever the size of the project."""
    sessions = Session.objects.filter(project=project)
    newest = sessions.order_by("-updated_at", "-pk").values("pk")[:COUNTED_AT_MOST]
    tags = SessionTag.objects.filter(session__in=newest).values_list("name")
    users = Session.objects.filter(pk__in=newest).exclude(user_id="").values_list("user_id")
    return Sidebar(
        views={view: capped_count(in_view(sessions, project, view)) for view in SessionView},
        lost=capped_count(sessions.filter(has_lost_runs())),
        unseen=capped_count(sessions.filter(has_unseen_runs())),
        cut=capped_count(sessions.filter(has_cut_results())),
        tags=list(tags.annotate(count=Count("pk")).order_by("-count", "name")[:NAMES_SHOWN]),
        users=list(users.annotate(count=Count("pk")).order_by("-count", "user_id")[:NAMES_SHOWN]),
    )
