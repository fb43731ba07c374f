"""The Celery application; its settings are the CELERY_ names of convoweb.settings."""

import logging.config
import os
import sqlite3
import threading
import warnings
from pathlib import Path
from typing import Any

import click
import structlog
from celery import Celery, bootsteps
from celery.exceptions import SecurityWarning
from celery.signals import setup_logging, worker_init
from django.conf import settings
from django_structlog.celery.steps import DjangoStructLogInitStep
from kombu.exceptions import OperationalError

from convoweb import broker, lifeline
from sessions_app.clients import Work

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convoweb.settings")

log = structlog.get_logger(__name__)

# A child that is forked while the sweeper's thread holds one of the broker's locks would wait for that for ever.
_forking = threading.Lock()
os.register_at_fork(before=_forking.acquire, after_in_parent=_forking.release, after_in_child=_forking.release)


class Sweeper(bootsteps.StartStopStep):
    """Asks for a sweep when a worker starts and again at each interval.

    Every worker does so, since sweeping twice does no harm; there is no scheduler that could be missing.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._stopping = threading.Event()

    def start(self, parent: Any) -> None:  # noqa: ARG002
        """Begin to ask."""
        # A thread and not the worker's timer, which lets a stopping worker wait for its next tick.
        threading.Thread(target=self._ask, name="sweeper", daemon=True).start()

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """Ask no more."""
        self._stopping.set()

    def _ask(self) -> None:
        while not self._stopping.is_set():
            with _forking:
                ask_for_sweep()
            self._stopping.wait(settings.CONVOWEB_SWEEP_INTERVAL)


class LeaseRelease(bootsteps.Step):
    """With `--only-worker`, takes over at once what an earlier worker held when it was killed."""

    def __init__(self, parent: Any, *, only_worker: bool = False, **options: Any) -> None:
        super().__init__(parent, **options)
        self.enabled = only_worker

    def create(self, parent: Any) -> None:
        """Release the leases before the first message is taken."""
        connection = parent.app.connection_for_read()
        if connection.transport_cls == broker.SCHEME:
            broker.release_leases(Path(connection.virtual_host))


def ask_for_sweep() -> None:
    """Queue one sweep, which is void if no worker takes it before the next; where that fails, the next one will do."""
    try:
        app.send_task(Work.SWEEP.value, expires=settings.CONVOWEB_SWEEP_INTERVAL)
    except (OperationalError, sqlite3.DatabaseError) as error:
        log.warning("sweep_not_queued", error=repr(error))


@setup_logging.connect
def configure_logging(**_kwargs: Any) -> None:
    """Log like the web server, into the same stream."""
    logging.config.dictConfig(settings.LOGGING)


@worker_init.connect
def prepare_worker(sender: Any, **_kwargs: Any) -> None:
    """End with `manage.py up`; and wait, unlike a publisher, as long as it takes for an answer of the broker."""
    lifeline.follow_parent()
    options = sender.app.conf.broker_transport_options
    sender.app.conf.broker_transport_options = {k: v for k, v in options.items() if k != "socket_timeout"}


# Celery warns root of messages that run code; ours are JSON and nothing else is accepted.
warnings.filterwarnings("ignore", category=SecurityWarning)

broker.register()
app = Celery("convoweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].update({DjangoStructLogInitStep, Sweeper, LeaseRelease})
app.user_options["worker"].add(
    click.Option(["--only-worker"], is_flag=True, help="No other worker uses the embedded broker.")
)
