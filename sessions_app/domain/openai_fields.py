"""The fields of one OpenAI chat message: checked, and parted into what an event holds and what is kept beside it.

Numbers of messages count from 1. Every refusal is an InvalidInput that names the message and what is allowed.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.transcript import Role, ToolCall

# Marks in a run's extras.
INSTRUCTIONS = "instructions"
RESULT = "result"
RESULT_ONLY = "result_only"
LEGACY_CALL = "function_call"

MESSAGE_ROLES = {"system": Role.SYSTEM, "developer": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT}
RESULT_ROLES = ("tool", "function")

Parts = tuple[Mapping[str, Any], ...]

_TEXT_FIELDS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_CALL_FIELDS = {"function": "arguments", "custom": "input"}
_MESSAGE_FIELDS = frozenset({"role", "content", "tool_calls", "function_call"})
_RESULT_FIELDS = frozenset({"role", "content", "tool_call_id"})
_LATEST = 253_402_300_799  # the end of the year 9999


def refused(number: int, detail: str, field: str = "") -> InvalidInput:
    """Return the refusal of a message; `field` is the JSON pointer inside it."""
    return InvalidInput(f"Message {number}: {detail}.", errors=[FieldError(f"/messages/{number - 1}{field}", detail)])


def role_of(number: int, message: Any) -> str:
    """Return the role of a message, one of the known ones."""
    if not isinstance(message, Mapping):
        raise refused(number, "it must be an object with a role and a content")
    role = message.get("role")
    if role is None:
        raise refused(number, "it has no role", "/role")
    if role not in (known := (*MESSAGE_ROLES, *RESULT_ROLES)):
        raise refused(number, f"the role {json.dumps(role)[:60]} is not one of {', '.join(known)}", "/role")
    return str(role)


def content_of(number: int, message: Mapping[str, Any]) -> tuple[str, Parts | None]:
    """Return the text of a message and the parts it was given in, None if it was given as text or not at all."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or "", None
    if not isinstance(content, list):
        raise refused(number, "its content must be a text, a list of parts or null", "/content")
    texts = [_part_text(number, place, part) for place, part in enumerate(content)]
    return "\n".join(text for text in texts if text is not None), tuple(content)


def _part_text(number: int, place: int, part: Any) -> str | None:
    if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
        raise refused(number, f"part {place + 1} of its content must be an object with a type", f"/content/{place}")
    field = _TEXT_FIELDS.get(part["type"])
    if field is None:
        return None
    text = part.get(field)
    if not isinstance(text, str):
        raise refused(number, f"part {place + 1} of its content has no {field}", f"/content/{place}/{field}")
    return text


def refusal_of(message: Mapping[str, Any]) -> str | None:
    """Return what an assistant said instead of a content: its refusal."""
    refusal = message.get("refusal")
    return refusal if isinstance(refusal, str) and message.get("content") is None else None


def time_of(message: Mapping[str, Any]) -> datetime | None:
    """Return a message's `created_at`, given as RFC 3339 or in seconds since 1970; None if there is none to read."""
    value = message.get("created_at")
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LATEST:
        return datetime.fromtimestamp(value, UTC)
    return None


def instructions_in(leading: Sequence[Any]) -> str:
    """Return the instructions that leading system messages are."""
    return "\n\n".join(content_of(number, message)[0] for number, message in enumerate(leading, 1))


def plain_system(instructions: str) -> list[dict[str, Any]]:
    """Return the system message of instructions; none if they are empty."""
    return [{"role": "system", "content": instructions}] if instructions else []


def message_extras(message: Mapping[str, Any], *, has_calls: bool) -> dict[str, Any]:
    """Return what a message says beyond an event's columns.

    A content of null is what a message with calls usually has and an empty text what one without calls has; the other
    way round it is kept.
    """
    extras = _others(message, _MESSAGE_FIELDS)
    if time_of(message) is not None:
        del extras["created_at"]
    if message["role"] == "developer":
        extras["role"] = "developer"
    content = message.get("content")
    if content is None and (not has_calls or refusal_of(message) is not None):
        extras["content"] = None
    if content == "" and has_calls:
        extras["content"] = ""
    return extras


def result_extras(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a tool message says beyond the result."""
    return _others(message, _RESULT_FIELDS)


def _others(given: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in known and value is not None and value != []}


def calls_of(number: int, message: Mapping[str, Any]) -> list[tuple[ToolCall, dict[str, Any]]]:
    """Return the calls of an assistant message, each with what it says beyond a call's columns."""
    given = message.get("tool_calls")
    if given is not None and not isinstance(given, list):
        raise refused(number, "its tool_calls must be a list", "/tool_calls")
    calls = [_call(number, place, call) for place, call in enumerate(given or ())]
    legacy = message.get("function_call")
    if legacy is not None:
        call, extras = _call(number, len(calls), {"type": "function", "function": legacy})
        calls.append((call, {"type": LEGACY_CALL, **extras}))
    return calls


def _call(number: int, place: int, call: Any) -> tuple[ToolCall, dict[str, Any]]:
    pointer, which = f"/tool_calls/{place}", f"tool call {place + 1}"
    kind = call.get("type", "function") if isinstance(call, Mapping) else None
    if not isinstance(kind, str) or kind not in _CALL_FIELDS or not isinstance(call.get(kind), Mapping):
        raise refused(number, f"{which} must be an object with a function or a custom tool and its type", pointer)
    body, field = call[kind], _CALL_FIELDS[kind]
    name = text_field(number, body, "name", what=which, pointer=f"{pointer}/{kind}/name", required=True)
    call_id = text_field(number, call, "id", what=which, pointer=f"{pointer}/id")
    arguments, was_text = as_text(body.get(field))
    extras = _others(call, frozenset({"id", "type", kind}))
    if kind != "function":
        extras["type"] = kind
    if more := _others(body, frozenset({"name", field})):
        extras["body"] = more
    return ToolCall(call_id, name, arguments, arguments_were_text=was_text), extras


def text_field(
    number: int, given: Mapping[str, Any], name: str, *, what: str = "it", pointer: str = "", required: bool = False
) -> str:
    """Return a field that is a text; one that may be missing or null is then empty."""
    value = given.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise refused(number, f"{what} needs a text as its {name}", pointer or f"/{name}")
    return value


def as_text(value: Any) -> tuple[str, bool]:
    """Return a value as text and whether it was one; anything else becomes its JSON text."""
    return (value, True) if isinstance(value, str) else (json.dumps(value, ensure_ascii=False), False)
