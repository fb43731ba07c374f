"""The offline summarizer: keeps the clauses that say the most, word for word, without a model.

Each rebuilding reads the lines of the predecessor like things said.
"""

from collections.abc import Iterable, Iterator, Sequence

from sessions_app.domain.summaries import SummaryRequest
from sessions_app.domain.summarizers.choosing import Choice
from sessions_app.domain.summarizers.condensing import condensed
from sessions_app.domain.summarizers.memory_lines import (
    ASSISTANT,
    GOAL,
    NOTE,
    NOTHING_SAID,
    SYSTEM,
    TOOL,
    USER,
    Age,
    Memory,
    Said,
    read_memory,
)
from sessions_app.domain.summarizers.scoring import SAID_AGAIN, Piece, best_pieces, value_of
from sessions_app.domain.summarizers.sentences import SHORT, byte_length, pieces_of, plain_words
from sessions_app.domain.summarizers.tool_texts import call_texts
from sessions_app.domain.text_cutting import cut_at_sentence
from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus

SPEAKERS = {Role.USER: USER, Role.ASSISTANT: ASSISTANT, Role.SYSTEM: SYSTEM}
# The goal has at most this part of the room.
PART_OF_GOAL = 6


def summarize(request: SummaryRequest) -> str:
    """Return what is kept of the predecessor's text and of the runs, oldest first; never empty."""
    memory = read_memory(request.previous)
    new = [each for run in request.runs for each in _said_in(run)]
    goal = memory.goal if request.previous else _first_wish(new)
    pieces = best_pieces(_pieces([*memory.said, *new], goal))
    choice = Choice.of(pieces, request, _heading(goal, request))
    best = max(pieces, key=lambda piece: piece.value, default=None)
    text = choice.written(is_parted=_is_parted(memory, request, choice))
    return text or (best.text if best else goal) or NOTHING_SAID


def _is_parted(memory: Memory, request: SummaryRequest, choice: Choice) -> bool:
    """Whether what the predecessor says is the conversation's beginning: once there is too much besides."""
    return memory.is_parted or (choice.overflows and 2 * request.count_tokens(request.previous) > request.max_tokens)


def _said_in(run: Run) -> Iterator[Said]:
    for event in run.events:
        if event.tool is not None:
            yield from (Said(TOOL, text) for text in call_texts(event.tool))
        elif event.kind is not EventKind.REASONING:
            yield Said(_speaker(event), event.text)
    if run.status in (RunStatus.FAILED, RunStatus.CANCELLED):
        yield Said(SYSTEM, f"Turn {run.position} {run.status}: {run.error or 'no reason given'}")


def _speaker(event: Event) -> str:
    return SPEAKERS[event.role] if event.role else NOTE


def _first_wish(said: Sequence[Said]) -> str:
    """Return the first thing of some length that the user said."""
    wishes = [piece for each in said if each.speaker == USER for piece in pieces_of(each.text)[:5]]
    return next((wish for wish in wishes if byte_length(wish) >= SHORT), wishes[0] if wishes else "")


def _heading(goal: str, request: SummaryRequest) -> str:
    """Return the line that names the goal, in at most its part of the room."""
    room = request.max_tokens // PART_OF_GOAL
    cut = goal and cut_at_sentence(goal, fits=lambda text: request.count_tokens(GOAL + text) <= room)
    return GOAL + cut if cut else ""


def _pieces(said: Sequence[Said], goal: str) -> Iterable[Piece]:
    """Return all pieces; of what is said twice only the newest, worth more, and never the goal again."""
    newest: dict[str, Piece] = {}
    place = 0
    for each in said:
        for text in _texts(each):
            place += 1
            words = plain_words(text)
            value = value_of(each.speaker, text) + SAID_AGAIN * (words in newest)
            newest[words] = Piece(place, each.speaker, text, each.age, value)
    for again in (goal, condensed(goal)):
        newest.pop(plain_words(again), None)
    return newest.values()


def _texts(said: Said) -> Iterable[str]:
    if said.speaker == TOOL:
        return said.text.splitlines()
    pieces = pieces_of(said.text)
    return map(condensed, pieces) if said.age is Age.NEW and said.speaker else pieces
