"""Runs as OpenAI chat messages again, with everything that openai_messages kept of them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessions_app.domain.openai_fields import (
    INSTRUCTIONS,
    LEGACY_CALL,
    RESULT,
    RESULT_ONLY,
    instructions_in,
    plain_system,
)
from sessions_app.domain.transcript import Event, EventKind, NewRun, ToolCall

Call = tuple[ToolCall, dict[str, Any]]


def to_messages(runs: Iterable[NewRun], *, instructions: str = "") -> list[dict[str, Any]]:
    """Return the messages that these runs and instructions were read from; notes and reasoning have no place there.

    Results stand right behind the message that made their calls, in the order of the calls.
    """
    leading = plain_system(instructions)
    messages: list[dict[str, Any]] = []
    for run in runs:
        leading = run.extras.get(INSTRUCTIONS, leading)
        messages.extend(run_messages(run))
    return [*leading, *messages]


def leading_messages(instructions: str, first: NewRun | None) -> list[dict[str, Any]]:
    """Return the messages that instructions were read from, which a first run has kept if they were not plain.

    A fork, or a change since, may have other instructions than those.
    """
    kept = first.extras.get(INSTRUCTIONS, ()) if first else ()
    return list(kept) if kept and instructions_in(kept) == instructions else plain_system(instructions)


def run_messages(run: NewRun) -> Iterator[dict[str, Any]]:
    """Yield the messages of one run."""
    extras = run.extras
    calls: dict[int | None, list[Call]] = defaultdict(list)
    for index, event in enumerate(run.events):
        if event.tool is not None:
            calls[event.parent].append((event.tool, dict(extras.get(str(index), {}))))
    for index, event in enumerate(run.events):
        if event.kind is EventKind.MESSAGE:
            yield from _message_and_results(event, dict(extras.get(str(index), {})), calls[index])


def _message_and_results(event: Event, extras: dict[str, Any], calls: list[Call]) -> Iterator[dict[str, Any]]:
    if not extras.pop(RESULT_ONLY, False):
        yield _message(event, extras, calls)
    for call, call_extras in calls:
        if call.result is not None:
            yield _result(call, call_extras)


def _message(event: Event, extras: Mapping[str, Any], calls: list[Call]) -> dict[str, Any]:
    content: Any = event.text if event.content is None else [dict(part) for part in event.content]
    message: dict[str, Any] = {"role": str(event.role), "content": (content or None) if calls else content}
    if event.created_at is not None:
        message["created_at"] = event.created_at.isoformat()
    if tool_calls := [_call(call, more) for call, more in calls if more.get("type") != LEGACY_CALL]:
        message["tool_calls"] = tool_calls
    for call, more in calls:
        if more.get("type") == LEGACY_CALL:
            message["function_call"] = {"name": call.name, "arguments": _arguments(call), **more.get("body", {})}
    return {**message, **extras}


def _call(call: ToolCall, extras: Mapping[str, Any]) -> dict[str, Any]:
    kind = extras.get("type", "function")
    field = "input" if kind == "custom" else "arguments"
    others = {name: value for name, value in extras.items() if name not in ("type", "body", RESULT)}
    body = {"name": call.name, field: _arguments(call), **extras.get("body", {})}
    return {"id": call.call_id, "type": kind, kind: body, **others}


def _result(call: ToolCall, extras: Mapping[str, Any]) -> dict[str, Any]:
    content = call.result if call.result_was_text or call.result is None else json.loads(call.result)
    who: dict[str, Any] = {"role": "tool", "tool_call_id": call.call_id}
    if extras.get("type") == LEGACY_CALL:
        who = {"role": "function", "name": call.name}
    return {**who, "content": content, **extras.get(RESULT, {})}


def _arguments(call: ToolCall) -> Any:
    return call.arguments if call.arguments_were_text else json.loads(call.arguments)
