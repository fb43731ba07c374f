"""Anthropic's messages: the system text beside them, tool results first in the user's message behind their calls.

Counted as messages of content blocks: 3, the role, and every text, that of results too; a tool use its name, its input
as JSON and 8; thinking by every text in it, the signature too. The system text is a message of the role system.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sessions_app.domain.as_sent import arguments_object, is_blank, json_text, result_as_sent, tool_name_as_sent
from sessions_app.domain.call_ids import unique_call_ids
from sessions_app.domain.images import NOT_SENT, image_of
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.opaque_parts import opaque_parts
from sessions_app.domain.pieces import (
    Head,
    Payload,
    Piece,
    Tail,
    system_apart,
    system_pieces,
    weighed_piece,
)
from sessions_app.domain.plan import Part
from sessions_app.domain.tokens import PROMPT_FRAME, TokenCounter
from sessions_app.domain.transcript import Event, Run, ToolCall
from sessions_app.domain.turn_segments import SentTurn, turn_segments
from sessions_app.domain.turns import (
    OpaquePart,
    Turn,
    TurnPart,
    left_out_of_turns,
    render_turns_of_tail,
    run_turns,
    with_results,
)

MEDIA_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
# What makes a block of thinking whole, by its type, besides the type itself.
THINKING = {"thinking": {"thinking", "signature"}, "redacted_thinking": {"data"}}


def overhead(counter: TokenCounter) -> int:
    """Return the frame of a prompt."""
    return counter.scaled(PROMPT_FRAME)


def render_head(head: Head, counter: TokenCounter) -> list[Piece]:
    """Render the system text, if there is anything to say."""
    return system_pieces(head, counter)


def render_run(run: Run, counter: TokenCounter) -> list[Piece]:
    """Render a finished run so that it starts with the user and ends with the assistant."""
    return _pieces(run_turns(run, _thinking), Part.RUNS, run.position, counter=counter)


def render_tail(tail: Tail, counter: TokenCounter) -> list[Piece]:
    """Render context blocks inside the message of the query or of the open run's input."""
    return render_turns_of_tail(tail, partial(_pieces, counter=counter), _thinking)


def left_out(run: Run) -> str:
    """Say which notes and which reasoning are not sent, and of an open run what follows its last finished step."""
    return left_out_of_turns(run, _thinking)


def payload(pieces: Sequence[Piece]) -> Payload:
    """Return the messages, with legal and unique ids on both sides of a call, and the system text."""
    system, messages = system_apart(pieces)
    blocks = [block for message in messages for block in message["content"]]
    new_ids = unique_call_ids([block["id"] for block in blocks if block["type"] == "tool_use"])
    ids = {"id": iter(new_ids), "tool_use_id": iter(new_ids)}
    named = tuple(
        {**message, "content": [_with_id(block, ids) for block in message["content"]]} for message in messages
    )
    return Payload(messages=named, system=system)


def _with_id(block: Mapping[str, Any], ids: Mapping[str, Iterator[str]]) -> dict[str, Any]:
    field = {"tool_use": "id", "tool_result": "tool_use_id"}.get(block["type"])
    return {**block, field: next(ids[field])} if field else dict(block)


def _thinking(event: Event) -> Iterator[Mapping[str, Any]]:
    """Yield the thinking that may be sent back: whole blocks, since one without its signature is refused."""
    for part in opaque_parts(event, PromptFormat.ANTHROPIC):
        fields = THINKING.get(str(part.get("type")))
        if fields and set(part) == {"type", *fields} and all(isinstance(part[field], str) for field in fields):
            seal = part["signature" if "signature" in fields else "data"]
            if not is_blank(seal):
                yield part


def _pieces(turns: Sequence[Turn], part: Part, position: int | None, *, counter: TokenCounter) -> list[Piece]:
    return [_piece(turn, part, position, counter) for turn in with_results(turns)]


def _piece(turn: Turn, part: Part, position: int | None, counter: TokenCounter) -> Piece:
    blocks, calls = [*map(_block, turn.blocks())], [*map(_tool_use, turn.calls)]
    message = {"role": turn.speaker, "content": [*map(_tool_result, turn.results), *blocks, *calls]}
    sent = SentTurn(
        role=turn.speaker,
        speaker=turn.speaker,
        results=[(text, [text]) for text in map(result_as_sent, turn.results)],
        opaque=[block for block in blocks if block["type"] in THINKING],
        texts=[block["text"] for block in blocks if block["type"] == "text"],
        images=sum(block["type"] == "image" for block in blocks),
        calls=tuple((block["name"], json_text(block["input"])) for block in calls),
    )
    return weighed_piece(message, turn_segments(sent, part, position, counter), counter)


def _block(part: TurnPart) -> Mapping[str, Any]:
    if isinstance(part, OpaquePart):
        return part.part
    return {"type": "text", "text": part} if isinstance(part, str) else _image(part)


def _image(part: Mapping[str, Any]) -> dict[str, Any]:
    image = image_of(part)
    if image is not None and image.url:
        return {"type": "image", "source": {"type": "url", "url": image.url}}
    if image is not None and image.media_type in MEDIA_TYPES:
        return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}}
    return {"type": "text", "text": NOT_SENT}


def _tool_use(call: ToolCall) -> dict[str, Any]:
    name, arguments = tool_name_as_sent(call.name), arguments_object(call.arguments)
    return {"type": "tool_use", "id": call.call_id, "name": name, "input": arguments}


def _tool_result(call: ToolCall) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": call.call_id, "content": result_as_sent(call)}
    return {**result, "is_error": True} if call.error else result
