"""What the list of sessions shows: whole trees, or the single sessions that filters pick out of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import Count, F
from django.db.models.functions import Lower

from sessions_app.domain.errors import NotFound
from sessions_app.models import Project, Run, Session, SessionTag
from sessions_app.models.sessions import SessionQuerySet
from sessions_app.queries import session_trees
from sessions_app.queries.capped_counts import COUNTED_AT_MOST, CappedCount, capped_count
from sessions_app.queries.keyset import Cursor, Order, read_count, read_cursor, read_text, read_time, rows_behind
from sessions_app.queries.session_rows import with_row_columns
from sessions_app.queries.session_trees import Tree

NAMES_SHOWN = 8


class SessionSort(StrEnum):
    """The orders of the list."""

    ACTIVITY = "activity"
    CREATED = "created"
    RUNS = "runs"
    TITLE = "title"


class SessionView(StrEnum):
    """The ready-made filters of the sidebar."""

    ALL = "all"
    RUNNING = "running"
    FORKS = "forks"


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions to list; `since` and `until` (exclusive) bound the last activity."""

    words: str = ""
    user_id: str = ""
    tag: str = ""
    parent_id: str = ""
    view: SessionView = SessionView.ALL
    since: datetime | None = None
    until: datetime | None = None
    roots_only: bool = False
    sort: SessionSort = SessionSort.ACTIVITY

    @property
    def picks_sessions(self) -> bool:
        """Whether single sessions are looked for, wherever in a tree they stand; else whole trees are listed."""
        return bool(self.words or self.user_id or self.tag or self.parent_id or self.view is not SessionView.ALL)

    @property
    def narrows(self) -> bool:
        """Whether anything at all is left out."""
        return self.picks_sessions or self.since is not None or self.until is not None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of the list: trees in order, how many of how many are shown, and the cursor to the next page.

    Whole trees are counted, or if `picked` the sessions that were looked for, without those that lead to them.
    """

    trees: Sequence[Tree]
    picked: bool
    shown: int
    total: CappedCount
    next_cursor: str

    @property
    def caption(self) -> str:
        """How much of the list is on the page, in words."""
        noun = "matching session" if self.picked else "tree"
        return f"{self.shown:,} of {self.total} {noun}{'' if self.total.value == 1 else 's'} shown"


_ORDERS: Mapping[SessionSort, Order] = {
    SessionSort.CREATED: Order(SessionSort.CREATED, F("created_at"), read_time, descending=True),
    SessionSort.RUNS: Order(SessionSort.RUNS, F("last_position"), read_count, descending=True),
    SessionSort.TITLE: Order(SessionSort.TITLE, Lower("title"), read_text),
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
    order = _order(wanted)
    cursor = None if after is None else read_cursor(after, order)
    matching = _matching(project, wanted)
    # Keys from an index alone; the rest is read of the rows that are listed only.
    found = list(rows_behind(matching, order, cursor).values_list("order_key", "pk")[: limit + 1])
    listed = _rows_of([pk for _, pk in found[:limit]])
    shown = (cursor.shown if cursor else 0) + len(listed)
    if wanted.picks_sessions or wanted.roots_only:
        trees = session_trees.trees_around(listed, project=project, default_model=default_model)
    else:
        trees = session_trees.trees_of(listed, project=project, default_model=default_model, open_ids=open_ids)
    return SessionPage(
        trees=trees,
        picked=wanted.picks_sessions,
        shown=shown,
        total=capped_count(matching) if cursor or len(found) > limit else CappedCount.of(len(found)),
        next_cursor=_cursor_behind(order, found[limit - 1], shown) if len(found) > limit else "",
    )


def session_tree(*, project: Project, root_id: str, default_model: str, open_ids: Iterable[str]) -> Tree:
    """Return one tree of the list, open where `open_ids` says so, or raise NotFound."""
    roots = list(with_row_columns(Session.objects.filter(project=project, public_id=root_id).roots()))
    if not roots:
        raise NotFound("There is no such conversation at the root of a tree.")
    return session_trees.trees_of(roots, project=project, default_model=default_model, open_ids=open_ids)[0]


def _cursor_behind(order: Order, last: tuple[Any, int], shown: int) -> str:
    key, pk = last
    return Cursor(order.name, key, pk, shown).to_text()


def _rows_of(pks: Sequence[int]) -> list[Session]:
    """Return the sessions with these keys in their order; without those that have been deleted just now."""
    rows = with_row_columns(Session.objects.filter(pk__in=pks)).in_bulk()
    return [rows[pk] for pk in pks if pk in rows]


def _order(wanted: SessionFilter) -> Order:
    if wanted.sort is SessionSort.ACTIVITY:
        return _BY_OWN_ACTIVITY if wanted.picks_sessions else _BY_TREE_ACTIVITY
    return _ORDERS[wanted.sort]


def _matching(project: Project, wanted: SessionFilter) -> SessionQuerySet:
    sessions = Session.objects.filter(project=project)
    if wanted.roots_only or not wanted.picks_sessions:
        sessions = sessions.roots()
    if wanted.words:
        sessions = sessions.matching(wanted.words)
    exact = {"user_id": wanted.user_id, "tags__name": wanted.tag, "parent__public_id": wanted.parent_id}
    sessions = sessions.filter(**{name: value for name, value in exact.items() if value})
    return _active_between(_in_view(sessions, project, wanted.view), wanted)


def _in_view(sessions: SessionQuerySet, project: Project, view: SessionView) -> SessionQuerySet:
    match view:
        case SessionView.FORKS:
            return sessions.exclude(forked_at=None)
        case SessionView.RUNNING:
            return sessions.filter(pk__in=Run.objects.unfinished().filter(project=project).values("session"))
        case SessionView.ALL:
            return sessions


def _active_between(sessions: SessionQuerySet, wanted: SessionFilter) -> SessionQuerySet:
    column = "updated_at" if wanted.picks_sessions else "tree_active_at"
    if wanted.since is not None:
        sessions = sessions.filter(**{f"{column}__gte": wanted.since})
    if wanted.until is not None:
        sessions = sessions.filter(**{f"{column}__lt": wanted.until})
    return sessions


@dataclass(frozen=True, slots=True)
class Sidebar:
    """The sidebar's counts: of each view, and of the tags and users seen most among the newest 10,000 sessions."""

    views: Mapping[SessionView, CappedCount]
    tags: Sequence[tuple[str, int]]
    users: Sequence[tuple[str, int]]

    @property
    def at_least(self) -> bool:
        """Whether there are more sessions than were counted, so that tags and users may have more."""
        return self.views[SessionView.ALL].at_least


def newest_arrival(*, project: Project, since: datetime) -> Session | None:
    """Return the session that last got a run after `since`, if there is one."""
    sessions = Session.objects.filter(project=project, updated_at__gt=since, last_position__gt=0)
    return sessions.order_by("-updated_at", "-pk").first()


def sidebar(*, project: Project) -> Sidebar:
    """Return the sidebar's counts; what they cost is bounded, whatever the size of the project."""
    sessions = Session.objects.filter(project=project)
    newest = sessions.order_by("-updated_at", "-pk").values("pk")[:COUNTED_AT_MOST]
    tags = SessionTag.objects.filter(session__in=newest).values_list("name")
    users = Session.objects.filter(pk__in=newest).exclude(user_id="").values_list("user_id")
    return Sidebar(
        views={view: capped_count(_in_view(sessions, project, view)) for view in SessionView},
        tags=list(tags.annotate(count=Count("pk")).order_by("-count", "name")[:NAMES_SHOWN]),
        users=list(users.annotate(count=Count("pk")).order_by("-count", "user_id")[:NAMES_SHOWN]),
    )
