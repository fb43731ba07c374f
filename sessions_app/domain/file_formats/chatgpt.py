"""The export of ChatGPT, `conversations.json`: a list of conversations, each a tree of messages.

The path to the newest message is the session; edited questions and other answers become forks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
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
    object_of,
    short_id,
    short_title,
    text_of,
)
from sessions_app.domain.json_heads import first_object
from sessions_app.domain.json_streams import json_rows
from sessions_app.domain.message_trees import PathReader, kept_tree
from sessions_app.domain.openai_fields import RESULT_ONLY, time_of
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, ToolCall

ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
TOOL, TO_ALL = "tool", "all"
# Kinds of content that are what the model thought, and those that are never part of what was said.
THOUGHTS, UNSAID = ("thoughts", "reasoning_recap"), ("user_editable_context", "model_editable_context")
# Where the metadata of a session and of a run keep what has no place of their own.
OTHERS = "chatgpt"

_LATEST_SECOND = 253_402_300_799
_ABOUT = ("default_model_slug", "gizmo_id", "is_archived", "is_starred", "update_time")


def recognises(head: bytes, file_name: str) -> bool:  # noqa: ARG001 (the signature of the table)
    """Tell an export by the tree in its first conversation."""
    return isinstance(first_object(head).get("mapping"), Mapping)


@dataclass(slots=True)
class _Reading:
    """The messages of a conversation by their ids, and what was left out of them."""

    messages: Mapping[str, Mapping[str, Any]]
    left_out: int = 0

    def is_users(self, node: str) -> bool:
        return _role(self.messages[node]) == "user"

    def run(self, nodes: tuple[str, ...]) -> NewRun:
        draft = _Draft()
        for node in nodes:
            self.left_out += draft.read(node, self.messages[node])
        return draft.finished(nodes)


@dataclass(slots=True)
class _Draft:
    """A run in the making; `waiting` are the indexes of calls without a result."""

    events: list[Event] = field(default_factory=list)
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    waiting: list[int] = field(default_factory=list)
    model: str = ""

    def read(self, node: str, message: Mapping[str, Any]) -> int:
        """Read a message; return how many of its parts leave only a marked place."""
        text, left_out = _text(message)
        role, time = _role(message), _time(message.get("create_time"))
        self.model = text_of(object_of(message, "metadata"), "model_slug") or self.model
        if role == TOOL:
            self._answer(node, message, text, time)
        elif role == "assistant" and _kind(message) in THOUGHTS:
            self.events.append(Event(EventKind.REASONING, text, created_at=time))
        elif role == "assistant" and (name := text_of(message, "recipient")) not in ("", TO_ALL):
            self.waiting.append(self._call(ToolCall(node, name, text), time))
        else:
            self.events.append(Event(EventKind.MESSAGE, text, ROLES[role], created_at=time))
        return left_out

    def finished(self, nodes: Sequence[str]) -> NewRun:
        began = next((event.created_at for event in self.events if event.created_at), None)
        kept = {OTHERS: {"messages": list(nodes)}}
        return NewRun(tuple(self.events), model=self.model, metadata=kept, extras=self.extras, created_at=began)

    def _call(self, call: ToolCall, time: datetime | None) -> int:
        self.events.append(Event(EventKind.MESSAGE, role=Role.ASSISTANT, created_at=time))
        parent = len(self.events) - 1
        self.events.append(Event(EventKind.TOOL_CALL, tool=call, parent=parent, created_at=time))
        return parent + 1

    def _answer(self, node: str, message: Mapping[str, Any], text: str, time: datetime | None) -> None:
        """Give the newest waiting call its result; a result of none stands under an empty message, marked."""
        name = text_of(object_of(message, "author"), "name")
        if not self.waiting:
            index = self._call(ToolCall(node, name or TOOL, "", text), time)
            self.extras[str(index - 1)] = {RESULT_ONLY: True}
            return
        index = self.waiting.pop()
        event = self.events[index]
        if event.tool is not None:
            self.events[index] = replace(event, tool=replace(event.tool, result=text))


@refusing_depth
def conversation(given: Any) -> Conversation:
    """Read one conversation."""
    row = cleaned(given, "a conversation: an object with a mapping of messages")
    if not isinstance(row.get("mapping"), Mapping):
        raise InvalidInput("It has no mapping: an object with its messages is needed.")
    nodes = {name: _checked(name, node) for name, node in row["mapping"].items()}
    messages = {name: node["message"] for name, node in nodes.items() if isinstance(node.get("message"), Mapping)}
    kept = {name for name, message in messages.items() if _is_said(name, message)}
    parents = {name: text_of(node, "parent") or None for name, node in nodes.items()}
    order = {
        name: [child for child in items_of(node, "children") if isinstance(child, str)] for name, node in nodes.items()
    }
    tree, standing = kept_tree(parents, order, kept)
    reading = _Reading(messages)
    reader = PathReader(is_users=reading.is_users, read=reading.run)
    paths = tuple(reader.path(path) for path in tree.paths(standing.get(text_of(row, "current_node"))))
    if not paths:
        raise InvalidInput("It has no messages.")
    given_id = text_of(row, "conversation_id") or text_of(row, "id")
    title = text_of(row, "title").strip()
    about = {name: row[name] for name in _ABOUT if row.get(name) not in (None, False, "")}
    return Conversation(
        source_id=short_id(given_id) or hash_of(row),
        given_id=given_id,
        instructions="",
        runs=paths[0].runs,
        paths=paths,
        title=short_title(title) or first_words(paths[0].runs),
        metadata={OTHERS: about} if about else {},
        created_at=_time(row.get("create_time")),
        notes=(*cleaning_notes(given, row), *_notes(title, messages, kept, reading.left_out)),
    )


def _checked(name: str, node: Any) -> Mapping[str, Any]:
    if not isinstance(node, Mapping):
        raise InvalidInput(f"Message {name[:60]} must be an object with a message, a parent and children.")
    return node


def _is_said(name: str, message: Mapping[str, Any]) -> bool:
    """Whether a message is one of the conversation: not hidden, not empty; raises InvalidInput if nobody said it."""
    role = _role(message)
    if role not in (*ROLES, TOOL):
        raise InvalidInput(f"Message {name[:60]}: its author must have a role of {', '.join((*ROLES, TOOL))}.")
    is_hidden = object_of(message, "metadata").get("is_visually_hidden_from_conversation") is True
    if is_hidden or _kind(message) in UNSAID:
        return False
    return role in ("user", TOOL) or bool(_text(message)[0])


def _role(message: Mapping[str, Any]) -> str:
    return text_of(object_of(message, "author"), "role")


def _kind(message: Mapping[str, Any]) -> str:
    return text_of(object_of(message, "content"), "content_type")


def _text(message: Mapping[str, Any]) -> tuple[str, int]:
    """Return what a message says, and how many parts of it leave only a marked place."""
    content = object_of(message, "content")
    if _kind(message) in THOUGHTS:
        thoughts = [thought for thought in items_of(content, "thoughts") if isinstance(thought, Mapping)]
        return "\n\n".join(text_of(thought, "content") for thought in thoughts) or text_of(content, "content"), 0
    if "parts" not in content:
        return next((text for name in ("text", "result", "content") if (text := text_of(content, name))), ""), 0
    texts, left_out = [], 0
    for part in items_of(content, "parts"):
        said = (
            part if isinstance(part, str) else text_of(part, "text") if isinstance(part, Mapping) else json_text(part)
        )
        if isinstance(part, Mapping) and not said:
            left_out += 1
            said = f"[{text_of(part, 'content_type') or 'part'} not in the file]"
        texts.append(said)
    return "\n".join(texts), left_out


def _time(value: Any) -> datetime | None:
    """Return a time given in seconds or, where those would be beyond the year 9999, milliseconds since 1970."""
    if isinstance(value, int | float) and value > _LATEST_SECOND:
        value = value / 1000
    return time_of({"created_at": value})


def _notes(title: str, messages: Mapping[str, Mapping[str, Any]], kept: set[str], left_out: int) -> Iterator[str]:
    hidden = sum(
        bool(_text(message)[0]) or _kind(message) in UNSAID for name, message in messages.items() if name not in kept
    )
    if hidden:
        yield f"Hidden messages left out: {hidden}."
    if left_out:
        yield f"Images and files that the export does not hold leave a marked place: {left_out}."
    if short_title(title) != title:
        yield "The title was cut."


CHATGPT = FileFormat(
    name="chatgpt",
    label="ChatGPT export",
    files="JSON",
    about="conversations.json. The path to the newest message is the session; others become forks of it.",
    recognises=recognises,
    rows=json_rows,
    conversation=conversation,
)
