"""Work in the background: Celery tasks that take ids, load, and call one service each."""

from datetime import datetime

import structlog
from celery import shared_task
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone

from sessions_app import clients
from sessions_app.clients import Work
from sessions_app.models import Session
from sessions_app.services import (
    idempotency,
    import_files,
    purges,
    runs,
    search_purge,
    snapshots,
    summaries,
    summarizer_answers,
)
from sessions_app.services.summaries import Outcome

log = structlog.get_logger(__name__)


@shared_task(name=Work.SUMMARIZE.value)
def summarize(session_pk: int) -> None:
    """Take every step of summarizing that is due in a session; where that has to wait, store the next prompt's figures.

    Where nothing is due any more, the last step has stored them.
    """
    outcome = Outcome.ADVANCED
    try:
        while outcome is Outcome.ADVANCED:
            outcome = summaries.advance(session_pk=session_pk, now=timezone.now())
        if outcome in (Outcome.FAILED, Outcome.BACKING_OFF):
            for session in Session.objects.select_related("project").filter(pk=session_pk):
                snapshots.refresh_snapshot(session=session)
    except ObjectDoesNotExist as gone:
        # It, or what was to be read of it. If only a parent went, what is wished for stays in the row, and the sweeper
        # finds it.
        log.info("deleted_while_summarizing", session_pk=session_pk, reason=str(gone))


@shared_task(name=Work.RUN_IMPORT.value)
def run_import(import_pk: int) -> None:
    """Bring the conversations of an uploaded file in, from where the last worker came to."""
    import_files.work_through(import_pk=import_pk, now=timezone.now())


@shared_task(name=Work.PURGE.value)
def purge(project_pk: int) -> None:
    """Remove what is in a deleted project, from where the last worker came to."""
    purges.work_through(project_pk=project_pk)


@shared_task(name=Work.SWEEP.value)
def sweep() -> None:
    """Find work that was lost, on every broker: the rows know what is to be done, a task only hurries it."""
    for chore in (
        _close_interrupted_runs,
        _forget_old_answers,
        _hurry_waiting_sessions,
        _hurry_waiting_imports,
        _hurry_waiting_purges,
        _purge_search_index,
    ):
        try:
            chore(timezone.now())
        except Exception:
            log.exception("sweep_failed", chore=chore.__name__)


def _close_interrupted_runs(now: datetime) -> None:
    runs.close_interrupted_runs(now=now)


def _forget_old_answers(now: datetime) -> None:
    idempotency.forget_old_answers(now=now)
    summarizer_answers.forget_old_answers(now=now)


def _hurry_waiting_sessions(now: datetime) -> None:
    for session_pk in summaries.due_sessions(now=now):
        clients.publish(Work.SUMMARIZE, session_pk, expires=settings.CONVOWEB_SWEEP_INTERVAL)


def _hurry_waiting_imports(now: datetime) -> None:  # noqa: ARG001 (leases are told by the database's clock)
    for import_pk in import_files.waiting_imports():
        clients.publish(Work.RUN_IMPORT, import_pk, expires=settings.CONVOWEB_SWEEP_INTERVAL)


def _hurry_waiting_purges(now: datetime) -> None:  # noqa: ARG001 (leases are told by the database's clock)
    for project_pk in purges.waiting_purges():
        clients.publish(Work.PURGE, project_pk, expires=settings.CONVOWEB_SWEEP_INTERVAL)


def _purge_search_index(now: datetime) -> None:  # noqa: ARG001 (as the other chores)
    search_purge.purge_search_index()
