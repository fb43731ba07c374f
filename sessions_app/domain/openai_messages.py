"""OpenAI chat messages as runs: the one reading of that shape behind the API and imports.

What a message says beyond the columns of an event (a `name`, a refusal, unknown fields) stays in the run's extras,
keyed by the event's index, so that openai_writing gives the messages back. Fields that are null or an
empty list say nothing and are not kept, nor is a tool message's `name` when it is the name of the call it answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.openai_fields import (
    INSTRUCTIONS,
    LEGACY_CALL,
    MESSAGE_ROLES,
    RESULT,
    RESULT_ONLY,
    RESULT_ROLES,
    as_text,
    calls_of,
    content_of,
    instructions_in,
    message_extras,
    plain_system,
    refusal_of,
    refused,
    result_extras,
    role_of,
    text_field,
    time_of,
)
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, ToolCall


def conversation(messages: Sequence[Any]) -> tuple[str, list[NewRun]]:
    """Split a conversation into its instructions (the leading system messages) and its runs, all of them completed.

    Raises InvalidInput naming the first bad message by its number, from 1.
    """
    count = _count_leading(messages)
    runs = _Reader().read(messages[count:], first_number=count + 1).finished_runs()
    return _with_leading(messages[:count], runs)


def parted_conversation(messages: Sequence[Any], counts: Sequence[int]) -> tuple[str, list[NewRun]]:
    """Split a conversation of which is known how many messages each run has; those before are the instructions.

    A run may so have no messages, and a user message need not begin one.
    """
    end = len(messages) - sum(counts)
    leading, runs = messages[:end], []
    for count in counts:
        reader = _Reader(parts=False)
        runs.append(reader.read(messages[end : end + count], first_number=end + 1).drafts[0].finished())
        end += count
    return _with_leading(leading, runs)


def turn(messages: Sequence[Any]) -> NewRun:
    """Read the messages of one turn; a second turn, no message at all and leading instructions are refused."""
    return numbered_turn(messages)[0]


def numbered_turn(messages: Sequence[Any]) -> tuple[NewRun, Sequence[int]]:
    """Read the messages of one turn; with it comes for each event the number of its message, from 1 on."""
    if not messages:
        detail = "A turn has at least one message."
        raise InvalidInput(detail, errors=[FieldError("/messages", detail)])
    if _count_leading(messages):
        raise refused(1, "a turn cannot begin with a system message; instructions belong to the session", "/role")
    reader = _Reader().read(messages)
    if len(reader.drafts) > 1:
        detail = "a user message behind an answer opens a second turn, and each turn is a run of its own"
        raise refused(reader.drafts[1].first_number, detail, "/role")
    return reader.finished_runs()[0], reader.drafts[0].numbers


def simple_turn(input: str | None, output: str | None) -> NewRun:  # noqa: A002 (the words of the API)
    """Return the run of a question and its answer; None leaves a side out, an empty text is a message."""
    sides = (("user", input), ("assistant", output))
    return turn([{"role": role, "content": text} for role, text in sides if text is not None])


def _with_leading(leading: Sequence[Any], runs: list[NewRun]) -> tuple[str, list[NewRun]]:
    instructions = instructions_in(leading)
    if runs and list(leading) != plain_system(instructions):
        runs[0] = replace(runs[0], extras={INSTRUCTIONS: list(leading), **runs[0].extras})
    return instructions, runs


def _count_leading(messages: Sequence[Any]) -> int:
    for count, message in enumerate(messages):
        if MESSAGE_ROLES.get(role_of(count + 1, message)) is not Role.SYSTEM:
            return count
    return len(messages)


@dataclass(slots=True)
class _Draft:
    """A run in the making; `extras` by event index, `numbers` of the messages that the events came from."""

    first_number: int
    events: list[Event] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    extras: dict[int, dict[str, Any]] = field(default_factory=dict)

    def add(self, number: int, event: Event, extras: dict[str, Any] | None = None) -> int:
        index = len(self.events)
        self.events.append(event)
        self.numbers.append(number)
        if extras:
            self.extras[index] = extras
        return index

    def finished(self) -> NewRun:
        extras = {str(index): extras for index, extras in sorted(self.extras.items())}
        began = self.events[0].created_at if self.events else None
        return NewRun(events=tuple(self.events), extras=extras, created_at=began)


class _Reader:
    """Sorts messages into runs, into one if not `parts`; `waiting` has the places of open calls by id, oldest first."""

    def __init__(self, *, parts: bool = True) -> None:
        self.parts = parts
        self.drafts: list[_Draft] = [] if parts else [_Draft(1)]
        self.waiting: dict[str, list[tuple[_Draft, int]]] = {}

    def read(self, messages: Sequence[Any], *, first_number: int = 1) -> "_Reader":
        before = ""
        for number, message in enumerate(messages, first_number):
            role = role_of(number, message)
            if not self.drafts or (self.parts and role == "user" and before != "user"):
                self.drafts.append(_Draft(number))
            before = role
            if role in RESULT_ROLES:
                self._read_result(number, message)
            else:
                self._read_message(number, message, MESSAGE_ROLES[role])
        return self

    def finished_runs(self) -> list[NewRun]:
        return [draft.finished() for draft in self.drafts]

    def _read_message(self, number: int, message: Mapping[str, Any], role: Role) -> None:
        text, parts = content_of(number, message)
        calls = calls_of(number, message) if role is Role.ASSISTANT else []
        if role is Role.ASSISTANT and (refusal := refusal_of(message)) is not None:
            text, parts = refusal, ({"type": "refusal", "refusal": refusal},)
        draft, time = self.drafts[-1], time_of(message)
        event = Event(EventKind.MESSAGE, text, role, parts, created_at=time)
        parent = draft.add(number, event, message_extras(message, has_calls=bool(calls)))
        for tool, extras in calls:
            call = Event(EventKind.TOOL_CALL, tool=tool, parent=parent, created_at=time)
            index = draft.add(number, call, extras)
            self.waiting.setdefault(tool.call_id, []).append((draft, index))

    def _read_result(self, number: int, message: Mapping[str, Any]) -> None:
        call_id = text_field(number, message, "tool_call_id", required=message["role"] == "tool")
        name = text_field(number, message, "name")
        draft, index = self._take_waiting(call_id) or self._add_unknown_call(number, call_id, name, message)
        event = draft.events[index]
        called = event.tool or ToolCall(call_id, name, "")
        result, was_text = as_text(message.get("content"))
        draft.events[index] = replace(event, tool=replace(called, result=result, result_was_text=was_text))
        extras = result_extras(message)
        if extras.get("name") == called.name:
            del extras["name"]
        if extras:
            draft.extras.setdefault(index, {})[RESULT] = extras

    def _take_waiting(self, call_id: str) -> tuple[_Draft, int] | None:
        """Take the first unanswered call of this id in the nearest message that has one."""
        places = self.waiting.get(call_id)
        if not places:
            return None
        draft, newest = places[-1]
        parent = draft.events[newest].parent
        alike = (owner is draft and draft.events[index].parent == parent for owner, index in places)
        return places.pop(list(alike).index(True))

    def _add_unknown_call(self, number: int, call_id: str, name: str, message: Mapping[str, Any]) -> tuple[_Draft, int]:
        """Make place for a result whose call is not in the conversation: under an empty message, marked."""
        draft, time = self.drafts[-1], time_of(message)
        empty = Event(EventKind.MESSAGE, role=Role.ASSISTANT, created_at=time)
        parent = draft.add(number, empty, {RESULT_ONLY: True})
        call = Event(EventKind.TOOL_CALL, tool=ToolCall(call_id, name, ""), parent=parent, created_at=time)
        return draft, draft.add(number, call, {"type": LEGACY_CALL} if message["role"] == "function" else None)
