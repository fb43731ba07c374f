"""The input items of OpenAI's Responses: messages, function calls, their outputs, and reasoning that can be read again.

Every item counts 3, its role if it has one, and its texts; a function call its name, its arguments and 8 besides,
reasoning every text in it. Items carry no ids: they are legal without, and with them only where OpenAI has stored them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

from sessions_app.domain.as_sent import arguments_as_sent, is_blank, result_as_sent, tool_name_as_sent
from sessions_app.domain.call_ids import unique_call_ids
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.opaque_parts import opaque_parts, readable_text, texts_in
from sessions_app.domain.pieces import Head, Payload, Piece, Tail, shown_text, system_pieces, weighed_piece
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.tokens import MESSAGE_FRAME, PROMPT_FRAME, TokenCounter
from sessions_app.domain.transcript import Event, Run, ToolCall
from sessions_app.domain.turn_segments import REASONING
from sessions_app.domain.turns import (
    ASSISTANT,
    TOOL,
    OpaquePart,
    Turn,
    left_out_of_turns,
    render_turns_of_tail,
    run_turns,
)

CALL = "function_call"
OUTPUT = "function_call_output"


def overhead(counter: TokenCounter) -> int:
    """Return the frame of a prompt."""
    return counter.scaled(PROMPT_FRAME)


def render_head(head: Head, counter: TokenCounter) -> list[Piece]:
    """Render one system message, or none if there is nothing to say."""
    return system_pieces(head, counter)


def render_run(run: Run, counter: TokenCounter) -> list[Piece]:
    """Render a finished run so that it starts with the user and ends with the assistant."""
    return _pieces(run_turns(run, _reasoning), Part.RUNS, run.position, counter=counter)


def render_tail(tail: Tail, counter: TokenCounter) -> list[Piece]:
    """Render context blocks inside the message of the query or of the open run's input."""
    return render_turns_of_tail(tail, partial(_pieces, counter=counter), _reasoning)


def left_out(run: Run) -> str:
    """Say which notes and which reasoning are not sent, and of an open run what follows its last finished step."""
    return left_out_of_turns(run, _reasoning)


def payload(pieces: Sequence[Piece]) -> Payload:
    """Return the items with call ids that are legal and unique in this prompt, on both sides of a call."""
    items = [dict(piece.message) for piece in pieces]
    new_ids = unique_call_ids([item["call_id"] for item in items if item.get("type") == CALL])
    ids = {CALL: iter(new_ids), OUTPUT: iter(new_ids)}
    for item in items:
        if item.get("type") in ids:
            item["call_id"] = next(ids[item["type"]])
    return Payload(messages=tuple(items))


def _reasoning(event: Event) -> Iterator[Mapping[str, Any]]:
    """Yield the reasoning that may be sent back: with its encrypted content, without the id of a stored item."""
    for part in opaque_parts(event, PromptFormat.RESPONSES):
        content, summary = part.get("encrypted_content"), part.get("summary", [])
        if part.get("type") == REASONING and isinstance(content, str) and not is_blank(content):
            yield {"type": REASONING, "summary": summary if _is_summary(summary) else [], "encrypted_content": content}


def _is_summary(summary: object) -> bool:
    return isinstance(summary, list) and all(
        isinstance(item, Mapping) and item.get("type") == "summary_text" and isinstance(item.get("text"), str)
        for item in summary
    )


def _pieces(turns: Sequence[Turn], part: Part, position: int | None, *, counter: TokenCounter) -> list[Piece]:
    pieces = []
    for turn in turns:
        shown = [*_said(turn), *map(_called, turn.calls), *map(_answered, turn.calls)]
        pieces += [
            weighed_piece(
                item, [Segment(part, role, text, _raw(item, counter), position=position, calls=calls)], counter
            )
            for item, role, text, calls in shown
        ]
    return pieces


Shown = tuple[dict[str, Any], str, str, tuple[tuple[str, str], ...]]
"""An item, and the role, text and calls by which it is shown."""


def _said(turn: Turn) -> Iterator[Shown]:
    """Yield a user's turn as one message; an assistant's as messages with the reasoning that led to each."""
    blocks = turn.blocks()
    if turn.speaker != ASSISTANT:
        yield _message(turn, blocks)
        return
    for block, following in zip_longest(blocks, blocks[1:]):
        if isinstance(block, str):
            yield {"role": ASSISTANT, "content": block}, ASSISTANT, block, ()
        elif isinstance(block, OpaquePart) and not isinstance(following, OpaquePart):
            # Two in a row would leave the first without the item that must follow it.
            yield dict(block.part), REASONING, readable_text(block.part), ()


def _message(turn: Turn, blocks: Sequence[Any]) -> Shown:
    if not turn.images:
        (text,) = blocks
        return {"role": turn.speaker, "content": text}, turn.speaker, text, ()
    content = [{"type": "input_text", "text": block} if isinstance(block, str) else _image(block) for block in blocks]
    shown = shown_text(turn.texts, len(turn.images))
    return {"role": turn.speaker, "content": content}, turn.speaker, shown, ()


def _image(part: Mapping[str, Any]) -> dict[str, Any]:
    detail = part["image_url"].get("detail")
    image = {"type": "input_image", "image_url": part["image_url"]["url"]}
    return {**image, "detail": detail} if detail in ("low", "high", "auto") else image


def _called(call: ToolCall) -> Shown:
    name, arguments = tool_name_as_sent(call.name), arguments_as_sent(call.arguments)
    item = {"type": CALL, "call_id": call.call_id, "name": name, "arguments": arguments}
    return item, ASSISTANT, "", ((name, arguments),)


def _answered(call: ToolCall) -> Shown:
    text = result_as_sent(call)
    return {"type": OUTPUT, "call_id": call.call_id, "output": text}, TOOL, text, ()


def _raw(item: Mapping[str, Any], counter: TokenCounter) -> int:
    match item.get("type"):
        case "function_call":
            return MESSAGE_FRAME + counter.call(item["name"], item["arguments"])
        case "function_call_output":
            return MESSAGE_FRAME + counter.text(item["output"])
        case "reasoning":
            return MESSAGE_FRAME + sum(map(counter.text, texts_in(item)))
    content = item["content"]
    if isinstance(content, str):
        return counter.message(item["role"], [content])
    texts = [part["text"] for part in content if part["type"] == "input_text"]
    return counter.message(item["role"], texts, images=len(content) - len(texts))
