"""What every file format gives: its rows one by one, and a row's conversation."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from sessions_app.domain.json_streams import Found
from sessions_app.domain.transcript import NewRun


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a file; `source_id` is its identity there, `notes` say what could not be kept as it was.

    `given_id` is the id that the file gives it, which it keeps here if it can; empty where the identity is a hash.
    """

    source_id: str
    instructions: str
    runs: tuple[NewRun, ...]
    given_id: str = ""
    title: str = ""
    user_id: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file: `label` and `files` are words for people.

    `recognises` judges the first bytes of a file and its name. `rows` reads a stream of bytes from its start; it may
    be larger than memory. `conversation` reads the value of one row, or raises InvalidInput with the reason.
    """

    name: str
    label: str
    files: str
    recognises: Callable[[bytes, str], bool]
    rows: Callable[[BinaryIO, str], Iterator[Found]]
    conversation: Callable[[Any], Conversation]
