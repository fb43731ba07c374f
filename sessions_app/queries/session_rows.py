"""Sessions as rows of the tree table, each at a cost that does not depend on the session's length."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db.models import BooleanField, Case, DateTimeField, ExpressionWrapper, OuterRef, Q, Subquery, When
from django.db.models.functions import Now, Substr

from sessions_app.domain.memory_settings import EffectiveSettings, Strategy, settings_hash
from sessions_app.domain.plan import TokenParts
from sessions_app.domain.search_words import Piece
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.transcript import EventKind, Role
from sessions_app.models import Event, Project, Run, Session, SessionTag, Summary, SummaryOrigin, SummaryStatus
from sessions_app.models.sessions import SessionQuerySet
from sessions_app.queries.capped_counts import CappedCount, CountOf, capped
from sessions_app.queries.search_hits import Hits

OPENING_LENGTH = 160
LONG_WAIT = timedelta(minutes=2)


class SummaryState(StrEnum):
    """How a session's summary stands, in the words of its badge; `behind` is one that has waited for long."""

    OFF = "off"
    NONE = "none"
    FRESH = "fresh"
    ADOPTED = "adopted"
    EDITED = "edited"
    BEHIND = "behind"
    RESTING = "resting"
    WAITING = "waiting"
    RUNNING = "running"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class NextPrompt:
    """The stored figures of a session's next prompt; `stale` if anything that may alter them has changed since."""

    tokens: TokenParts
    budget: int
    reserve: int
    unseen: int
    lost: int
    cut: int
    position: int
    error: str
    stale: bool


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One row of the table; `sought` is false where it only leads to a row that was searched for.

    `place` is that among its `siblings`, whose number is None where counting has stopped. `only_forks`: all children
    that were counted are forks. `active_at` is the latest activity of what the row stands for: of the whole tree while
    a root is closed. `tokens` are those of all runs of its lineage.
    `opening` is the beginning of what the user said first, where there is no title to go by. `hits` are where the words
    that were searched for stand in its runs, `name` its title or else its id, with those marked.
    """

    pk: int
    parent_pk: int | None
    public_id: str
    title: str
    depth: int
    forked_at: int | None
    user_id: str
    run_count: int
    tokens: int
    newest_run_status: str
    next_prompt: NextPrompt | None
    summary: SummaryState
    covers_through: int
    strategy: Strategy
    own_settings: int
    created_at: datetime
    active_at: datetime
    child_count: CappedCount
    only_forks: bool
    opening: str = ""
    tags: Sequence[str] = ()
    expanded: bool = False
    hits: Hits | None = None
    name: Sequence[Piece] = ()
    sought: bool = True
    place: int | None = None
    siblings: int | None = None
    is_session: bool = field(default=True, init=False)


@dataclass(frozen=True, slots=True)
class MoreChildren:
    """The row that stands for the children of an open session beyond those that are shown."""

    parent_id: str
    depth: int
    count: CappedCount
    pk: int = 0
    is_session: bool = field(default=False, init=False)


def with_row_columns(sessions: SessionQuerySet) -> SessionQuerySet:
    """Add what a row shows of a session's newest run and newest summary, and leave its long texts behind."""
    newest_run = Run.objects.filter(session=OuterRef("pk"), position=OuterRef("last_position"))
    newest_summary = Summary.objects.filter(session=OuterRef("pk")).order_by("-number")
    said = Event.objects.filter(run__session=OuterRef("pk"), kind=EventKind.MESSAGE, role=Role.USER)
    opening = said.order_by("run__position", "index").values(words=Substr("text", 1, OPENING_LENGTH))
    return (
        sessions.annotate(
            newest_run_status=Subquery(newest_run.values("status")[:1]),
            newest_summary_status=Subquery(newest_summary.values("status")[:1]),
            waits_for_long=_waits_for_long(),
            opening=Case(When(title="", then=Subquery(opening[:1]))),
        )
        .select_related("summary")
        .defer("instructions", "metadata", "summary__text", "summary__facts")
    )


def _waits_for_long() -> ExpressionWrapper:
    """Whether a wish is so old that a worker should have come to it, by the clock of the database."""
    old = Q(summary_wanted_at__lt=ExpressionWrapper(Now() - LONG_WAIT, output_field=DateTimeField()))
    return ExpressionWrapper(old, output_field=BooleanField())


def session_rows(
    sessions: Iterable[Session], *, project: Project, default_model: str, unsought: frozenset[int] = frozenset()
) -> list[SessionRow]:
    """Return the rows of sessions read with `with_row_columns`, in their order; two further queries for all."""
    listed = list(sessions)
    tags = _tags_of(listed)
    children = _children_of(listed)
    return [
        _row(
            session, _effective(session, project, default_model), tags[session.pk], children, session.pk not in unsought
        )
        for session in listed
    ]


def _tags_of(sessions: Sequence[Session]) -> Mapping[int, list[str]]:
    tags: dict[int, list[str]] = defaultdict(list)
    for session_pk, name in SessionTag.objects.filter(session__in=sessions).values_list("session", "name"):
        tags[session_pk].append(name)
    return tags


def _children_of(sessions: Sequence[Session]) -> Mapping[int, tuple[int, int]]:
    """Return how many children each session has and how many of these are forks, as far as counting goes."""
    children = capped(Session.objects.filter(parent=OuterRef("pk")))
    counted = Session.objects.filter(pk__in=[session.pk for session in sessions])
    rows = counted.values_list("pk", CountOf(children, "id"), CountOf(children, "forked_at"))
    return {pk: (each, forks) for pk, each, forks in rows}


def _effective(session: Session, project: Project, default_model: str) -> EffectiveSettings:
    return resolve_settings(default_model=default_model, project=project.settings, session=session.settings, request={})


def _row(
    session: Any,
    effective: EffectiveSettings,
    tags: Sequence[str],
    children: Mapping[int, tuple[int, int]],
    sought: bool,  # noqa: FBT001
) -> SessionRow:
    child_count, fork_count = children.get(session.pk, (0, 0))  # none if it was deleted just now
    return SessionRow(
        pk=session.pk,
        parent_pk=session.parent_id,
        public_id=session.public_id,
        title=session.title,
        depth=session.depth,
        forked_at=session.forked_at,
        user_id=session.user_id,
        run_count=session.last_position,
        tokens=session.lineage_tokens,
        newest_run_status=session.newest_run_status or "",
        next_prompt=_next_prompt(session, settings_hash(effective.values)),
        summary=_summary_state(session, effective.values.strategy),
        covers_through=session.summary.covers_through if session.summary else 0,
        strategy=effective.values.strategy,
        own_settings=len(session.settings),
        created_at=session.created_at,
        active_at=session.updated_at,
        opening=session.opening or "",
        tags=tags,
        child_count=CappedCount.of(child_count),
        only_forks=fork_count == child_count,
        sought=sought,
    )


def _next_prompt(session: Session, current_hash: str) -> NextPrompt | None:
    snapshot = session.prompt_snapshot
    if snapshot is None:
        return None
    return NextPrompt(
        tokens=TokenParts(**snapshot.get("parts", {})),
        budget=snapshot.get("budget", 0),
        reserve=snapshot.get("reserve", 0),
        unseen=snapshot.get("unseen", 0),
        lost=snapshot.get("lost", 0),
        cut=snapshot.get("cut", 0),
        position=snapshot["position"],
        error=snapshot["error"] or "",
        stale=snapshot["settings"] != current_hash or _has_another_wish(session, snapshot),
    )


def _has_another_wish(session: Session, snapshot: Mapping[str, Any]) -> bool:
    """Whether a change has asked for other figures than these; one that they fulfil may wait for a summary still."""
    wish = session.summary_wanted_at
    return wish is not None and wish.isoformat() != snapshot.get("wish")


def _summary_state(session: Any, strategy: Strategy) -> SummaryState:
    if strategy is not Strategy.SUMMARY:
        return SummaryState.OFF
    if session.newest_summary_status in _UNFINISHED:
        return _UNFINISHED[session.newest_summary_status]
    # A failure that nobody tries again is over: somebody rolled back, or the settings want no summary any more.
    if session.next_attempt_at is not None:
        return SummaryState.FAILED
    if session.rests_since is not None:
        return SummaryState.RESTING
    if session.waits_for_long:
        return SummaryState.BEHIND
    return _SUMMARIES[session.summary.origin] if session.summary else SummaryState.NONE


_UNFINISHED = {SummaryStatus.PENDING: SummaryState.WAITING, SummaryStatus.RUNNING: SummaryState.RUNNING}
_SUMMARIES = {
    SummaryOrigin.SUMMARIZER: SummaryState.FRESH,
    SummaryOrigin.ADOPTED: SummaryState.ADOPTED,
    SummaryOrigin.EDITED: SummaryState.EDITED,
}
