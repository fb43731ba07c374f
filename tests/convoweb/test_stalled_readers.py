"""The connections of the web server get a limit for readers who stand still, and no others."""

import socket

import pytest

from convoweb import stalled_readers

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "TCP_USER_TIMEOUT"), reason="NOT RUN: only Linux limits how long a connection stands still"
)


def limit_of(found):
    return found.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)


@pytest.fixture
def open_sockets():
    """What the test has opened; closed at its end."""
    opened: list[socket.socket] = []
    yield opened
    for each in opened:
        each.close()


def test_connections_of_the_server_end_after_a_minute_and_those_to_others_do_not(open_sockets):
    server = socket.create_server(("127.0.0.1", 0))
    before = socket.create_connection(server.getsockname())
    accepted, _ = server.accept()
    open_sockets += [server, before, accepted]

    stalled_readers.end_stalled_readers.__wrapped__()

    after = socket.create_connection(server.getsockname())
    accepted_after, _ = server.accept()
    open_sockets += [after, accepted_after]
    assert [limit_of(each) for each in (server, accepted, accepted_after)] == [60_000] * 3
    assert [limit_of(each) for each in (before, after)] == [0, 0]


def test_a_reader_who_stands_still_is_left(open_sockets, monkeypatch):
    monkeypatch.setattr(stalled_readers, "SECONDS", 0.2)
    server = socket.create_server(("127.0.0.1", 0))
    open_sockets.append(server)
    stalled_readers.end_stalled_readers.__wrapped__()
    open_sockets.append(socket.create_connection(server.getsockname()))
    accepted, _ = server.accept()
    open_sockets.append(accepted)

    with pytest.raises(TimeoutError):
        accepted.sendall(b"x" * 64_000_000)
