"""The broker that hands work to the workers."""

from enum import StrEnum
from typing import Any

import structlog
from celery import current_app

log = structlog.get_logger(__name__)


class Work(StrEnum):
    """The names of the tasks that are asked for from anywhere."""

    SUMMARIZE = "sessions_app.tasks.summarize"
    RUN_IMPORT = "sessions_app.tasks.run_import"
    PURGE = "sessions_app.tasks.purge"
    SWEEP = "sessions_app.tasks.sweep"


def publish(work: Work, *ids: int, **options: Any) -> None:
    """Hurry work that stands in the rows; takes a second at most and never raises, since a sweeper finds it anyway."""
    try:
        current_app.send_task(work.value, ids, retry=False, **options)
    except Exception as error:  # noqa: BLE001 (any broker's error)
        log.warning("publish_failed", task=work.value, ids=ids, error=repr(error))
