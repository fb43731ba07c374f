"""A worker as the product starts it, with shorter pauses: no harness waits half a minute for a lease to end.

A server process imports this once and forks, since importing it anew for each worker would take longer than it lives.
"""

import faulthandler
import os
import signal
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import django
from celery.signals import task_prerun, worker_ready

from convoweb.celery import app

django.setup()

from sessions_app.clients import model_endpoint  # noqa: E402 (models need the setup)
from sessions_app.domain import summaries as summaries_domain  # noqa: E402
from sessions_app.domain.tokens import STORED_COUNTER  # noqa: E402
from sessions_app.services import summary_claims  # noqa: E402

__all__ = ["model_endpoint", "work"]

LEASE_SECONDS = 2

summary_claims.LEASE = timedelta(seconds=LEASE_SECONDS)
summaries_domain.FIRST_RETRY_SECONDS = 1
summaries_domain.LONGEST_RETRY_SECONDS = 3
if app.conf.broker_url.startswith("redis"):
    # What a killed worker held is delivered again after this; the default is an hour.
    app.conf.broker_transport_options |= {"visibility_timeout": LEASE_SECONDS + 1}
STORED_COUNTER.text("The vocabulary is read once, like the modules.")


@worker_ready.connect
def _tell_ready(**_kwargs: Any) -> None:
    _say("worker ready")


@task_prerun.connect
def _tell_task(task: Any, **_kwargs: Any) -> None:
    _say(f"{task.name.rpartition('.')[2]} began")


def _say(line: str) -> None:
    # Lines of this length are written whole, whoever else writes.
    os.write(sys.stderr.fileno(), f"{line}\n".encode())


def work(options: Sequence[str], log: str) -> None:
    """Be a worker until a signal comes; what it says is added to the log."""
    os.setsid()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(output, stream)
    faulthandler.register(signal.SIGUSR2)
    app.worker_main(["--quiet", "worker", *options])
