"""Conversations of OpenAI chat messages: JSON Lines with one conversation a line, or JSON.

A conversation is an object with `messages` and, each of them optional, `id`, `title`, `user_id`, `tags` and `metadata`;
a bare list of messages is one too. Facts of its runs may stand beside the messages (`domain.run_facts`). What else the
object says is kept in the metadata under `openai`.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, BinaryIO

from sessions_app.domain import openai_messages, run_facts
from sessions_app.domain.conversation_files import Conversation, FileFormat, refusing_depth
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.json_streams import BOM, LARGEST_VALUE, TOO_LARGE, Found, json_items, json_lines, parse
from sessions_app.domain.session_fields import LONGEST
from sessions_app.domain.text_cleaning import REPLACEMENT, clean_json
from sessions_app.domain.transcript import NewRun

LINES_SUFFIXES = (".jsonl", ".ndjson")
LONGEST_SOURCE_ID = 255
# Where the metadata keep what the object says beyond our fields.
OTHERS = "openai"

_HEAD = 64 * 1024
_FIELDS = frozenset({"id", "title", "messages", "metadata", "user_id", "tags"})


def recognises(head: bytes, file_name: str) -> bool:
    """Tell whether a file looks like JSON or JSON Lines."""
    return _begin(head)[:1] in (b"{", b"[") or file_name.lower().endswith(LINES_SUFFIXES)


def rows(stream: BinaryIO, file_name: str) -> Iterator[Found]:
    """Yield the conversations of a file, each at its line, or else at its place in the list."""
    head = stream.read(_HEAD)
    stream.seek(0)
    if _is_lines(_begin(head), file_name):
        yield from json_lines(stream)
        return
    found = json_items(stream)
    first = next(found, None)
    if first is None:
        return
    if isinstance(first.value, Mapping) and "role" in first.value and "messages" not in first.value:
        yield _bare_conversation(chain([first], found), stream)
    else:
        yield from chain([first], found)


def _begin(head: bytes) -> bytes:
    return head.removeprefix(BOM).lstrip()


def _is_lines(head: bytes, file_name: str) -> bool:
    """Tell lines by the file's name, by an object that ends with its line, or by one line without an end in sight."""
    if file_name.lower().endswith(LINES_SUFFIXES):
        return True
    if not head.startswith(b"{"):
        return False
    first, *others = head.split(b"\n")
    whole = (parse(line, 1).value for line in others)
    return (
        not others or not parse(first, 1).error or any(isinstance(row, Mapping) and "messages" in row for row in whole)
    )


def _bare_conversation(found: Iterator[Found], stream: BinaryIO) -> Found:
    messages = []
    for item in found:
        if item.error:
            return Found(1, error=f"Message {item.place}: {item.error}")
        if stream.tell() > LARGEST_VALUE:
            return Found(1, error=TOO_LARGE)
        messages.append(item.value)
    return Found(1, messages)


@refusing_depth
def conversation(row: Any) -> Conversation:
    """Read one conversation."""
    row = {"messages": row} if isinstance(row, list) else row
    if not isinstance(row, Mapping):
        raise InvalidInput("It must be an object with messages, or a list of messages.")
    given, row = row, clean_json(row)
    instructions, runs = _runs(row)
    title = _text(row, "title")
    given_id = _given_id(row)
    return Conversation(
        source_id=given_id or _hash_of(row),
        given_id=given_id,
        instructions=instructions,
        runs=tuple(runs),
        title=title[: LONGEST["title"]],
        user_id=_text(row, "user_id"),
        tags=_tags(row),
        metadata=_metadata(row, title),
        notes=tuple(_notes(given, row, title)),
    )


def _runs(row: Mapping[str, Any]) -> tuple[str, list[NewRun]]:
    messages, are_told = row.get("messages"), run_facts.are_told(row)
    if not isinstance(messages, list) or not (messages or are_told):
        raise InvalidInput("It has no messages: a list with at least one of them is needed.")
    if not are_told:
        return openai_messages.conversation(messages)
    facts = run_facts.facts_in(row, messages=len(messages))
    instructions, runs = openai_messages.parted_conversation(messages, run_facts.counts_of(facts))
    return instructions, [run_facts.with_facts(run, told) for run, told in zip(runs, facts, strict=True)]


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"Its {name} must be a text.")
    return value or ""


def _tags(row: Mapping[str, Any]) -> tuple[str, ...]:
    tags = row.get("tags")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        raise InvalidInput("Its tags must be a list of texts.")
    return tuple(tags or ())


def _given_id(row: Mapping[str, Any]) -> str:
    """Return the row's id; nothing if it has none, or one that is too long to keep."""
    value = row.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise InvalidInput("Its id must be a text or a whole number.")
    text = "" if value is None else str(value)
    return text if len(text) <= LONGEST_SOURCE_ID else ""


def _hash_of(row: Mapping[str, Any]) -> str:
    """Return what stands for an id that a row does not have, or has too long."""
    given = row.get("id")
    canonical = json.dumps(row if given is None or given == "" else str(given), sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def _metadata(row: Mapping[str, Any], title: str) -> dict[str, Any]:
    metadata = row.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidInput("Its metadata must be an object.")
    kept = dict(metadata or {})
    known = _FIELDS | {run_facts.FIELD} if run_facts.are_told(row) else _FIELDS
    others = {name: value for name, value in row.items() if name not in known}
    if len(title) > LONGEST["title"]:
        others["title"] = title
    if others:
        kept[OTHERS] = [kept[OTHERS], others] if OTHERS in kept else others
    return kept


def _notes(given: Any, row: Any, title: str) -> Iterator[str]:
    if given != row:
        before, after = (json.dumps(value, ensure_ascii=False).count(REPLACEMENT) for value in (given, row))
        yield f"Characters that cannot be stored, replaced by U+FFFD: {after - before}."
    if len(title) > LONGEST["title"]:
        yield f"The title was cut to {LONGEST['title']} characters; the metadata have it whole."


OPENAI = FileFormat(
    name="openai",
    label="OpenAI messages",
    files="JSON or JSON Lines",
    about="JSON Lines with one conversation a line, or JSON with a list of them, one of them, or only its messages.",
    recognises=recognises,
    rows=rows,
    conversation=conversation,
)
