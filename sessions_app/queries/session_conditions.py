"""What sessions are picked by, on the page and over the API alike."""

import json

from django.db import connection, models
from django.db.models import Exists, F, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL

from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Project, Run, Session
from sessions_app.models.fields import Constant

_LARGEST_NUMBER = 2**63
# Unlike Django's lookups, this finds names of digits and names with quotes, and tells 1 from true.
_SQLITE_ENTRY = f"""EXISTS (
    SELECT 1 FROM JSON_EACH("{Session._meta.db_table}"."metadata") WHERE key = %s AND value = %s AND type IN (%s, %s)
)"""  # noqa: S608, SLF001 (the table's name)


def newest_run_is(*, project: Project, status: RunStatus | None = None, model: str = "") -> Q:
    """Return the condition of a project's sessions whose newest own run is in a state, by a model, or both.

    Most runs have completed, so that for another state those are gone through that have not, by an index over them.
    """
    wanted = {name: value for name, value in (("status", status), ("model", model)) if value}
    if status in (None, RunStatus.COMPLETED):
        newest = Run.objects.filter(session=OuterRef("pk"), position=OuterRef("last_position"))
        return Q(Exists(newest.filter(**wanted)))
    unusual = Run.objects.uncompleted().filter(project=project, position=F("session__last_position"), **wanted)
    return Q(pk__in=unusual.values("session"))


def is_child_of(parent_id: str, *, project: Project) -> Q:
    """Return the condition of the children of a project's session, found by its key whatever the order of the list."""
    parent = Session.objects.filter(project=project, public_id=parent_id)
    children = Session.objects.filter(parent=Subquery(parent.values("pk")[:1]))
    return Q(pk__in=children.values("pk"))


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
