"""An OpenAI-compatible endpoint on loopback that answers by a script: texts, errors, halves of answers, nothing at all.

It records what it was asked. `with ScriptedEndpoint(Text("a summary"), Status(429, retry_after=20)) as endpoint:` gives
each request the next answer of the script and, when that is used up, `otherwise`: an answer, or a function from the
request to one.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LONGEST_PATIENCE = 600


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in; `started_at` is of the monotonic clock."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    started_at: float

    @property
    def body(self) -> dict[str, Any]:
        """The request's JSON."""
        return json.loads(self.raw)

    @property
    def text(self) -> str:
        """The text of its only message."""
        (message,) = self.body["messages"]
        return message["content"]


@dataclass(frozen=True, slots=True)
class Text:
    """A chat completion. `usage` is (input, output) tokens, or (input, output, cached), or None: not told."""

    text: str | None
    usage: tuple[int, ...] | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    after: float = 0

    def send(self, to: "_Conversation") -> None:
        to.wait(self.after)
        to.respond(200, json.dumps(completion(self)).encode())


@dataclass(frozen=True, slots=True)
class Status:
    """An error or a redirect. `retry_after` goes into the header as it is: seconds or a date."""

    code: int
    message: str = "scripted error"
    retry_after: str | int | None = None
    location: str | None = None

    def send(self, to: "_Conversation") -> None:
        given = {"Retry-After": self.retry_after, "Location": self.location}
        headers = {name: str(value) for name, value in given.items() if value is not None}
        to.respond(self.code, json.dumps({"error": {"message": self.message, "type": "scripted"}}).encode(), headers)


@dataclass(frozen=True, slots=True)
class Raw:
    """Any bytes with status 200."""

    data: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(self, to: "_Conversation") -> None:
        to.respond(200, self.data, {"Content-Type": self.content_type, **self.headers})


@dataclass(frozen=True, slots=True)
class Half:
    """The first half of an answer whose length was promised; then the connection is closed."""

    text: str = "never seen whole"

    def send(self, to: "_Conversation") -> None:
        data = json.dumps(completion(Text(self.text))).encode()
        to.head(200, len(data))
        to.write(data[: len(data) // 2])


@dataclass(frozen=True, slots=True)
class Nothing:
    """No byte at all, for as long as the endpoint lives; or, with `closes`, a closed connection at once."""

    closes: bool = False

    def send(self, to: "_Conversation") -> None:
        if not self.closes:
            to.wait(LONGEST_PATIENCE)


@dataclass(frozen=True, slots=True)
class Slow:
    """An answer of which one byte comes in each `pause` seconds."""

    text: str
    pause: float = 1.0

    def send(self, to: "_Conversation") -> None:
        data = json.dumps(completion(Text(self.text))).encode()
        to.head(200, len(data))
        for place in range(len(data)):
            if to.is_over():
                return
            to.write(data[place : place + 1])
            to.wait(self.pause)


@dataclass(frozen=True, slots=True)
class Drip:
    """A header of an answer that goes on and on, a byte in each `pause` seconds."""

    pause: float = 1.0

    def send(self, to: "_Conversation") -> None:
        to.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not to.is_over():
            to.write(b"x")
            to.wait(self.pause)


@dataclass(frozen=True, slots=True)
class Endless:
    """An answer of unknown length that never ends, as fast as it is read."""

    def send(self, to: "_Conversation") -> None:
        to.head(200, None)
        while not to.is_over():
            to.write(b" " * 65_536)


Answer = Text | Status | Raw | Half | Nothing | Slow | Drip | Endless

TEN_MEGABYTES = Text("A sentence of ten megabytes. " * 360_000)


def completion(answer: Text) -> dict[str, Any]:
    """Return the JSON of a chat completion."""
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    body: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason}],
    }
    if answer.usage is not None:
        given, made, *cached = answer.usage
        body["usage"] = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
        body["usage"]["prompt_tokens_details"] = {"cached_tokens": sum(cached)}
    return body


class ScriptedEndpoint:
    """The server, in threads of this process. `url` is its base address, `asked` what it was asked so far."""

    def __init__(self, *script: Answer, otherwise: Answer | Callable[[Asked], Answer] = Text("A summary.")) -> None:
        self.asked: list[Asked] = []
        self.otherwise = otherwise
        self._script = list(script)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Conversation)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The base address, as it stands in an operator's list."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def then(self, *script: Answer) -> None:
        """Add answers to the end of the script."""
        with self._lock:
            self._script.extend(script)

    def answer_to(self, asked: Asked) -> Answer:
        """Record a request and return what it gets."""
        with self._lock:
            self.asked.append(asked)
            if self._script:
                return self._script.pop(0)
        return self.otherwise(asked) if callable(self.otherwise) else self.otherwise

    def wait(self, seconds: float) -> bool:
        """Wait, or until the endpoint closes; whether it does."""
        return self._closing.wait(seconds)

    def close(self) -> None:
        """Stop; whoever still waits for an answer finds the connection closed."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "ScriptedEndpoint":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    endpoint: ScriptedEndpoint

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that goes away, by its own decision or killed, is what the tests are about."""


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        started_at = time.monotonic()
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(self.path, dict(self.headers), raw, started_at)
        self.close_connection = True
        self.server.endpoint.answer_to(asked).send(self)

    def log_message(self, format: str, *args: object) -> None:
        """Print no line for each request."""

    def respond(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.head(status, len(data), headers)
        self.write(data)

    def head(self, status: int, length: int | None, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        every = {"Content-Type": "application/json", "Connection": "close", **(headers or {})}
        if length is not None:
            every["Content-Length"] = str(length)
        for name, value in every.items():
            self.send_header(name, value)
        self.end_headers()

    def write(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def wait(self, seconds: float) -> None:
        self.server.endpoint.wait(seconds)

    def is_over(self) -> bool:
        return self.server.endpoint.wait(0)
