"""Reading JSON values one by one from a stream of bytes that may be larger than memory.

Values are strict JSON: no NaN, no number beyond a double, no lone bytes. Lines end at LF alone, as JSON Lines says. A
value that is broken or larger than LARGEST_VALUE is reported at its place, and reading goes on behind it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from sessions_app.domain.strict_json import strict_json

LARGEST_VALUE = 64 * 1024 * 1024
TOO_LARGE = "It is larger than 64 MB."
BOM = b"\xef\xbb\xbf"

_CHUNK = 1024 * 1024
_SPACE = b" \t\r\n"
_MARK = re.compile(rb'(?:[^"\[\]{},]++|"(?:[^"\\]++|\\.)*+")*+([\[\]{},])', re.DOTALL)
_DEPTH = {b"[": 1, b"{": 1, b"]": -1, b"}": -1, b",": 0}


@dataclass(frozen=True, slots=True)
class Found:
    """A value and its place in the file, from 1, or the reason why it is none."""

    place: int
    value: Any = None
    error: str = ""


def json_lines(stream: BinaryIO) -> Iterator[Found]:
    """Yield the value of each line that is not blank; places are line numbers."""
    place = 0
    while line := stream.readline(LARGEST_VALUE + 1):
        place += 1
        if len(line) > LARGEST_VALUE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(_CHUNK)
            yield Found(place, error=TOO_LARGE)
        elif text := _without_bom(line, place).strip(_SPACE):
            yield parse(text, place)


def json_items(stream: BinaryIO) -> Iterator[Found]:
    """Yield the items of the list that the stream holds, or its one value; places count the items."""
    head = stream.read(_CHUNK).removeprefix(BOM).lstrip(_SPACE)
    if head.startswith(b"["):
        yield from _list_items(head, stream)
    elif len(text := head + stream.read(LARGEST_VALUE)) > LARGEST_VALUE:
        yield Found(1, error=TOO_LARGE)
    else:
        yield parse(text.strip(_SPACE), 1)


def json_rows(stream: BinaryIO, file_name: str) -> Iterator[Found]:  # noqa: ARG001 (as the table of formats asks)
    """Yield the same for a file of whatever name."""
    return json_items(stream)


def _list_items(head: bytes, stream: BinaryIO) -> Iterator[Found]:
    text = _ListText(head, stream)
    place, depth = 0, 1
    while depth:
        mark = text.next_mark()
        if mark is None:
            yield Found(place + 1, error="The list breaks off here: a bracket or a quote is not closed.")
            return
        depth += _DEPTH[mark]
        ends_item = depth == 0 or (depth == 1 and mark == b",")
        if ends_item and (depth or place or not text.is_blank):
            place += 1
            yield text.cut(place)
    if text.has_more():
        yield Found(place + 1, error="There is more behind the end of the list.")


class _ListText:
    """The text of a list, cut at its own brackets and commas; whole strings are skipped at once."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._buffer = head
        self._stream = stream
        self._start = self._position = len(b"[")
        self._oversized = False

    @property
    def is_blank(self) -> bool:
        """Whether nothing stands between the last cut and the last mark."""
        return not self._buffer[self._start : self._position - 1].strip(_SPACE)

    def next_mark(self) -> bytes | None:
        """Step behind the next bracket or comma outside strings and return it; None if the stream ends before it."""
        while (match := _MARK.match(self._buffer, self._position)) is None:
            if not self._read_on():
                return None
        self._position = match.end()
        return match.group(1)

    def cut(self, place: int) -> Found:
        """Return what stands between the last cut and the last mark."""
        text, oversized = self._buffer[self._start : self._position - 1], self._oversized
        self._start, self._oversized = self._position, False
        return Found(place, error=TOO_LARGE) if oversized else parse(text.strip(_SPACE), place)

    def has_more(self) -> bool:
        """Whether anything but space stands behind the last mark."""
        return bool(self._buffer[self._position :].strip(_SPACE) or self._stream.read(_CHUNK).strip(_SPACE))

    def _read_on(self) -> bool:
        if len(self._buffer) - self._position > LARGEST_VALUE:
            return False
        if self._position - self._start > LARGEST_VALUE:
            self._oversized, self._start = True, self._position
        # Doubling keeps the search for the end of a long string linear.
        more = self._stream.read(max(_CHUNK, len(self._buffer) - self._position))
        self._buffer = self._buffer[self._start :] + more
        self._position -= self._start
        self._start = 0
        return bool(more)


def parse(text: bytes, place: int) -> Found:
    """Return the value that a text is."""
    try:
        value = strict_json(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        return Found(place, error=f"It is not UTF-8: byte {error.start + 1} of it is not a part of any character.")
    except json.JSONDecodeError as error:
        return Found(place, error=f"It is not JSON: {error.msg} at character {error.pos + 1}.")
    except ValueError as error:
        return Found(place, error=f"It is not JSON: {error}.")
    except RecursionError:
        return Found(place, error="Its lists and objects are nested too deeply.")
    return Found(place, value)


def _without_bom(text: bytes, place: int) -> bytes:
    return text.removeprefix(BOM) if place == 1 else text
