"""Work in the background: Celery tasks that take ids, load, and call one service each; doors call `poke`."""

from datetime import datetime
from typing import Any

import structlog
from celery import Task, shared_task
from django.conf import settings
from django.utils import timezone

from sessions_app.models import Session
from sessions_app.services import idempotency, import_files, runs, snapshots, summaries

log = structlog.get_logger(__name__)


@shared_task
def summarize(session_pk: int) -> None:
    """Take every step of summarizing that is due in a session, then store what its next prompt looks like."""
    while summaries.advance(session_pk=session_pk, now=timezone.now()) is summaries.Outcome.ADVANCED:
        pass
    session = Session.objects.select_related("project").filter(pk=session_pk).first()
    if session is not None:
        snapshots.refresh_snapshot(session=session)


@shared_task
def summarize_project(project_pk: int, after: int = 0) -> None:
    """Do the same for all sessions of a project, chunk by chunk, after its settings have changed."""
    chunk = snapshots.sessions_after(project_pk=project_pk, after=after)
    for session_pk in chunk:
        summarize(session_pk)
    if chunk:
        _publish(summarize_project, project_pk, chunk[-1])


@shared_task
def run_import(import_pk: int) -> None:
    """Bring the conversations of an uploaded file in, from where the last worker came to."""
    import_files.work_through(import_pk=import_pk, now=timezone.now())
    poke_all()


@shared_task
def sweep() -> None:
    """Find work that was lost, on every broker: the rows know what is to be done, a task only hurries it."""
    for chore in (_close_interrupted_runs, _forget_old_answers, _poke_waiting_sessions, _poke_waiting_imports):
        try:
            chore(timezone.now())
        except Exception:
            log.exception("sweep_failed", chore=chore.__name__)


def _close_interrupted_runs(now: datetime) -> None:
    runs.close_interrupted_runs(now=now)


def _forget_old_answers(now: datetime) -> None:
    idempotency.forget_old_answers(now=now)


def _poke_waiting_sessions(now: datetime) -> None:
    for session_pk in summaries.due_sessions(now=now):
        _publish(summarize, session_pk, expires=settings.CONVOWEB_SWEEP_INTERVAL)


def _poke_waiting_imports(now: datetime) -> None:  # noqa: ARG001 (leases are told by the database's clock)
    for import_pk in import_files.waiting_imports():
        _publish(run_import, import_pk, expires=settings.CONVOWEB_SWEEP_INTERVAL)


def poke(session_pk: int) -> None:
    """Hurry the work that an append, an import or changed settings made due in a session; never raises."""
    _publish(summarize, session_pk)


def poke_import(import_pk: int) -> None:
    """Hurry an import that was begun; never raises."""
    _publish(run_import, import_pk)


def poke_all() -> None:
    """Hurry all work that is due, after an import has made it so in many sessions; never raises."""
    _publish(sweep)


def poke_project(project_pk: int) -> None:
    """Hurry the same in all sessions of a project whose settings were changed; never raises."""
    _publish(summarize_project, project_pk)


def _publish(task: Task, *ids: int, **options: Any) -> None:
    try:
        task.apply_async(ids, retry=False, **options)
    except Exception as error:  # noqa: BLE001 (any broker's error; the sweeper does the work later)
        log.warning("publish_failed", task=task.name, ids=ids, error=repr(error))
