"""The export of Claude, `conversations.json`: a list of conversations with their messages.

Messages that name their parents are a tree: the path to the last message of the list is the session, others are forks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.domain.conversation_files import Conversation, FileFormat, refusing_depth
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.foreign_files import (
    cleaned,
    cleaning_notes,
    first_words,
    hash_of,
    items_of,
    json_text,
    short_id,
    short_title,
    text_of,
    time_in,
)
from sessions_app.domain.json_heads import first_object
from sessions_app.domain.json_streams import json_rows
from sessions_app.domain.message_trees import PathReader, kept_tree
from sessions_app.domain.openai_fields import as_text
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, ToolCall

ROLES = {"human": Role.USER, "assistant": Role.ASSISTANT}
PARENT, ROOT = "parent_message_uuid", "00000000-0000-4000-8000-000000000000"
# Where the metadata of a run keep the ids of its messages.
OTHERS = "claude_ai"


def recognises(head: bytes, file_name: str) -> bool:  # noqa: ARG001 (the signature of the table)
    """Tell an export by the messages of its first conversation."""
    return isinstance(first_object(head).get("chat_messages"), list)


@dataclass(slots=True)
class _Draft:
    """A run in the making; `calls` are the indexes of its calls by their ids."""

    events: list[Event] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)

    def read(self, message: Mapping[str, Any]) -> None:
        role, time = ROLES[message["sender"]], time_in(message, "created_at")
        start = len(self.events)
        parts = [part for part in items_of(message, "content") if isinstance(part, Mapping)]
        for part in parts:
            kind = text_of(part, "type")
            if kind == "thinking":
                self.events.append(Event(EventKind.REASONING, text_of(part, "thinking"), created_at=time))
            elif kind == "tool_use":
                self._call(part, start, message)
            elif kind == "tool_result":
                self._answer(part)
        said = [text_of(part, "text") for part in parts if text_of(part, "type") == "text"]
        texts = [text for text in said if text] or [text for text in (text_of(message, "text"),) if text]
        texts += _attached(message)
        if texts or len(self.events) == start:
            self.events.append(Event(EventKind.MESSAGE, "\n\n".join(texts), role, created_at=time))

    def _call(self, part: Mapping[str, Any], start: int, message: Mapping[str, Any]) -> None:
        time = time_in(message, "created_at")
        newest = next((place for place in range(len(self.events) - 1, start - 1, -1) if self._is_caller(place)), None)
        if newest is None:
            newest = len(self.events)
            self.events.append(Event(EventKind.MESSAGE, role=Role.ASSISTANT, created_at=time))
        arguments, were_text = as_text(part.get("input", {}))
        call = ToolCall(text_of(part, "id"), text_of(part, "name") or "unknown", arguments, None, None, were_text)
        self.calls[call.call_id] = len(self.events)
        self.events.append(Event(EventKind.TOOL_CALL, tool=call, parent=newest, created_at=time))

    def _is_caller(self, place: int) -> bool:
        return self.events[place].role is Role.ASSISTANT

    def _answer(self, part: Mapping[str, Any]) -> None:
        place = self.calls.get(text_of(part, "tool_use_id"))
        if place is not None and (tool := self.events[place].tool) is not None:
            result, was_text = as_text(part.get("content"))
            self.events[place] = replace(
                self.events[place], tool=replace(tool, result=result, result_was_text=was_text)
            )

    def finished(self, ids: Sequence[str]) -> NewRun:
        began = next((event.created_at for event in self.events if event.created_at), None)
        return NewRun(tuple(self.events), metadata={OTHERS: {"messages": list(ids)}}, created_at=began)


@refusing_depth
def conversation(given: Any) -> Conversation:
    """Read one conversation."""
    row = cleaned(given, "a conversation: an object with chat_messages")
    if "chat_messages" not in row:
        raise InvalidInput("It has no chat_messages: a list of them is needed.")
    listed = [_checked(number, message) for number, message in enumerate(items_of(row, "chat_messages"), 1)]
    if not listed:
        raise InvalidInput("It has no messages.")
    messages = {_id_of(number, message): message for number, message in enumerate(listed, 1)}
    if len(messages) < len(listed):
        raise InvalidInput("Two of its messages have the same uuid.")
    tree, _ = kept_tree(_parents(messages), {}, messages)
    reader = PathReader(
        is_users=lambda name: messages[name]["sender"] == "human", read=lambda names: _run(names, messages)
    )
    paths = tuple(reader.path(path) for path in tree.paths(next(reversed(messages))))
    given_id, title = text_of(row, "uuid"), text_of(row, "name").strip()
    return Conversation(
        source_id=short_id(given_id) or hash_of(row),
        given_id=given_id,
        instructions="",
        runs=paths[0].runs,
        paths=paths,
        title=short_title(title) or first_words(paths[0].runs),
        created_at=time_in(row, "created_at"),
        notes=tuple(cleaning_notes(given, row)),
    )


def _checked(number: int, message: Any) -> Mapping[str, Any]:
    if not isinstance(message, Mapping):
        raise InvalidInput(f"Message {number} must be an object with a sender and a text.")
    if message.get("sender") not in tuple(ROLES):
        raise InvalidInput(f"Message {number}: its sender must be one of {', '.join(ROLES)}.")
    return message


def _id_of(number: int, message: Mapping[str, Any]) -> str:
    return text_of(message, "uuid") or f"message {number}"


def _parents(messages: Mapping[str, Mapping[str, Any]]) -> dict[str, str | None]:
    """Return the parents as they are named; where none is, each message follows the one before it."""
    if any(text_of(message, PARENT) for message in messages.values()):
        named = {name: text_of(message, PARENT) for name, message in messages.items()}
        return {name: None if parent in ("", ROOT) else parent for name, parent in named.items()}
    names = list(messages)
    return dict(zip(names, (None, *names[:-1]), strict=True))


def _run(names: Sequence[str], messages: Mapping[str, Mapping[str, Any]]) -> NewRun:
    draft = _Draft()
    for name in names:
        draft.read(messages[name])
    return draft.finished(names)


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    """Say what is attached: the texts that were taken out of files, and the names of files without one."""
    for attachment in items_of(message, "attachments"):
        if isinstance(attachment, Mapping):
            text = json_text(attachment.get("extracted_content") or "")
            yield f"[{text_of(attachment, 'file_name') or 'attachment'}]\n{text}".strip()
    for file in items_of(message, "files"):
        if isinstance(file, Mapping):
            yield f"[{text_of(file, 'file_name') or 'file'} not in the file]"


CLAUDE_AI = FileFormat(
    name="claude_ai",
    label="Claude export",
    files="JSON",
    about="conversations.json. Texts of attachments are part of the message; other files leave a marked place.",
    recognises=recognises,
    rows=json_rows,
    conversation=conversation,
)
