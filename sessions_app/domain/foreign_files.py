"""What the readings of other systems' files have in common: checked fields, identities, times, notes."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.domain.openai_fields import time_of
from sessions_app.domain.session_fields import LONGEST
from sessions_app.domain.text_cleaning import REPLACEMENT, clean_json
from sessions_app.domain.transcript import NewRun, Role

LONGEST_SOURCE_ID = 255
TITLE_WORDS = 80


def cleaned(row: Any, what: str) -> Mapping[str, Any]:
    """Return a row with its texts cleaned, or raise InvalidInput if it is no object; `what` says what it must be."""
    if not isinstance(row, Mapping):
        raise InvalidInput(f"It must be {what}.")
    read: Mapping[str, Any] = clean_json(row)
    return read


def cleaning_notes(given: Any, read: Any) -> Iterator[str]:
    """Say how many characters of a row were replaced."""
    if given != read:
        before, after = (json.dumps(value, ensure_ascii=False).count(REPLACEMENT) for value in (given, read))
        yield f"Characters that cannot be stored, replaced by U+FFFD: {after - before}."


def items_of(row: Mapping[str, Any], name: str) -> list[Any]:
    """Return a list of a row; an absent one or null is empty."""
    value = row.get(name)
    if value is not None and not isinstance(value, list):
        raise InvalidInput(f"Its {name} must be a list.")
    return value or []


def object_of(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object of a row; anything else is an empty one."""
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}


def text_of(row: Mapping[str, Any], name: str) -> str:
    """Return a text of a row; anything else is none."""
    value = row.get(name)
    return value if isinstance(value, str) else ""


def time_in(row: Mapping[str, Any], name: str) -> datetime | None:
    """Return a time of a row, RFC 3339 or seconds since 1970; None if there is none to read."""
    return time_of({"created_at": row.get(name)})


def count_in(row: Mapping[str, Any], name: str) -> int:
    """Return a number of tokens of a row; 0 if there is none that could be one."""
    value = row.get(name)
    return value if type(value) is int and 0 <= value <= LARGEST_INTEGER else 0


def json_text(value: Any) -> str:
    """Return a value as JSON text, a text as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def hash_of(value: Any) -> str:
    """Return what stands for an identity that a conversation does not have."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def short_id(value: str) -> str:
    """Return an identity as it is, or its hash if it is too long to keep."""
    return value if len(value) <= LONGEST_SOURCE_ID else hash_of(value)


def first_words(runs: Iterable[NewRun]) -> str:
    """Return a title for a conversation without one: the first words of its user."""
    said = (event.text for run in runs for event in run.events if event.role is Role.USER)
    return " ".join(next(said, "").split())[:TITLE_WORDS]


def short_title(title: str) -> str:
    """Return a title cut to what a session's may have."""
    return title[: LONGEST["title"]]
