"""A caller's own messages, into which the memory goes at an index, as Griptape inserts it; they are never touched."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.domain.as_sent import json_text
from sessions_app.domain.call_ids import unique_call_ids
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.pieces import Payload, Piece, Renderer, shown_text
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.prompt_formats.text import LABELS, PARAGRAPH_END
from sessions_app.domain.strict_json import TOO_DEEP, is_shallow
from sessions_app.domain.tokens import TokenCounter

ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Base:
    """Messages in OpenAI's form; the memory goes in before `index`, which counts as Python's, None: behind the last."""

    messages: Sequence[Mapping[str, Any]]
    index: int | None = None

    def around(self, memory: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """Return what stands for the base's messages with the memory inside."""
        index = len(given) if self.index is None else self.index
        return [*given[:index], *memory, *given[index:]]


def check_base(base: Base, prompt_format: PromptFormat) -> None:
    """Refuse a base in a format that takes none, and messages that are none."""
    if prompt_format not in _PIECES:
        detail = f"A base goes with the formats {' and '.join(_PIECES)}, not with {prompt_format}."
        raise InvalidInput(detail, errors=[FieldError("/base", detail)])
    errors = [
        FieldError(f"/base/messages/{place}/{pointer}", detail)
        for place, message in enumerate(base.messages)
        for pointer, detail in _faults(message)
    ]
    if errors:
        raise InvalidInput(errors[0].detail, errors=errors)


def base_pieces(base: Base | None, prompt_format: PromptFormat, counter: TokenCounter) -> list[Piece]:
    """Return the base's messages, counted as they are sent."""
    return [_PIECES[prompt_format](message, counter) for message in base.messages] if base else []


def payload_around(
    renderer: Renderer, base: Base, given: Sequence[Piece], *, memory: Sequence[Piece], tail: Sequence[Piece]
) -> Payload:
    """Return what is sent: the base with the memory inside, then the tail; calls of the memory get ids of their own."""
    ours = renderer.payload([*memory, *tail])
    if ours.messages is None:
        return renderer.payload([*base.around(memory, given), *tail])
    messages = _with_other_ids(ours.messages, [call["id"] for piece in given for call in _calls(piece.message)])
    sent = base.around(messages[: len(memory)], [piece.message for piece in given])
    return replace(ours, messages=(*sent, *messages[len(memory) :]))


def _with_other_ids(messages: Sequence[Mapping[str, Any]], taken: Sequence[str]) -> list[Mapping[str, Any]]:
    ids = [call["id"] for message in messages for call in _calls(message)]
    new = dict(zip(ids, unique_call_ids([*taken, *ids])[len(taken) :], strict=True))
    renamed: list[Mapping[str, Any]] = []
    for message in messages:
        if _calls(message):
            renamed.append({**message, "tool_calls": [call | {"id": new[call["id"]]} for call in _calls(message)]})
        elif "tool_call_id" in message:
            renamed.append({**message, "tool_call_id": new[message["tool_call_id"]]})
        else:
            renamed.append(message)
    return renamed


def _faults(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not is_shallow(message):
        yield "content", TOO_DEEP
    if message.get("role") not in ROLES:
        yield "role", f"The role is one of {', '.join(ROLES)}."
    content = message.get("content")
    is_list = isinstance(content, list) and all(isinstance(part, Mapping) for part in content)
    if not (content is None or isinstance(content, str) or is_list):
        yield "content", "The content is a text, a list of parts or null."
    calls = message.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(map(_is_call, calls))):
        yield "tool_calls", "A tool call has an id, and a function with a name and arguments, all of them texts."


def _is_call(call: object) -> bool:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping):
        return False
    return all(isinstance(text, str) for text in (call.get("id"), function.get("name"), function.get("arguments")))


def _calls(message: Mapping[str, Any]) -> list[Any]:
    return message.get("tool_calls") or []


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _openai_piece(message: Mapping[str, Any], counter: TokenCounter) -> Piece:
    parts = _parts(message)
    images = sum(part.get("type") == "image_url" for part in parts)
    texts = [_text_of(part) for part in parts if part.get("type") != "image_url"]
    calls = tuple((call["function"]["name"], call["function"]["arguments"]) for call in _calls(message))
    tokens = counter.scaled(counter.message(message["role"], texts, calls=calls, images=images))
    shown = shown_text(texts, images)
    return Piece(message, (Segment(Part.CONTEXT, message["role"], shown, tokens, calls=calls),))


def _text_of(part: Mapping[str, Any]) -> str:
    return part["text"] if isinstance(part.get("text"), str) else json_text(part)


def _text_piece(message: Mapping[str, Any], counter: TokenCounter) -> Piece:
    texts = [part["text"] for part in _parts(message) if isinstance(part.get("text"), str)]
    text = "\n\n".join(texts)
    paragraph = LABELS.get(message["role"], "") + text + PARAGRAPH_END
    segment = Segment(Part.CONTEXT, message["role"], text, counter.scaled(counter.text(paragraph)))
    return Piece({"role": message["role"], "content": paragraph}, (segment,))


_PIECES: Mapping[PromptFormat, Callable[[Mapping[str, Any], TokenCounter], Piece]] = {
    PromptFormat.OPENAI: _openai_piece,
    PromptFormat.TEXT: _text_piece,
}
