"""Which sessions the list shows: what its filters pick."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.db.models import Q

from sessions_app.domain.search_words import read_query
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Project, Run
from sessions_app.models.search_index import sessions_with
from sessions_app.models.sessions import SessionQuerySet
from sessions_app.queries.session_conditions import (
    has_children,
    has_cut_results,
    has_lost_runs,
    has_own_settings,
    has_unseen_runs,
    is_child_of,
    newest_run_is,
    sessions_of,
)


class SessionSort(StrEnum):
    """The orders of the list."""

    ACTIVITY = "activity"
    CREATED = "created"
    RUNS = "runs"
    TOKENS = "tokens"
    TITLE = "title"
    UNSEEN = "unseen"


class SessionView(StrEnum):
    """The ready-made filters of the sidebar."""

    ALL = "all"
    RUNNING = "running"
    FORKS = "forks"


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions to list; `since` and `until` (exclusive) bound the last activity.

    `status` and `model` are those of the newest run; `lost`, `unseen` and `cut`: the next prompt loses runs, leaves
    runs out that the model cannot see, or cuts tool results.
    """

    words: str = ""
    user_id: str = ""
    tag: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    status: RunStatus | None = None
    model: str = ""
    children: bool = False
    lost: bool = False
    unseen: bool = False
    cut: bool = False
    own_settings: bool = False
    parent_id: str = ""
    view: SessionView = SessionView.ALL
    since: datetime | None = None
    until: datetime | None = None
    roots_only: bool = False
    sort: SessionSort = SessionSort.ACTIVITY

    @property
    def picks_sessions(self) -> bool:
        """Whether single sessions are looked for, wherever in a tree they stand; else whole trees are listed."""
        named = self.words or self.user_id or self.tag or self.parent_id or self.view is not SessionView.ALL
        return bool(named or self.has_conditions)

    @property
    def narrows(self) -> bool:
        """Whether anything at all is left out."""
        return self.picks_sessions or self.since is not None or self.until is not None

    @property
    def has_conditions(self) -> bool:
        """Whether single sessions have to fulfil anything besides what they are called."""
        flags = (self.children, self.lost, self.unseen, self.cut, self.own_settings)
        return bool(self.metadata or self.status or self.model or any(flags))

    def conditions(self, project: Project) -> Iterator[Q]:
        """Yield what single sessions have to fulfil besides what they are called."""
        if self.status or self.model:
            yield newest_run_is(project=project, status=self.status, model=self.model)
        flags = (
            (self.children, has_children),
            (self.lost, has_lost_runs),
            (self.unseen, has_unseen_runs),
            (self.cut, has_cut_results),
            (self.own_settings, has_own_settings),
        )
        yield from (condition() for is_wanted, condition in flags if is_wanted)


def matching_sessions(project: Project, wanted: SessionFilter) -> SessionQuerySet:
    """Return the sessions that fit, unordered: whole trees by their roots, or single sessions."""
    named = bool(wanted.words) or wanted.view is SessionView.RUNNING
    sessions = sessions_of(project, metadata=wanted.metadata, named=named)
    if wanted.words:
        sessions &= sessions_with(read_query(wanted.words), project_pk=project.pk)
    if wanted.roots_only or not wanted.picks_sessions:
        sessions = sessions.roots()
    exact = {"user_id": wanted.user_id, "tags__name": wanted.tag}
    sessions = sessions.filter(**{name: value for name, value in exact.items() if value})
    if wanted.parent_id:
        sessions = sessions.filter(is_child_of(wanted.parent_id, project=project))
    for condition in wanted.conditions(project):
        sessions = sessions.filter(condition)
    return _active_between(in_view(sessions, project, wanted.view), wanted)


def in_view(sessions: SessionQuerySet, project: Project, view: SessionView) -> SessionQuerySet:
    """Return those of a project's sessions that a view shows."""
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
