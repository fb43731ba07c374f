"""What an event's texts become in a prompt: placeholders for empty ones, marks, legal names and arguments."""

import json
import re
from collections.abc import Mapping
from typing import Any

from sessions_app.domain.strict_json import is_shallow, refuse_constant, strict_json
from sessions_app.domain.transcript import Event, Role, Run, RunStatus, ToolCall

NO_ANSWER = "[no answer]"
EMPTY_MESSAGE = "[empty message]"
NO_RESULT = "[no result]"
INTERRUPTED = "[interrupted]"
ERROR = "[error] "
RAW_ARGUMENTS = "_raw"
UNNAMED_TOOL = "tool"
LONGEST_TOOL_NAME = 64

_ILLEGAL_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def is_blank(text: str) -> bool:
    """Whether a text has nothing to read in it."""
    return not text.strip()


def tool_name_as_sent(name: str) -> str:
    """Return a name that providers accept: letters, digits, underscore and hyphen, at most 64 of them."""
    return _ILLEGAL_IN_NAME.sub("_", name)[:LONGEST_TOOL_NAME] or UNNAMED_TOOL


def arguments_as_sent(arguments: str) -> str:
    """Return the arguments as they are if they are JSON, else as the `_raw` text of a JSON object."""
    return arguments if _is_json(arguments) else json.dumps({RAW_ARGUMENTS: arguments}, ensure_ascii=False)


def arguments_object(arguments: str) -> dict[str, Any]:
    """Return the arguments as the object that they are the JSON of, else with their text as `_raw`."""
    try:
        value = strict_json(arguments)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) and is_shallow(value) else {RAW_ARGUMENTS: arguments}


def json_text(value: Any) -> str:
    """Return the text by which an object inside a message is counted."""
    return json.dumps(value, ensure_ascii=False)


def result_as_sent(call: ToolCall) -> str:
    """Return the text that answers a call: its result, its marked error, both, or a placeholder."""
    result = "" if call.result is None or is_blank(call.result) else call.result
    error = f"{ERROR}{call.error}" if call.error else ""
    return "\n".join(filter(None, (result, error))) or NO_RESULT


def system_text_as_sent(text: str) -> str:
    """Return a system message that stands inside a run as marked user text."""
    return f"[system message]\n{text}"


def context_as_sent(text: str) -> str:
    """Return a context block as marked user text."""
    return f"[context]\n{text}"


def ending_as_sent(run: Run) -> str:
    """Return the mark behind what a run said that did not complete; empty for one that did."""
    if run.status is RunStatus.FAILED and not is_blank(run.error):
        return f"[failed: {run.error.strip()}]"
    return INTERRUPTED if run.status in (RunStatus.FAILED, RunStatus.CANCELLED) else ""


def message_parts(event: Event) -> list[str | Mapping[str, Any]]:
    """Return a message's texts and, for a user, its images, in order; what cannot be sent is named in brackets."""
    if event.content is None or all(part.get("type") == "text" for part in event.content):
        parts: list[str | Mapping[str, Any]] = [event.text]
    else:
        parts = [_part_as_sent(part, event.role) for part in event.content]
    if event.role is not Role.SYSTEM:
        return parts
    # Only a user's images are sent, so these are texts.
    return [part if is_blank(str(part)) else system_text_as_sent(str(part)) for part in parts]


def _part_as_sent(part: Mapping[str, object], role: Role | None) -> str | Mapping[str, Any]:
    kind = part.get("type")
    for key in ("text", "refusal"):
        if kind == key and isinstance(text := part.get(key), str):
            return text
    if kind == "image_url" and role is Role.USER and _is_image(part.get("image_url")):
        return {"type": "image_url", "image_url": part["image_url"]}
    return f"[{kind} not sent]"


def _is_image(image: object) -> bool:
    return isinstance(image, Mapping) and isinstance(image.get("url"), str) and bool(image["url"])


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=refuse_constant, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True
