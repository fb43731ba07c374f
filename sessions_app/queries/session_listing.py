"""The plain list of sessions that bots page through."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection, models
from django.db.models import F, Q
from django.db.models.expressions import RawSQL

from sessions_app.domain.search_words import read_query
from sessions_app.models import Project, Session
from sessions_app.models.search_index import sessions_with
from sessions_app.models.sessions import SessionQuerySet
from sessions_app.queries.keyset import Order, read_text, read_time

# Behind the last character that an id may have.
_AFTER_IDS = "\x7f"
_LARGEST_NUMBER = 2**63
# Unlike Django's lookups, this finds names of digits and names with quotes, and tells 1 from true.
_SQLITE_ENTRY = f"""EXISTS (
    SELECT 1 FROM JSON_EACH("{Session._meta.db_table}"."metadata") WHERE key = %s AND value = %s AND type IN (%s, %s)
)"""  # noqa: S608, SLF001 (the table's name)

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
    """Which sessions to list; `since` and `until` (exclusive) bound the last change, all tags are asked for."""

    prefix: str = ""
    words: str = ""
    user_id: str = ""
    parent_id: str = ""
    roots: bool = False
    tags: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None


def listed_sessions(*, project: Project, wanted: Wanted) -> SessionQuerySet:
    """Return the sessions that fit, unordered, with what their answers show."""
    rows = Session.objects.filter(project=project)
    if wanted.words:
        rows = sessions_with(read_query(wanted.words), project_pk=project.pk)
    if wanted.roots:
        rows = rows.roots()
    if wanted.prefix:
        rows = rows.filter(public_id__gte=wanted.prefix, public_id__lt=wanted.prefix + _AFTER_IDS)
    for tag in wanted.tags:
        rows = rows.filter(tags__name=tag)
    for name, text in wanted.metadata.items():
        rows = rows.filter(_has_metadata(name, text))
    exact = {
        "user_id": wanted.user_id,
        "parent__public_id": wanted.parent_id,
        "updated_at__gte": wanted.since,
        "updated_at__lt": wanted.until,
    }
    return with_answer_columns(rows.filter(**{name: value for name, value in exact.items() if value}))


def with_answer_columns(rows: SessionQuerySet) -> SessionQuerySet:
    """Fetch what an answer shows of each session in a constant number of queries."""
    return rows.select_related("parent", "summary").defer(*_UNSEEN).prefetch_related("tags")


def _has_metadata(name: str, text: str) -> Q:
    """Sessions whose metadata have a text, number or flag under this name that is written like `text`."""
    condition = Q()
    for value in _readings(text):
        condition |= _metadata_is(name, value)
    return condition


def _readings(text: str) -> list[str | float | bool]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    plain = isinstance(value, int | float) and abs(value) < _LARGEST_NUMBER
    return [text, value] if plain else [text]


def _metadata_is(name: str, value: str | float | bool) -> Q:  # noqa: FBT001 (a value like the others)
    if connection.vendor == "postgresql":
        return Q(metadata__contains={name: value})
    return Q(RawSQL(_SQLITE_ENTRY, (name, value, *_sqlite_types(value)), models.BooleanField()))  # noqa: S611 (constant)


def _sqlite_types(value: str | float | bool) -> tuple[str, str]:  # noqa: FBT001 (a value like the others)
    if isinstance(value, bool):
        return ("true", "true") if value else ("false", "false")
    return ("text", "text") if isinstance(value, str) else ("integer", "real")
