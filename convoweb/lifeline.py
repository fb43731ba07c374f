"""Ends a child process of `manage.py up` when that is gone, even when it was killed and could not say so."""

import os
import signal
import threading
import time

PARENT_VARIABLE = "CONVOWEB_UP_PID"
POLL_SECONDS = 1.0


def follow_parent() -> None:
    """Let this process end when its parent wants it to or is gone, if that is `manage.py up`."""
    parent = os.environ.get(PARENT_VARIABLE)
    if parent and parent != str(os.getpid()):
        _leave_terminal()
        threading.Thread(target=_end_after, args=(int(parent),), name="lifeline", daemon=True).start()


def _leave_terminal() -> None:
    # A Ctrl-C there is for the parent alone; the web server's child may hang on two signals at once.
    if os.getsid(0) != os.getpid():
        os.setsid()


def _end_after(parent: int) -> None:
    # Asking is slower than a signal from the kernel, but a dead parent cannot be missed and every system can do it.
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
