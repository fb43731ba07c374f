"""The messages of OpenAI's chat completions, valid for it and for stricter servers that speak the same shape."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions_app.domain.as_sent import (
    EMPTY_MESSAGE,
    NO_ANSWER,
    arguments_as_sent,
    context_as_sent,
    ending_as_sent,
    is_blank,
    message_parts,
    result_as_sent,
    tool_name_as_sent,
)
from sessions_app.domain.call_ids import with_unique_call_ids
from sessions_app.domain.pieces import (
    SYSTEM,
    Head,
    Payload,
    Piece,
    Tail,
    head_sections,
    other_events,
    section_segments,
    system_text,
    without,
)
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.tokens import PROMPT_FRAME, TokenCounter
from sessions_app.domain.transcript import Event, EventKind, Role, Run, ToolCall

USER = "user"
ASSISTANT = "assistant"
TOOL = "tool"


def overhead(counter: TokenCounter) -> int:
    """Return the frame of a prompt."""
    return counter.scaled(PROMPT_FRAME)


def render_head(head: Head, counter: TokenCounter) -> list[Piece]:
    """Render one system message, or none if there is nothing to say."""
    sections = head_sections(head)
    if not sections:
        return []
    text = system_text(sections)
    total, frame = counter.message(SYSTEM, [text]), counter.message(SYSTEM, ())
    segments = section_segments(sections, total=total, frame=frame, counter=counter)
    return [Piece({"role": SYSTEM, "content": text}, tuple(segments))]


def render_run(run: Run, counter: TokenCounter) -> list[Piece]:
    """Render a finished run so that it starts with the user and ends with the assistant."""
    turns = _started(_merged(_turns(run.events)))
    if turns[-1].role == USER or turns[-1].calls:
        turns.append(_Turn(ASSISTANT))
    turns[-1].parts.append(ending_as_sent(run))
    return _pieces(turns, Part.RUNS, run.position, counter)


def render_tail(tail: Tail, counter: TokenCounter) -> list[Piece]:
    """Render the context blocks inside the message of the query or of the open run's input."""
    turns = _tail_turns(tail)
    context: list[str | Mapping[str, Any]] = [context_as_sent(text) for text in tail.context]
    position = tail.open_run.position if tail.open_run and tail.query is None else None
    if not context:
        return _pieces(turns, Part.QUERY, position, counter)
    alone = _pieces([_Turn(USER, context)], Part.CONTEXT, None, counter)
    if not turns:
        return alone
    turns[0].parts[:0] = context
    first, *others = _pieces(turns, Part.QUERY, position, counter)
    return [_divided(first, alone[0]), *others]


def left_out(run: Run) -> str:
    """Say that notes and reasoning are not sent, and of an open run what follows its last finished step."""
    return without([*(_unfinished(run) if run.status.is_open else ()), *other_events(run)])


def payload(pieces: Sequence[Piece]) -> Payload:
    """Return the messages with call ids that are legal and unique in this prompt."""
    return Payload(messages=with_unique_call_ids([piece.message for piece in pieces]))


@dataclass(slots=True)
class _Turn:
    """Neighbouring messages of one role, before they become one."""

    role: str
    parts: list[str | Mapping[str, Any]] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [part for part in self.parts if isinstance(part, str) and not is_blank(part)]

    @property
    def images(self) -> list[Mapping[str, Any]]:
        return [part for part in self.parts if isinstance(part, Mapping)]


def _tail_turns(tail: Tail) -> list[_Turn]:
    if tail.query is not None:
        return [_Turn(USER, [tail.query])]
    if tail.open_run is None:
        return []
    turns = _merged(_turns(tail.open_run.events, only_answered=True))
    return _started(_finished_steps(turns))


def _finished_steps(turns: Sequence[_Turn]) -> Sequence[_Turn]:
    """Leave out what the assistant said behind the user's or a tool's last words."""
    said = len(turns) - 1 if turns and turns[-1].role == ASSISTANT and not turns[-1].calls else len(turns)
    return turns[:said]


def _unfinished(open_run: Run) -> Iterator[str]:
    if any(event.tool is not None and _is_waiting(event.tool) for event in open_run.events):
        yield "unanswered calls"
    turns = _merged(_turns(open_run.events, only_answered=True))
    if any(turn.texts for turn in turns[len(_finished_steps(turns)) :]):
        yield "last words"


def _turns(events: Sequence[Event], *, only_answered: bool = False) -> list[_Turn]:
    calls: dict[int, list[ToolCall]] = {}
    for index, event in enumerate(events):
        if event.tool is not None and not (only_answered and _is_waiting(event.tool)):
            calls.setdefault(_caller(events, index), []).append(event.tool)
    turns = []
    for index, event in enumerate(events):
        if event.kind is EventKind.MESSAGE:
            role = ASSISTANT if event.role is Role.ASSISTANT else USER
            turns.append(_Turn(role, message_parts(event), calls.get(index, [])))
        elif index in calls:
            turns.append(_Turn(ASSISTANT, [], calls[index]))
    return turns


def _caller(events: Sequence[Event], index: int) -> int:
    """Return the index of the assistant message that made the call, or the call's own if there is none."""
    parent = events[index].parent
    if parent is None or not 0 <= parent < len(events) or events[parent].role is not Role.ASSISTANT:
        return index
    return parent


def _is_waiting(call: ToolCall) -> bool:
    return call.result is None and not call.error


def _merged(turns: Sequence[_Turn]) -> list[_Turn]:
    merged: list[_Turn] = []
    for turn in turns:
        if merged and merged[-1].role == turn.role and not merged[-1].calls:
            merged[-1].parts += turn.parts
            merged[-1].calls = turn.calls
        else:
            merged.append(turn)
    return merged


def _started(turns: Sequence[_Turn]) -> list[_Turn]:
    return [*turns] if turns and turns[0].role == USER else [_Turn(USER), *turns]


def _pieces(turns: Sequence[_Turn], part: Part, position: int | None, counter: TokenCounter) -> list[Piece]:
    pieces = []
    for turn in turns:
        pieces.append(_message_piece(turn, part, position, counter))
        pieces += [_result_piece(call, part, position, counter) for call in turn.calls]
    return pieces


def _message_piece(turn: _Turn, part: Part, position: int | None, counter: TokenCounter) -> Piece:
    content = _content(turn)
    calls = tuple((tool_name_as_sent(call.name), arguments_as_sent(call.arguments)) for call in turn.calls)
    message: dict[str, Any] = {"role": turn.role, "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": call.call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call, (name, arguments) in zip(turn.calls, calls, strict=True)
        ]
    texts = turn.texts if isinstance(content, list) else [content or ""]
    raw = counter.message(turn.role, texts, calls=calls, images=len(turn.images))
    shown = "\n\n".join([*texts, *("[image]" for _ in turn.images)])
    return Piece(message, (Segment(part, turn.role, shown, counter.scaled(raw), position=position, calls=calls),))


def _content(turn: _Turn) -> str | list[Mapping[str, Any]] | None:
    if turn.images:
        parts = [part for part in turn.parts if isinstance(part, Mapping) or not is_blank(part)]
        return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    if turn.texts:
        return "\n\n".join(turn.texts)
    if turn.calls:
        return None
    return EMPTY_MESSAGE if turn.role == USER else NO_ANSWER


def _result_piece(call: ToolCall, part: Part, position: int | None, counter: TokenCounter) -> Piece:
    text = result_as_sent(call)
    message = {"role": TOOL, "tool_call_id": call.call_id, "content": text}
    tokens = counter.scaled(counter.message(TOOL, [text]))
    return Piece(message, (Segment(part, TOOL, text, tokens, position=position),))


def _divided(whole: Piece, context: Piece) -> Piece:
    """Show the context blocks and the text behind them, which are one message, as two segments."""
    (ahead,), (both,) = context.segments, whole.segments
    behind = Segment(
        both.part, both.role, both.text[len(ahead.text) + 2 :], both.tokens - ahead.tokens, position=both.position
    )
    return Piece(whole.message, (ahead, behind))
