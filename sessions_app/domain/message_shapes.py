"""Messages of any provider's format read back as the same parts, so that one check can judge them all."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sessions_app.domain.memory_settings import PromptFormat

REASONING_TYPES = frozenset({"reasoning", "thinking", "redacted_thinking"})


class Kind(StrEnum):
    """What a part of a message is."""

    TEXT = "text"
    CALL = "call"
    RESULT = "result"
    REASONING = "reasoning"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message; `text` is that of a text or a result, `raw` the part as it is sent, maybe of odd types."""

    kind: Kind
    raw: Mapping[str, Any]
    text: str = ""
    call_id: Any = None
    name: Any = None
    arguments: Any = None


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """A message at its index; `role` is system, user, assistant or tool, or what else it says it is; empty if no text.

    `is_message` is false for an item of Responses that is a call, an output or reasoning.
    """

    index: int
    role: str
    parts: tuple[MessagePart, ...]
    raw: Mapping[str, Any]
    is_message: bool = True

    def of(self, kind: Kind) -> list[MessagePart]:
        """Return the parts of a kind."""
        return [part for part in self.parts if part.kind is kind]


def read_messages(messages: Sequence[Mapping[str, Any]], format: PromptFormat) -> list[ReadMessage]:  # noqa: A002
    """Read the messages of one of the providers' formats."""
    read = _READERS[format]
    return [read(index, _mapping(message)) for index, message in enumerate(messages)]


def _openai(index: int, message: Mapping[str, Any]) -> ReadMessage:
    role, parts = _text(message.get("role")), list(_content(message.get("content")))
    if role == "tool":
        text = "\n".join(part.text for part in parts)
        parts = [MessagePart(Kind.RESULT, message, text=text, call_id=message.get("tool_call_id"))]
    for call in map(_mapping, _list(message.get("tool_calls"))):
        function = _mapping(call.get("function"))
        name, arguments = function.get("name"), function.get("arguments")
        parts.append(MessagePart(Kind.CALL, call, call_id=call.get("id"), name=name, arguments=arguments))
    return ReadMessage(index, role, tuple(parts), message)


def _responses(index: int, item: Mapping[str, Any]) -> ReadMessage:
    call_id = item.get("call_id")
    match item.get("type", "message"):
        case "message":
            return ReadMessage(index, _text(item.get("role")), tuple(_content(item.get("content"))), item)
        case "function_call":
            name, arguments = item.get("name"), item.get("arguments")
            call = MessagePart(Kind.CALL, item, call_id=call_id, name=name, arguments=arguments)
            return _item(index, item, "assistant", call)
        case "function_call_output":
            result = MessagePart(Kind.RESULT, item, text=str(item.get("output", "")), call_id=call_id)
            return _item(index, item, "tool", result)
        case "reasoning":
            return _item(index, item, "assistant", MessagePart(Kind.REASONING, item))
    return _item(index, item, _text(item.get("type")), MessagePart(Kind.OTHER, item))


def _item(index: int, item: Mapping[str, Any], role: str, part: MessagePart) -> ReadMessage:
    return ReadMessage(index, role, (part,), item, is_message=False)


def _anthropic(index: int, message: Mapping[str, Any]) -> ReadMessage:
    return ReadMessage(index, _text(message.get("role")), tuple(_content(message.get("content"))), message)


def _gemini(index: int, content: Mapping[str, Any]) -> ReadMessage:
    role = "assistant" if content.get("role") == "model" else _text(content.get("role"))
    return ReadMessage(index, role, tuple(map(_gemini_part, map(_mapping, _list(content.get("parts"))))), content)


def _gemini_part(part: Mapping[str, Any]) -> MessagePart:
    if call := _mapping(part.get("functionCall")):
        return MessagePart(Kind.CALL, part, call_id=call.get("id"), name=call.get("name"))
    if response := _mapping(part.get("functionResponse")):
        text = " ".join(map(str, _mapping(response.get("response")).values()))
        return MessagePart(Kind.RESULT, part, text=text, call_id=response.get("id"), name=response.get("name"))
    if part.get("thought"):
        return MessagePart(Kind.REASONING, part)
    return MessagePart(Kind.TEXT, part, text=str(part["text"])) if "text" in part else MessagePart(Kind.OTHER, part)


def _content(content: Any) -> Iterator[MessagePart]:
    """Read a content in the words of OpenAI and Anthropic: a text, or parts with a type."""
    if isinstance(content, str):
        yield MessagePart(Kind.TEXT, {"text": content}, text=content)
    for part in map(_mapping, _list(content)):
        kind = part.get("type")
        if kind in ("text", "input_text", "output_text"):
            yield MessagePart(Kind.TEXT, part, text=str(part.get("text", "")))
        elif kind == "tool_use":
            yield MessagePart(Kind.CALL, part, call_id=part.get("id"), name=part.get("name"))
        elif kind == "tool_result":
            text = "\n".join(each.text for each in _content(part.get("content")))
            yield MessagePart(Kind.RESULT, part, text=text, call_id=part.get("tool_use_id"))
        else:
            yield MessagePart(Kind.REASONING if kind in REASONING_TYPES else Kind.OTHER, part)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


_READERS: Mapping[PromptFormat, Callable[[int, Mapping[str, Any]], ReadMessage]] = {
    PromptFormat.OPENAI: _openai,
    PromptFormat.RESPONSES: _responses,
    PromptFormat.ANTHROPIC: _anthropic,
    PromptFormat.GEMINI: _gemini,
}
PROVIDER_FORMATS = tuple(_READERS)
