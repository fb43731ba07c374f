"""Runs everything: the web server here, the worker as a child, until Ctrl-C."""

import fcntl
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from types import FrameType
from typing import IO, Any, NoReturn

import structlog
from django.conf import settings
from django.core.management import BaseCommand, CommandError
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.mp import MPServer as Granian

from sessions_app.management.worker_process import WorkerProcess

log = structlog.get_logger(__name__)

WEB_THREADS = 8


class Command(BaseCommand):
    """`manage.py up`: one command, one stream of logs, one clean end."""

    help = "Set up what is missing, then run the web server and an embedded worker until Ctrl-C."
    # Set-up makes them, in a process that does not stay.
    requires_system_checks = ()

    def handle(self, *_args: Any, **_options: Any) -> None:
        signal.signal(signal.SIGTERM, _leave)
        try:
            with _only_one():
                _refuse_used_address()
                _set_up()
                self._serve()
        except KeyboardInterrupt:
            return

    def _serve(self) -> None:
        os.environ["CONVOWEB_UP_PID"] = str(os.getpid())
        # Asked for by name, since a fork of a process with threads may hang and some systems fork by default.
        multiprocessing.set_start_method("spawn", force=True)
        worker, server = WorkerProcess(), _web_server()
        worker.start()
        self.stdout.write(f"convoweb is at http://{settings.HOST}:{settings.PORT}/ and ends with Ctrl-C.")
        self.stdout.flush()
        try:
            server.serve()
        except SystemExit:
            # The server counts a child that ended by the same Ctrl-C as a failure.
            if not server.interrupt_signal:
                raise
        finally:
            worker.stop()
        log.info("stopped")


def _set_up() -> None:
    # A process of its own gives the memory back that migrations and checks take.
    done = subprocess.run([sys.executable, settings.BASE_DIR / "manage.py", "setup"], check=False)  # noqa: S603
    if done.returncode:
        raise CommandError("Setting up failed; the lines above say why.")


def _web_server() -> Granian:
    server = Granian(
        target="convoweb.wsgi:application",
        address=settings.HOST,
        port=settings.PORT,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=WEB_THREADS,
        respawn_failed_workers=True,
        workers_kill_timeout=10,
        log_dictconfig=settings.LOGGING,
        log_level=LogLevels.error,
    )

    @server.on_startup
    def end_with_the_terminal() -> None:
        # By default the server takes a closed terminal for a wish to reload.
        signal.signal(signal.SIGHUP, server.signal_handler_interrupt)

    return server


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)


def _only_one() -> IO[str]:
    """Lock the data folder until the returned file is closed; a killed process leaves no lock behind."""
    file = (settings.DATA_DIR / "up.lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise CommandError(f"convoweb is running already on the data in {settings.DATA_DIR}.") from None
    return file


def _refuse_used_address() -> None:
    family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
    try:
        socket.create_server((settings.HOST, settings.PORT), family=family).close()
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {settings.HOST}:{settings.PORT}: {error.strerror}. Set HOST or PORT to another address."
        ) from error
