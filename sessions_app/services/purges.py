"""Removing what is in projects that are deleted: some rows a transaction, resumed after a crash.

Nobody sees these any more. How far it came stands in the rows: what is still there, and a lease of the worker at it.
"""

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db import DatabaseError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, Q, QuerySet
from django.db.models.functions import Now

from sessions_app.clients import Work
from sessions_app.models import IdempotentAnswer, ImportedConversation, Project, Run, Session
from sessions_app.models.search_remains import remember_remains
from sessions_app.services.session_deletion import RUNS_AT_ONCE, SESSIONS_AT_ONCE, erase, erase_runs
from sessions_app.services.wishes import hurry

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
ROWS_AT_ONCE = 1_000
# So many a request takes by itself.
STEPS_AT_ONCE = 5


def waiting_purges() -> list[int]:
    """Return the keys of deleted projects that nobody is removing."""
    return list(_free().values_list("pk", flat=True))


def begin_purge(*, project_pk: int) -> None:
    """Remove what a few steps remove, so that what is small is gone at once; a worker does the rest.

    It is deleted already: whoever asked for that is not told of a database that was too busy to remove it at once.
    """
    if not _take(project_pk):
        return
    try:
        if all(_step(project_pk) for _ in range(STEPS_AT_ONCE)):
            Project.doomed.filter(pk=project_pk).update(lease_until=None)
            hurry(Work.PURGE, project_pk)
    except DatabaseError:
        # The sweeper finds it when the lease is over.
        log.exception("a deleted project is removed later")


def work_through(*, project_pk: int) -> None:
    """Remove a deleted project and all that is left in it; returns at once if another worker is at it."""
    if not _take(project_pk):
        return
    while _step(project_pk):
        Project.doomed.filter(pk=project_pk).update(lease_until=_lease())


def _take(project_pk: int) -> bool:
    return bool(_free().filter(pk=project_pk).update(lease_until=_lease()))


def _step(project_pk: int) -> bool:
    """Remove some of what is left; return whether there may be more."""
    with transaction.atomic():
        sessions = _deepest(project_pk)
        if sessions:
            _remove(sessions)
            return True
        # Only now, since whoever writes under a root asks for the project last.
        project = Project.doomed.select_for_update().filter(pk=project_pk).first()
        if project is None:
            return False
        if Session.objects.filter(project=project).exists() or _are_removed(project):
            return True
        project.delete()
    return False


def _deepest(project_pk: int) -> list[int]:
    """Return the keys of sessions under which nothing stands but others of them, with their trees locked."""
    roots = Session.objects.filter(project=project_pk, parent=None).order_by("pk").select_for_update()
    keys = list(roots.values_list("pk", flat=True)[:SESSIONS_AT_ONCE])
    below = Session.objects.filter(root__in=keys).order_by("-depth", "-pk")
    return list(below.values_list("pk", flat=True)[:SESSIONS_AT_ONCE])


def _remove(sessions: Sequence[int]) -> None:
    """Remove the sessions, or if that is too much, some of their runs."""
    runs = list(Run.objects.filter(session__in=sessions).values_list("pk", flat=True)[: RUNS_AT_ONCE + 1])
    if len(runs) <= RUNS_AT_ONCE:
        erase(sessions)
        return
    remember_remains()
    erase_runs(runs[:RUNS_AT_ONCE])


def _are_removed(project: Project) -> bool:
    """Remove some of what there may be very many of besides; return whether there was any."""
    for rows in (
        IdempotentAnswer.objects.filter(api_key__project=project),
        ImportedConversation.objects.filter(source_import__project=project),
    ):
        keys = list(rows.values_list("pk", flat=True)[:ROWS_AT_ONCE])
        if keys:
            rows.model.objects.filter(pk__in=keys).delete()
            return True
    return False


def _free() -> QuerySet[Project]:
    return Project.doomed.filter(Q(lease_until=None) | Q(lease_until__lt=Now()))


def _lease() -> ExpressionWrapper:
    return ExpressionWrapper(Now() + LEASE, output_field=DateTimeField())
