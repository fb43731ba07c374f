"""What runs need that are sent from one of their messages on."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.excerpts import newest_messages
from sessions_app.domain.pieces import Piece, Tail
from sessions_app.domain.replays.recording import common_tokens, cut_results, question_of
from sessions_app.domain.run_rendering import RenderedRun, RunRendering
from sessions_app.domain.transcript import EventKind, Role, Run


class RunFromMessage(NamedTuple):
    """What a run needs from a user message on; `asked` is as in a RunWeight.

    `alike` is the number, from 1, of the first user message from which on it looks the same; 0: it looks as if whole.
    `cut` of its tool results from there on are not sent whole.
    """

    position: int
    tokens: int
    asked: int
    alike: int
    cut: int


@dataclass(slots=True)
class MessageWeights:
    """The user messages of a conversation, oldest first, and where each stands among all messages, from 1.

    `before` counts the messages of the runs 1..p.
    """

    rendering: RunRendering
    before: list[int] = field(init=False, default_factory=lambda: [0])
    places: list[int] = field(init=False, default_factory=list)
    questions: list[RunFromMessage] = field(init=False, default_factory=list)

    def add(self, run: Run) -> None:
        """Add the next run; it is rendered from each of its user messages on."""
        messages = [event for event in run.events if event.kind is EventKind.MESSAGE]
        asked = [index for index, event in enumerate(messages) if event.role is Role.USER]
        looks = {0: self._look(Excerpt(run)).pieces} if asked else {}
        for index in asked:
            self.places.append(self.before[-1] + index + 1)
            rendered = self._look(newest_messages(run, len(messages) - index))
            look = rendered.pieces
            alike = next((number for number, other in looks.items() if _are_alike(look, other)), len(self.places))
            looks.setdefault(alike, look)
            asked_tokens = common_tokens(self._question(run), look)
            cut = cut_results(rendered, self.rendering)
            self.questions.append(RunFromMessage(run.position, rendered.tokens, asked_tokens, alike, cut))
        self.before.append(self.before[-1] + len(messages))

    def oldest_question(self, first: int, finished: int, most: int) -> int | None:
        """Return the number, from 1, of the oldest user message among the newest of the runs first..finished."""
        last = self.before[finished]
        number = bisect_left(self.places, max(last - most, self.before[first - 1]) + 1)
        return number + 1 if number < len(self.places) and self.places[number] <= last else None

    def _look(self, excerpt: Excerpt) -> RenderedRun:
        return self.rendering(excerpt, gap=0, newer=0)

    def _question(self, run: Run) -> Sequence[Piece]:
        return self.rendering.renderer.render_tail(Tail(open_run=question_of(run)), self.rendering.counter)


def _are_alike(one: Sequence[Piece], other: Sequence[Piece]) -> bool:
    return [piece.message for piece in one] == [piece.message for piece in other]
