"""Web server and worker under one small process: `python -m sessions_app.management.supervisor HOST PORT`.

It is a program of its own, without Django, because it stays for as long as convoweb runs.
"""

import logging
import multiprocessing
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.mp import MPServer

from sessions_app.management.worker_process import WorkerProcess

log = logging.getLogger(__name__)

WEB_THREADS = 8
LOG_FORMAT = "%(asctime)s [%(levelname)-8s] %(message)s [%(name)s]"


def main(host: str, port: int) -> None:
    """Serve until a signal comes, then stop the web server and the worker in good order."""
    signal.signal(signal.SIGTERM, _leave)
    logging.basicConfig(level=logging.INFO, format=LOG_FORMAT, datefmt="%H:%M:%S")
    os.environ |= {
        "CONVOWEB_UP_PID": str(os.getpid()),
        # Many threads that each keep their own free memory need far more of it.
        "MALLOC_ARENA_MAX": "2",
    }
    # Asked for by name, since a fork of a process with threads may hang and some systems fork by default.
    multiprocessing.set_start_method("spawn")
    worker = WorkerProcess()
    worker.start()
    try:
        _serve(_web_server(host, port))
    except KeyboardInterrupt:
        pass
    finally:
        worker.stop()
    log.info("stopped")


def _serve(server: MPServer) -> None:
    try:
        server.serve()
    except SystemExit:
        # The server counts a child that ended by the same Ctrl-C as a failure.
        if not server.interrupt_signal:
            raise


def _web_server(host: str, port: int) -> MPServer:
    server = MPServer(
        target="convoweb.wsgi:application",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=WEB_THREADS,
        respawn_failed_workers=True,
        workers_kill_timeout=10,
        log_level=LogLevels.error,
    )

    @server.on_startup
    def end_with_the_terminal() -> None:
        # By default the server takes a closed terminal for a wish to reload.
        signal.signal(signal.SIGHUP, server.signal_handler_interrupt)

    return server


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(0)


# The web server starts its own process by importing this module again.
if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
