"""The Celery application; its settings are the CELERY_ names of convoweb.settings."""

import logging.config
import os
from typing import Any

from celery import Celery, bootsteps
from celery.signals import setup_logging, worker_init
from django.conf import settings
from django_structlog.celery.steps import DjangoStructLogInitStep

from convoweb import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convoweb.settings")

SWEEP = "sessions_app.tasks.sweep"


class Sweeper(bootsteps.StartStopStep):
    """Asks for a sweep when a worker starts and again at each interval.

    Every worker does so, since sweeping twice does no harm; there is no scheduler that could be missing.
    """

    requires = ("celery.worker.components:Timer",)

    def start(self, parent: Any) -> None:
        """Begin to ask."""
        parent.timer.call_after(1, ask_for_sweep)
        self._entry = parent.timer.call_repeatedly(settings.CONVOWEB_SWEEP_INTERVAL, ask_for_sweep)

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """Ask no more."""
        self._entry.cancel()


def ask_for_sweep() -> None:
    """Queue one sweep, which is void if no worker takes it before the next."""
    app.send_task(SWEEP, expires=settings.CONVOWEB_SWEEP_INTERVAL)


@setup_logging.connect
def configure_logging(**_kwargs: Any) -> None:
    """Log like the web server, into the same stream."""
    logging.config.dictConfig(settings.LOGGING)


@worker_init.connect
def wait_for_messages(sender: Any, **_kwargs: Any) -> None:
    """Let a worker, unlike a publisher, wait as long as it takes for an answer of the broker."""
    options = sender.app.conf.broker_transport_options
    sender.app.conf.broker_transport_options = {k: v for k, v in options.items() if k != "socket_timeout"}


broker.register()
app = Celery("convoweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].update({DjangoStructLogInitStep, Sweeper})
