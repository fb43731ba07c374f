"""What sessions are picked by, on the page and over the API alike."""

import json

from django.db import connection, models
from django.db.models import Exists, OuterRef, Q
from django.db.models.expressions import RawSQL

from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Run, Session
from sessions_app.models.fields import Constant

_LARGEST_NUMBER = 2**63
# Unlike Django's lookups, this finds names of digits and names with quotes, and tells 1 from true.
_SQLITE_ENTRY = f"""EXISTS (
    SELECT 1 FROM JSON_EACH("{Session._meta.db_table}"."metadata") WHERE key = %s AND value = %s AND type IN (%s, %s)
)"""  # noqa: S608, SLF001 (the table's name)


def newest_run_is(*, status: RunStatus | None = None, model: str = "") -> Q:
    """Return the condition of sessions whose newest own run is in a state, by a model, or both."""
    newest = Run.objects.filter(session=OuterRef("pk"), position=OuterRef("last_position"))
    wanted = {"status": status, "model": model}
    return Q(Exists(newest.filter(**{name: value for name, value in wanted.items() if value})))


def has_children() -> Q:
    """Return the condition of sessions with children or forks."""
    return Q(Exists(Session.objects.filter(parent=OuterRef("pk"))))


def has_lost_runs() -> Q:
    """Return the condition of sessions whose next prompt loses runs, as an index has it."""
    return Q(lost_runs__gt=Constant(0))


def has_unseen_runs() -> Q:
    """Return the condition of sessions with runs that the model cannot see in the next prompt, as an index has it."""
    return Q(unseen_runs__gt=Constant(0))


def has_own_settings() -> Q:
    """Return the condition of sessions with memory settings of their own."""
    return ~Q(settings={})


def has_metadata(name: str, text: str) -> Q:
    """Return the condition of sessions whose metadata have a text, number or flag of that name, written like `text`."""
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
