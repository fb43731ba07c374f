"""What runs need that are sent from one of their messages on."""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import NamedTuple

from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.excerpts import newest_messages
from sessions_app.domain.pieces import Tail, tokens_of
from sessions_app.domain.recording import common_tokens, question_of
from sessions_app.domain.run_rendering import RunRendering
from sessions_app.domain.transcript import EventKind, Role, Run


class RunFromMessage(NamedTuple):
    """What a run needs from a user message on; `asked` is as in a RunWeight."""

    position: int
    tokens: int
    asked: int
    is_whole: bool


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
        for index, event in enumerate(messages):
            if event.role is Role.USER:
                self.places.append(self.before[-1] + index + 1)
                self.questions.append(self._weighed(run, newest_messages(run, len(messages) - index)))
        self.before.append(self.before[-1] + len(messages))

    def oldest_question(self, first: int, finished: int, most: int) -> int | None:
        """Return the number, from 1, of the oldest user message among the newest of the runs first..finished."""
        last = self.before[finished]
        number = bisect_left(self.places, max(last - most, self.before[first - 1]) + 1)
        return number + 1 if number < len(self.places) and self.places[number] <= last else None

    def _weighed(self, run: Run, excerpt: Excerpt) -> RunFromMessage:
        pieces = self.rendering(excerpt, gap=0, newer=0).pieces
        question = self.rendering.renderer.render_tail(Tail(open_run=question_of(run)), self.rendering.counter)
        return RunFromMessage(run.position, tokens_of(pieces), common_tokens(question, pieces), not excerpt.taken)
