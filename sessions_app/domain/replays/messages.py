"""What runs need that are sent from one of their messages on."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.excerpts import newest_messages
from sessions_app.domain.pieces import Piece, Tail, tokens_of
from sessions_app.domain.replays.recording import common_tokens, question_of
from sessions_app.domain.run_rendering import RunRendering
from sessions_app.domain.transcript import EventKind, Role, Run


class RunFromMessage(NamedTuple):
    """What a run needs from a user message on; `asked` is as in a RunWeight.

    `alike` is the number, from 1, of the first user message from which on it looks the same; 0: it looks as if whole.
    """

    position: int
    tokens: int
    asked: int
    alike: int


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
        looks = {0: self._look(Excerpt(run))} if asked else {}
        for index in asked:
            self.places.append(self.before[-1] + index + 1)
            look = self._look(newest_messages(run, len(messages) - index))
            alike = next((number for number, other in looks.items() if _are_alike(look, other)), len(self.places))
            looks.setdefault(alike, look)
            asked_tokens = common_tokens(self._question(run), look)
            self.questions.append(RunFromMessage(run.position, tokens_of(look), asked_tokens, alike))
        self.before.append(self.before[-1] + len(messages))

    def oldest_question(self, first: int, finished: int, most: int) -> int | None:
        """Return the number, from 1, of the oldest user message among the newest of the runs first..finished."""
        last = self.before[finished]
        number = bisect_left(self.places, max(last - most, self.before[first - 1]) + 1)
        return number + 1 if number < len(self.places) and self.places[number] <= last else None

    def _look(self, excerpt: Excerpt) -> Sequence[Piece]:
        return self.rendering(excerpt, gap=0, newer=0).pieces

    def _question(self, run: Run) -> Sequence[Piece]:
        return self.rendering.renderer.render_tail(Tail(open_run=question_of(run)), self.rendering.counter)


def _are_alike(one: Sequence[Piece], other: Sequence[Piece]) -> bool:
    return [piece.message for piece in one] == [piece.message for piece in other]
