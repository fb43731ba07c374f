"""Readers who stand still: the system ends their connections, since the web server would wait for them for ever."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

# So long may a reader take nothing of what lies ready; each byte taken begins it anew.
SECONDS = 60
_OPEN_FILES = Path("/proc/self/fd")


@cache
def end_stalled_readers() -> None:
    """Let the connections of the web server that this process is end when their readers stand still; once is enough.

    A listening socket hands the limit down to the connections that it accepts. Only Linux can do it, and only Linux
    names the sockets of a process; elsewhere nothing happens.
    """
    if not hasattr(socket, "TCP_USER_TIMEOUT") or not _OPEN_FILES.exists():
        return
    with _own_sockets() as found:
        ports = {_port(each) for each in found if each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)}
        for each in found:
            if _port(each) in ports:
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(SECONDS * 1000))


@contextmanager
def _own_sockets() -> Iterator[list[socket.socket]]:
    """Open the TCP sockets of this process a second time, and close these again."""
    found = list(filter(None, map(_socket_at, _OPEN_FILES.iterdir())))
    try:
        yield found
    finally:
        for each in found:
            each.close()


def _socket_at(link: Path) -> socket.socket | None:
    try:
        copy = os.dup(int(link.name))
    except OSError:
        return None
    try:
        found = socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        return None
    if found.family in (socket.AF_INET, socket.AF_INET6) and found.type == socket.SOCK_STREAM:
        return found
    found.close()
    return None


def _port(found: socket.socket) -> int:
    return int(found.getsockname()[1])
