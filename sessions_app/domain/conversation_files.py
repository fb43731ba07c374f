"""What every file format gives: its rows one by one, and a row's conversation; or a stored conversation as text."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Any, BinaryIO

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.json_streams import Found
from sessions_app.domain.transcript import NewRun

LONGEST_NAME = 80
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Path:
    """A way through a tree of messages, from its root to an end: its runs, and the ids of the messages in each."""

    runs: tuple[NewRun, ...]
    messages: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a file; `source_id` is its identity there, `notes` say what could not be kept as it was.

    `given_id` is the id that the file gives it, which it keeps here if it can; empty where the identity is a hash.
    `parent_source_id` is the identity of the conversation that this one is a child of, empty if it is none's.
    `paths` are all ways through a tree of messages, of which the first has the `runs`; none if it is no tree.
    `created_at` is when it began; without one that is when its first run did.
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
    parent_source_id: str = ""
    paths: tuple[Path, ...] = ()
    created_at: datetime | None = None


def refusing_depth(read: Callable[[Any], Conversation]) -> Callable[[Any], Conversation]:
    """Let what reads the value of a row raise InvalidInput for one that is nested too deeply to be walked through."""

    @wraps(read)
    def reading(row: Any) -> Conversation:
        try:
            return read(row)
        except RecursionError:
            raise InvalidInput("Its lists and objects are nested too deeply.") from None

    return reading


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A kind of file: `label` and `files` are words for people, `about` is a sentence or two on what becomes of it.

    `recognises` judges the first bytes of a file and its name. `rows` reads a stream of bytes from its start; it may
    be larger than memory. `conversation` reads the value of one row, or raises InvalidInput with the reason.
    """

    name: str
    label: str
    files: str
    about: str
    recognises: Callable[[bytes, str], bool]
    rows: Callable[[BinaryIO, str], Iterator[Found]]
    conversation: Callable[[Any], Conversation]


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A session on its way out; `runs` reads those of its whole lineage from the first on, anew at each call."""

    session_id: str
    runs: Callable[[], Iterator[NewRun]]
    instructions: str = ""
    title: str = ""
    user_id: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A kind of file that conversations go into one behind the other; `label` is for people.

    `write` yields the text of a conversation piece by piece, so that it may be larger than memory.
    """

    name: str
    label: str
    suffix: str
    content_type: str
    write: Callable[[StoredConversation], Iterator[str]]


def file_name(words: str, *, suffix: str) -> str:
    """Return a name that any file system takes, of the letters and numbers in the words."""
    kept = "-".join(_WORDS.findall(words))[:LONGEST_NAME].strip("-")
    return f"{kept or 'conversation'}.{suffix}"
