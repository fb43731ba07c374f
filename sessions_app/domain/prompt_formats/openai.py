"""The messages of OpenAI's chat completions, valid for it and for stricter servers that speak the same shape."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sessions_app.domain.as_sent import arguments_as_sent, result_as_sent, tool_name_as_sent
from sessions_app.domain.call_ids import unique_call_ids
from sessions_app.domain.pieces import Head, Payload, Piece, Tail, shown_text, system_pieces
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.tokens import PROMPT_FRAME, TokenCounter
from sessions_app.domain.transcript import Run, ToolCall
from sessions_app.domain.turns import TOOL, Turn, left_out_of_turns, render_turns_of_tail, run_turns


def overhead(counter: TokenCounter) -> int:
    """Return the frame of a prompt."""
    return counter.scaled(PROMPT_FRAME)


def render_head(head: Head, counter: TokenCounter) -> list[Piece]:
    """Render one system message, or none if there is nothing to say."""
    return system_pieces(head, counter)


def render_run(run: Run, counter: TokenCounter) -> list[Piece]:
    """Render a finished run so that it starts with the user and ends with the assistant."""
    return _pieces(run_turns(run), Part.RUNS, run.position, counter=counter)


def render_tail(tail: Tail, counter: TokenCounter) -> list[Piece]:
    """Render context blocks inside the message of the query or of the open run's input."""
    return render_turns_of_tail(tail, partial(_pieces, counter=counter))


def left_out(run: Run) -> str:
    """Say that notes and reasoning are not sent, and of an open run what follows its last finished step."""
    return left_out_of_turns(run)


def payload(pieces: Sequence[Piece]) -> Payload:
    """Return the messages with call ids that are legal and unique in this prompt, on both sides of a call."""
    messages = [dict(piece.message) for piece in pieces]
    new_ids = unique_call_ids([call["id"] for message in messages for call in message.get("tool_calls", ())])
    of_calls, of_results = iter(new_ids), iter(new_ids)
    for message in messages:
        if "tool_calls" in message:
            message["tool_calls"] = [call | {"id": next(of_calls)} for call in message["tool_calls"]]
        elif "tool_call_id" in message:
            message["tool_call_id"] = next(of_results)
    return Payload(messages=tuple(messages))


def _pieces(turns: Sequence[Turn], part: Part, position: int | None, *, counter: TokenCounter) -> list[Piece]:
    pieces = []
    for turn in turns:
        pieces.append(_message_piece(turn, part, position, counter))
        pieces += [_result_piece(call, part, position, counter) for call in turn.calls]
    return pieces


def _message_piece(turn: Turn, part: Part, position: int | None, counter: TokenCounter) -> Piece:
    content = _content(turn)
    calls = tuple((tool_name_as_sent(call.name), arguments_as_sent(call.arguments)) for call in turn.calls)
    message: dict[str, Any] = {"role": turn.speaker, "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": call.call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call, (name, arguments) in zip(turn.calls, calls, strict=True)
        ]
    texts = turn.texts if isinstance(content, list) else [content or ""]
    raw = counter.message(turn.speaker, texts, calls=calls, images=len(turn.images))
    shown = shown_text(texts, len(turn.images))
    return Piece(message, (Segment(part, turn.speaker, shown, counter.scaled(raw), position=position, calls=calls),))


def _content(turn: Turn) -> str | list[Mapping[str, Any]] | None:
    if turn.images:
        return [{"type": "text", "text": part} if isinstance(part, str) else part for part in turn.said]
    if turn.texts:
        return "\n\n".join(turn.texts)
    if turn.calls:
        return None
    return turn.placeholder


def _result_piece(call: ToolCall, part: Part, position: int | None, counter: TokenCounter) -> Piece:
    text = result_as_sent(call)
    message = {"role": TOOL, "tool_call_id": call.call_id, "content": text}
    tokens = counter.scaled(counter.message(TOOL, [text]))
    return Piece(message, (Segment(part, TOOL, text, tokens, position=position),))
