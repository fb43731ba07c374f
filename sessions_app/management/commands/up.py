"""Runs everything with one command, until Ctrl-C."""

import fcntl
import os
import socket
import sys
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.db import connections

SUPERVISOR = "sessions_app.management.supervisor"


class Command(BaseCommand):
    """`manage.py up`: one command, one stream of logs, one clean end."""

    help = "Set up what is missing, then run the web server and an embedded worker until Ctrl-C."

    def handle(self, *_args: Any, **_options: Any) -> None:
        _lock_data()
        _refuse_used_address()
        call_command("setup", stdout=self.stdout)
        connections.close_all()
        self.stdout.write(
            f"convoweb starts on http://{settings.HOST}:{settings.PORT}/, in some seconds, and ends with Ctrl-C."
        )
        self.stdout.flush()
        # The memory that setting up took goes with this program; the process, and with it the lock, stays.
        os.chdir(settings.BASE_DIR)
        os.execv(sys.executable, [sys.executable, "-m", SUPERVISOR, settings.HOST, str(settings.PORT)])  # noqa: S606


def _lock_data() -> None:
    """Let nobody else run on the data until this process ends, however it ends."""
    handle = os.open(settings.DATA_DIR / "up.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CommandError(f"convoweb is running already on the data in {settings.DATA_DIR}.") from None
    os.set_inheritable(handle, True)  # noqa: FBT003


def _refuse_used_address() -> None:
    family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
    try:
        socket.create_server((settings.HOST, settings.PORT), family=family).close()
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {settings.HOST}:{settings.PORT}: {error.strerror}. Set HOST or PORT to another address."
        ) from error
