"""An HTTP transport that ends: by a moment for the whole exchange, and after so many bytes of an answer.

The timeouts of HTTP clients begin anew with each byte, so that a server which sends one now and then is never too late.
"""

import ssl
import time
from collections.abc import Iterable
from functools import cache
from typing import Any

import httpcore2
import httpx2

# What is sent besides the body; clients would add more, some of it from the environment.
SENT_HEADERS = ("host", "content-type", "content-length", "accept")


class AnswerTooLong(Exception):
    """The server sends more bytes than anybody wants to read."""


class BoundedTransport(httpx2.BaseTransport):
    """Sends a request over a connection of its own; the answer is there `seconds` from now, in at most so many bytes.

    Else an error of httpcore2 or AnswerTooLong is raised. `key` is the bearer token, if there is one. Nothing is taken
    from the environment: no proxy, no other credentials.
    """

    def __init__(self, *, seconds: float, most_bytes: int, key: str | None) -> None:
        backend = _Backend(time.monotonic() + seconds, most_bytes)
        self._pool = httpcore2.ConnectionPool(ssl_context=_ssl_context(), network_backend=backend)
        self._authorization = [] if key is None else [("authorization", f"Bearer {key}")]

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return its answer, read to the end, as identity whatever coding it claims."""
        url = request.url
        target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        headers = [(name, request.headers[name]) for name in SENT_HEADERS if name in request.headers]
        answer = self._pool.request(
            request.method,
            target,
            headers=[*headers, *self._authorization],
            content=request.read(),
        )
        kept = [(name, value) for name, value in answer.headers if name.lower() != b"content-encoding"]
        return httpx2.Response(answer.status, headers=kept, content=answer.content)

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, end: float, most_bytes: int) -> None:
        self._inner = httpcore2.SyncBackend()
        self._end = end
        self._most_bytes = most_bytes

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(self._end, timeout, httpcore2.ConnectTimeout)
        stream = self._inner.connect_tcp(host, port, left, local_address, socket_options)
        return _Stream(stream, self._end, self._most_bytes)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, end: float, most_bytes: int) -> None:
        self._inner = inner
        self._end = end
        self._bytes_left = most_bytes

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._inner.read(max_bytes, _left(self._end, timeout, httpcore2.ReadTimeout))
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise AnswerTooLong
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # In slices, since the time that is left is looked at before each.
        for start in range(0, len(buffer), 65_536):
            self._inner.write(buffer[start : start + 65_536], _left(self._end, timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _left(self._end, timeout, httpcore2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._end, self._bytes_left)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(end: float, timeout: float | None, too_late: type[Exception]) -> float:
    left = end - time.monotonic()
    if left <= 0:
        raise too_late
    return left if timeout is None else min(left, timeout)
