"""Whether chat messages are valid for OpenAI and for the stricter servers that speak its shape.

The rule ids: C1 a result follows its call; C2 every call is answered once, directly behind it; C3 content is null only
beside calls; C4 tool names are legal; C5 call ids are short; C8 arguments are JSON; V1 one system message, first;
V2 then the user; V3 no neighbours of one role; V4 no blank text; V7 call ids are legal and unique; V9 the last message
is the user's or a tool's. (V5, V6 and V8 are C2, C1 and C4 for OpenAI.)
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

LONGEST_ID = 40
ROLES = frozenset({"system", "user", "assistant", "tool"})
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_ID}}}")


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule and the index of the message that breaks it."""

    rule: str
    index: int
    detail: str


def validate_openai(messages: Sequence[Mapping[str, Any]], *, query_follows: bool = False) -> list[Violation]:
    """Return what is wrong with the messages; `query_follows` says that the user's next message is still to come."""
    violations = [*_order(messages, query_follows=query_follows), *_ids(messages), *_pairing(messages)]
    for index, message in enumerate(messages):
        violations += [Violation(rule, index, detail) for rule, detail in (*_content(message), *_calls(message))]
    return sorted(violations, key=lambda violation: (violation.index, violation.rule))


def _order(messages: Sequence[Mapping[str, Any]], *, query_follows: bool) -> Iterator[Violation]:
    roles = [message.get("role") for message in messages]
    for index, role in enumerate(roles):
        if role not in ROLES:
            yield Violation("V1", index, f"role {role!r} is not known")
        if role == "system" and index > 0:
            yield Violation("V1", index, "a system message stands only first")
    first = next((index for index, role in enumerate(roles) if role != "system"), None)
    if first is not None and roles[first] != "user":
        yield Violation("V2", first, "the first message after the system message is not the user's")
    for index, (role, following) in enumerate(pairwise(roles)):
        if role == following != "tool":
            yield Violation("V3", index + 1, f"two neighbours have the role {role}")
    yield from _end(roles[-1] if roles else None, max(0, len(roles) - 1), query_follows=query_follows)


def _end(role: Any, index: int, *, query_follows: bool) -> Iterator[Violation]:
    if query_follows and role == "user":
        yield Violation("V3", index, "the user's message that follows has a neighbour of the same role")
    if not query_follows and role not in {"user", "tool"}:
        yield Violation("V9", index, "the last message is neither the user's nor a tool's")


def _ids(messages: Sequence[Mapping[str, Any]]) -> Iterator[Violation]:
    uses = Counter(call.get("id") for message in messages for call in _tool_calls(message))
    for index, message in enumerate(messages):
        for call_id in {call.get("id") for call in _tool_calls(message)}:
            if uses[call_id] > 1:
                yield Violation("V7", index, f"the call id {call_id!r} is used {uses[call_id]} times")


def _pairing(messages: Sequence[Mapping[str, Any]]) -> Iterator[Violation]:
    """Walk along the messages with the calls that still wait for their result."""
    waiting: list[Any] = []
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            if call_id in waiting:
                waiting.remove(call_id)
            else:
                yield Violation("C1", index, f"no unanswered call {call_id!r} stands before this result")
            continue
        yield from _unanswered(waiting, index - 1)
        waiting = [call.get("id") for call in _tool_calls(message)]
    yield from _unanswered(waiting, len(messages) - 1)


def _unanswered(waiting: Iterable[Any], index: int) -> Iterator[Violation]:
    for call_id in waiting:
        yield Violation("C2", index, f"the call {call_id!r} is not answered before the next message")


def _content(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    content = message.get("content")
    if content is None:
        if not (message.get("role") == "assistant" and _tool_calls(message)):
            yield "C3", "content is null without calls"
    elif isinstance(content, str):
        if not content.strip():
            yield "V4", "the text is blank"
    elif not content:
        yield "V4", "the content has no parts"
    else:
        for part in content:
            if part.get("type") == "text" and not str(part.get("text", "")).strip():
                yield "V4", "a text part is blank"


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for call in _tool_calls(message):
        call_id, function = call.get("id"), call.get("function", {})
        if not isinstance(call_id, str) or len(call_id) > LONGEST_ID:
            yield "C5", f"the call id {call_id!r} is not a text of at most {LONGEST_ID} characters"
        elif not _ID.fullmatch(call_id):
            yield "V7", f"the call id {call_id!r} has other characters than A-Z a-z 0-9 _ -"
        if not _NAME.fullmatch(str(function.get("name", ""))):
            yield "C4", f"the tool name {function.get('name')!r} is not 1 to 64 of A-Z a-z 0-9 _ -"
        if not _is_json(function.get("arguments")):
            yield "C8", "the arguments are not JSON text"


def _tool_calls(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return message.get("tool_calls") or ()


def _is_json(text: object) -> bool:
    if not isinstance(text, str):
        return False
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True
