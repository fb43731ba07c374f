"""A run as what is said in turn, before a format makes messages of it: neighbours of one speaker are one turn."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sessions_app.domain.as_sent import (
    EMPTY_MESSAGE,
    NO_ANSWER,
    context_as_sent,
    ending_as_sent,
    is_blank,
    message_parts,
)
from sessions_app.domain.pieces import Piece, Tail, other_events, without
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.transcript import Event, EventKind, Role, Run, ToolCall

USER = "user"
ASSISTANT = "assistant"
TOOL = "tool"


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A provider's own part, for the eyes of that provider alone."""

    part: Mapping[str, Any]


TurnPart = str | Mapping[str, Any] | OpaquePart
OpaqueReader = Callable[[Event], Iterable[Mapping[str, Any]]]
"""Which of an event's opaque parts a format carries."""


@dataclass(slots=True)
class Turn:
    """What one speaker says without a pause: texts, images, opaque parts, then the assistant's calls.

    `results` answer the calls of the turn before; they are filled by `with_results` alone.
    """

    speaker: str
    parts: list[TurnPart] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolCall] = field(default_factory=list)

    @property
    def said(self) -> list[str | Mapping[str, Any]]:
        """Texts that have something to read in them, and images, as OpenAI's image parts."""
        parts = (part for part in self.parts if not isinstance(part, OpaquePart))
        return [part for part in parts if not (isinstance(part, str) and is_blank(part))]

    @property
    def texts(self) -> list[str]:
        """The texts alone."""
        return [part for part in self.said if isinstance(part, str)]

    @property
    def images(self) -> list[Mapping[str, Any]]:
        """The images alone."""
        return [part for part in self.said if isinstance(part, Mapping)]

    @property
    def placeholder(self) -> str:
        """What stands for a turn that says nothing."""
        return EMPTY_MESSAGE if self.speaker == USER else NO_ANSWER

    def blocks(self) -> list[TurnPart]:
        """Return what is said in order: neighbouring texts as one, opaque parts only where something stands behind."""
        blocks: list[TurnPart] = []
        said = [part for part in self.parts if not (isinstance(part, str) and is_blank(part))]
        for is_text, neighbours in groupby(said, key=lambda part: isinstance(part, str)):
            parts = list(neighbours)
            blocks += ["\n\n".join(map(str, parts))] if is_text else parts
        while blocks and isinstance(blocks[-1], OpaquePart) and not self.calls:
            blocks.pop()
        return blocks if blocks or self.calls or self.results else [self.placeholder]


def no_opaque_parts(event: Event) -> Iterable[Mapping[str, Any]]:  # noqa: ARG001
    """Carry none: the format has no place for them."""
    return ()


def run_turns(run: Run, opaque: OpaqueReader = no_opaque_parts) -> list[Turn]:
    """Return the turns of a finished run: they start with the user, alternate, and end with the assistant."""
    turns = _started(_merged(_turns(run.events, opaque)))
    if turns[-1].speaker == USER or turns[-1].calls:
        turns.append(Turn(ASSISTANT))
    turns[-1].parts.append(ending_as_sent(run))
    return turns


def left_out_of_turns(run: Run, opaque: OpaqueReader = no_opaque_parts) -> str:
    """Say that notes and reasoning are not sent, and of an open run what follows its last finished step."""
    others = other_events(event for event in run.events if not any(True for _ in opaque(event)))
    return without([*(_unfinished(run) if run.status.is_open else ()), *others])


def with_results(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with the results of calls at the beginning of the user's turn behind them."""
    answered: list[Turn] = []
    waiting: list[ToolCall] = []
    for turn in turns:
        if waiting and turn.speaker == USER:
            turn.results = waiting
        elif waiting:
            answered.append(Turn(USER, results=waiting))
        answered.append(turn)
        waiting = turn.calls
    return [*answered, Turn(USER, results=waiting)] if waiting else answered


def render_turns_of_tail(
    tail: Tail,
    render: Callable[[list[Turn], Part, int | None], list[Piece]],
    opaque: OpaqueReader = no_opaque_parts,
) -> list[Piece]:
    """Render context blocks inside the message of the query or of the open run's input, as a segment of their own."""
    turns = _tail_turns(tail, opaque)
    context: list[TurnPart] = [context_as_sent(text) for text in tail.context]
    position = tail.open_run.position if tail.open_run and tail.query is None else None
    if not context:
        return render(turns, Part.QUERY, position)
    alone = render([Turn(USER, context)], Part.CONTEXT, None)
    if not turns:
        return alone
    turns[0].parts[:0] = context
    first, *others = render(turns, Part.QUERY, position)
    return [_divided(first, alone[0]), *others]


def _tail_turns(tail: Tail, opaque: OpaqueReader) -> list[Turn]:
    if tail.query is not None:
        return [Turn(USER, [tail.query])]
    if tail.open_run is None:
        return []
    turns = _finished_steps(_merged(_turns(tail.open_run.events, opaque, only_answered=True)))
    return _started(turns)


def _finished_steps(turns: list[Turn]) -> list[Turn]:
    """Leave out what the assistant said behind the user's or a tool's last words."""
    is_last_said = bool(turns) and turns[-1].speaker == ASSISTANT and not turns[-1].calls
    return turns[: len(turns) - is_last_said]


def _unfinished(open_run: Run) -> Iterator[str]:
    if any(event.tool is not None and _is_waiting(event.tool) for event in open_run.events):
        yield "unanswered calls"
    turns = _merged(_turns(open_run.events, no_opaque_parts, only_answered=True))
    if any(turn.texts for turn in turns[len(_finished_steps(turns)) :]):
        yield "last words"


def _turns(events: Sequence[Event], opaque: OpaqueReader, *, only_answered: bool = False) -> list[Turn]:
    turns: dict[int, Turn] = {}
    pending: list[OpaquePart] = []
    for index, event in enumerate(events):
        if event.kind is EventKind.MESSAGE:
            speaker = ASSISTANT if event.role is Role.ASSISTANT else USER
            turn = turns.setdefault(index, Turn(speaker))
            turn.parts += [*(pending if speaker == ASSISTANT else ()), *message_parts(event)]
            pending = []
        elif event.tool is not None:
            if not (only_answered and _is_waiting(event.tool)):
                turn = turns.setdefault(_caller(events, index), Turn(ASSISTANT))
                turn.parts += pending
                turn.calls.append(event.tool)
            pending = []
        else:
            pending += map(OpaquePart, opaque(event))
    return [turns[index] for index in sorted(turns)]


def _caller(events: Sequence[Event], index: int) -> int:
    """Return the index of the assistant message that made the call, or the call's own if there is none."""
    parent = events[index].parent
    if parent is None or not 0 <= parent < len(events) or events[parent].role is not Role.ASSISTANT:
        return index
    return parent


def _is_waiting(call: ToolCall) -> bool:
    return call.result is None and not call.error


def _merged(turns: Sequence[Turn]) -> list[Turn]:
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1].speaker == turn.speaker and not merged[-1].calls:
            merged[-1].parts += turn.parts
            merged[-1].calls = turn.calls
        else:
            merged.append(turn)
    return merged


def _started(turns: list[Turn]) -> list[Turn]:
    return turns if turns and turns[0].speaker == USER else [Turn(USER), *turns]


def _divided(whole: Piece, context: Piece) -> Piece:
    """Show the context blocks and the text behind them, which are one message, as two segments."""
    (ahead,), (both,) = context.segments, whole.segments
    behind = Segment(
        both.part, both.role, both.text[len(ahead.text) + 2 :], both.tokens - ahead.tokens, position=both.position
    )
    return Piece(whole.message, (ahead, behind))
