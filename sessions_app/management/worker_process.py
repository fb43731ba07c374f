"""The embedded Celery worker as a child process that is started again when it dies."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time

log = logging.getLogger(__name__)

# Threads, not solo: a worker must keep polling while it works, or it loses what it has taken.
COMMAND = (
    sys.executable,
    *("-m", "celery", "--quiet", "--app", "convoweb"),
    *("worker", "--pool", "threads", "--concurrency", "4", "--only-worker"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat"),
)
STOP_STEPS = ((signal.SIGTERM, 10), (signal.SIGQUIT, 3), (signal.SIGKILL, 2))
HEALTHY_SECONDS = 30
LONGEST_DELAY = 30


class WorkerProcess:
    """Keeps one worker running, with growing pauses between starts, until it is stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)

    def start(self) -> None:
        """Start the worker in the background."""
        self._keeper.start()

    def stop(self) -> None:
        """Let running tasks finish for some seconds, then insist; what is left is delivered again at the next start."""
        with self._lock:
            self._stopping.set()
        for number, seconds in STOP_STEPS:
            if self._process is None or self._process.poll() is not None:
                break
            self._process.send_signal(number)
            self._wait(seconds)

    def _wait(self, seconds: int) -> None:
        if self._process is not None:
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                log.warning("the worker does not stop, waited %s seconds", seconds)

    def _keep(self) -> None:
        delay = 1
        while process := self._spawn():
            started = time.monotonic()
            code = process.wait()
            if self._stopping.is_set():
                return
            delay = 1 if time.monotonic() - started > HEALTHY_SECONDS else min(delay * 2, LONGEST_DELAY)
            log.error("the worker died with exit code %s and starts again in %s seconds", code, delay)
            self._stopping.wait(delay)

    def _spawn(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._stopping.is_set():
                return None
            # A session of its own, so that Ctrl-C reaches the parent alone, which then stops it in good order.
            # Checks of the site's pages are no business of a worker.
            environment = os.environ | {"CELERY_SKIP_CHECKS": "true"}
            self._process = subprocess.Popen(COMMAND, env=environment, start_new_session=True)  # noqa: S603
            return self._process
