"""Sessions of chuk-ai-session-manager, as its stores write them: one in a file, or a list of them.

A session is a flat list of events, each of which may belong to a run by `task_id`. Here a user message begins a run, as
everywhere; what chuk's runs say stays in the session's metadata under `chuk`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.domain.conversation_files import Conversation, FileFormat, refusing_depth
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.foreign_files import (
    cleaned,
    cleaning_notes,
    count_in,
    hash_of,
    items_of,
    json_text,
    object_of,
    short_id,
    text_of,
    time_in,
)
from sessions_app.domain.json_heads import first_object
from sessions_app.domain.json_streams import json_rows
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.domain.openai_fields import as_text
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall, Usage

ROLES = {"user": Role.USER, "llm": Role.ASSISTANT, "system": Role.SYSTEM}
MESSAGE, CALL = "message", "tool_call"
ENDED = {"failed": RunStatus.FAILED, "cancelled": RunStatus.CANCELLED}
# Where the metadata keep what has no place of its own.
OTHERS = "chuk"

_KEPT = ("parent_id", "child_ids", "task_ids", "runs", "state", "token_summary")


def recognises(head: bytes, file_name: str) -> bool:  # noqa: ARG001 (the signature of the table)
    """Tell a session by its id, its events and what else every store writes with them."""
    first = first_object(head)
    return {"id", "metadata", "parent_id", "child_ids"} <= first.keys() and "messages" not in first


@dataclass(slots=True)
class _Draft:
    """A run in the making; `places` are the indexes of its messages by their ids in the file.

    `empty` is the index of the newest message that was added for calls which name none.
    """

    events: list[Event] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    empty: int | None = None
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)
    task_id: str = ""
    model: str = ""
    usage: Usage | None = None

    def add(self, event: Event, given: Mapping[str, Any]) -> int:
        index = len(self.events)
        self.events.append(event)
        self.task_id = text_of(given, "task_id") or self.task_id
        if kept := _kept_of(given):
            self.kept[str(index)] = kept
        self._count(given.get("token_usage"))
        return index

    def _count(self, used: Any) -> None:
        if isinstance(used, Mapping):
            before = self.usage or Usage()
            after = replace(
                before,
                input=min(before.input + count_in(used, "prompt_tokens"), LARGEST_INTEGER),
                output=min(before.output + count_in(used, "completion_tokens"), LARGEST_INTEGER),
            )
            self.usage, self.model = after, text_of(used, "model") or self.model

    def place_of_caller(self, given: Mapping[str, Any]) -> int:
        """Return the index of the assistant's message that made a call: the named one, else an empty one."""
        place = self.places.get(_parent_of(given))
        if place is not None and self.events[place].role is Role.ASSISTANT:
            return place
        newest = self.events[-1] if self.events else None
        if self.empty is not None and newest is not None and newest.tool and newest.parent == self.empty:
            return self.empty
        empty = Event(EventKind.MESSAGE, role=Role.ASSISTANT, created_at=time_in(given, "timestamp"))
        self.events.append(empty)
        self.empty = len(self.events) - 1
        return self.empty

    def finished(self, statuses: Mapping[str, RunStatus]) -> NewRun:
        status = statuses.get(self.task_id, RunStatus.COMPLETED)
        return NewRun(
            tuple(self.events),
            status,
            model=self.model,
            usage=self.usage,
            metadata={OTHERS: self.kept} if self.kept else {},
            created_at=next((event.created_at for event in self.events if event.created_at), None),
        )


@refusing_depth
def conversation(given: Any) -> Conversation:
    """Read one session."""
    row = cleaned(given, "a session: an object with an id and events")
    if "events" not in row:
        raise InvalidInput("It has no events: a list of them is needed.")
    events = [_checked(number, event) for number, event in enumerate(items_of(row, "events"), 1)]
    leading = _count_leading(events)
    about = object_of(row, "metadata")
    others = {name: row[name] for name in _KEPT if row.get(name) not in (None, [], {})}
    given_id = text_of(row, "id")
    return Conversation(
        source_id=short_id(given_id) or hash_of(row),
        given_id=given_id,
        parent_source_id=short_id(text_of(row, "parent_id")),
        instructions="\n\n".join(_text(event) for event in events[:leading]),
        runs=tuple(_runs(events[leading:], _statuses(row))),
        metadata={**object_of(about, "properties"), **({OTHERS: others} if others else {})},
        created_at=time_in(about, "created_at"),
        notes=tuple(cleaning_notes(given, row)),
    )


def _checked(number: int, event: Any) -> Mapping[str, Any]:
    if not isinstance(event, Mapping):
        raise InvalidInput(f"Event {number} must be an object with a message, a source and a type.")
    if event.get("type", MESSAGE) == MESSAGE and event.get("source", "llm") not in tuple(ROLES):
        raise InvalidInput(f"Event {number}: its source must be one of {', '.join(ROLES)}.")
    return event


def _count_leading(events: list[Mapping[str, Any]]) -> int:
    """Count the system messages in front, which are the instructions."""
    for count, event in enumerate(events):
        if event.get("type", MESSAGE) != MESSAGE or event.get("source") != "system":
            return count
    return len(events)


def _runs(events: list[Mapping[str, Any]], statuses: Mapping[str, RunStatus]) -> Iterator[NewRun]:
    draft, before = _Draft(), ""
    for given in events:
        kind, source = given.get("type", MESSAGE), given.get("source", "llm")
        speaker = source if kind == MESSAGE else str(kind)
        if speaker == "user" and before != "user" and draft.events:
            yield draft.finished(statuses)
            draft = _Draft()
        before = speaker
        _read(draft, kind, given)
    if draft.events:
        yield draft.finished(statuses)


def _read(draft: _Draft, kind: str, given: Mapping[str, Any]) -> None:
    time = time_in(given, "timestamp")
    if kind == MESSAGE:
        role = ROLES[given.get("source", "llm")]
        index = draft.add(Event(EventKind.MESSAGE, _text(given), role, created_at=time), given)
        if event_id := text_of(given, "id"):
            draft.places[event_id] = index
    elif kind == CALL:
        parent = draft.place_of_caller(given)
        draft.add(Event(EventKind.TOOL_CALL, tool=_call(given), parent=parent, created_at=time), given)
    else:
        draft.add(
            Event(
                EventKind.NOTE,
                _note_text(given),
                content=({"type": json_text(kind)},),
                parent=draft.places.get(_parent_of(given)),
                created_at=time,
            ),
            given,
        )


def _parent_of(given: Mapping[str, Any]) -> str:
    return text_of(object_of(given, "metadata"), "parent_event_id") or text_of(given, "parent_event_id")


def _text(given: Mapping[str, Any]) -> str:
    message = given.get("message")
    if isinstance(message, Mapping) and "content" in message:
        message = message["content"]
    return "" if message is None else json_text(message)


def _note_text(given: Mapping[str, Any]) -> str:
    message = given.get("message")
    if isinstance(message, Mapping) and "note" in message:
        return json_text(message["note"])
    return _text(given)


def _call(given: Mapping[str, Any]) -> ToolCall:
    message = given.get("message")
    said = message if isinstance(message, Mapping) else {"result": message}
    arguments, were_text = as_text(said.get("arguments", {}))
    result, was_text = as_text(said["result"]) if "result" in said else (None, True)
    error = said.get("error")
    return ToolCall(
        call_id=text_of(object_of(given, "metadata"), "call_id") or text_of(given, "id"),
        name=text_of(said, "tool_name") or text_of(said, "tool") or "unknown",
        arguments=arguments,
        result=result,
        error=json_text(error) if error else None,
        arguments_were_text=were_text,
        result_was_text=was_text,
    )


def _kept_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an event says beyond ours: its metadata, and a message that is more than its text."""
    kept = {name: given[name] for name in ("id", "metadata") if given.get(name)}
    message = given.get("message")
    if isinstance(message, Mapping) and message.keys() - {"content", "note"}:
        kept["message"] = message
    return kept


def _statuses(row: Mapping[str, Any]) -> dict[str, RunStatus]:
    runs = [run for run in items_of(row, "runs") if isinstance(run, Mapping)]
    return {text_of(run, "id"): ENDED[run["status"]] for run in runs if run.get("status") in tuple(ENDED)}


CHUK = FileFormat(
    name="chuk",
    label="chuk sessions",
    files="JSON",
    about="Sessions as its stores write them, one or a list. One whose parent came before it becomes a child.",
    recognises=recognises,
    rows=json_rows,
    conversation=conversation,
)
