"""The plain list of sessions that bots page through."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import F, Q

from sessions_app.domain.search_words import read_query
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Project
from sessions_app.models.search_index import sessions_with
from sessions_app.models.sessions import SessionQuerySet
from sessions_app.queries.keyset import Order, read_text, read_time
from sessions_app.queries.session_conditions import (
    has_children,
    has_cut_results,
    has_lost_runs,
    has_own_settings,
    is_child_of,
    newest_run_is,
    sessions_of,
)

# Behind the last character that an id may have.
_AFTER_IDS = "\x7f"

# Long texts of others than the sessions themselves.
_UNSEEN = (
    "parent__instructions",
    "parent__metadata",
    "parent__settings",
    "parent__prompt_snapshot",
    "summary__text",
    "summary__facts",
)

ORDERS: Mapping[str, Order] = {
    order.name: order
    for order in (
        Order("-updated_at", F("updated_at"), read_time, descending=True),
        Order("updated_at", F("updated_at"), read_time),
        Order("-created_at", F("created_at"), read_time, descending=True),
        Order("created_at", F("created_at"), read_time),
        Order("id", F("public_id"), read_text),
        Order("-id", F("public_id"), read_text, descending=True),
    )
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sessions to list; `since` and `until` (exclusive) bound the last change, all tags are asked for.

    `status` and `model` are those of the newest run.
    """

    prefix: str = ""
    words: str = ""
    user_id: str = ""
    parent_id: str = ""
    roots: bool = False
    tags: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    status: RunStatus | None = None
    model: str = ""
    children: bool = False
    lost: bool = False
    cut: bool = False
    own_settings: bool = False


def listed_sessions(*, project: Project, wanted: Wanted) -> SessionQuerySet:
    """Return the sessions that fit, unordered, with what their answers show."""
    rows = sessions_of(project, metadata=wanted.metadata, named=bool(wanted.words))
    if wanted.words:
        rows &= sessions_with(read_query(wanted.words), project_pk=project.pk)
    if wanted.roots:
        rows = rows.roots()
    if wanted.prefix:
        rows = rows.filter(public_id__gte=wanted.prefix, public_id__lt=wanted.prefix + _AFTER_IDS)
    for tag in wanted.tags:
        rows = rows.filter(tags__name=tag)
    for condition in _conditions(project, wanted):
        rows = rows.filter(condition)
    exact = {
        "user_id": wanted.user_id,
        "updated_at__gte": wanted.since,
        "updated_at__lt": wanted.until,
    }
    return with_answer_columns(rows.filter(**{name: value for name, value in exact.items() if value}))


def _conditions(project: Project, wanted: Wanted) -> Iterator[Q]:
    if wanted.status or wanted.model:
        yield newest_run_is(project=project, status=wanted.status, model=wanted.model)
    if wanted.parent_id:
        yield is_child_of(wanted.parent_id, project=project)
    if wanted.children:
        yield has_children()
    if wanted.lost:
        yield has_lost_runs()
    if wanted.cut:
        yield has_cut_results()
    if wanted.own_settings:
        yield has_own_settings()


def with_answer_columns(rows: SessionQuerySet) -> SessionQuerySet:
    """Fetch what an answer shows of each session in a constant number of queries."""
    return rows.select_related("parent", "summary").defer(*_UNSEEN).prefetch_related("tags")
