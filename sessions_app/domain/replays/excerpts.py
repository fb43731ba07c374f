"""Replays the strategies that send a few runs, or parts of them: each turn's prompt is built by the builder itself."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sessions_app.domain.builder import Request, decide_request
from sessions_app.domain.cut_results import cut_segments
from sessions_app.domain.deciding import Decision, Terms
from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.fates import History
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.pieces import Piece
from sessions_app.domain.plan import Fate, FateRange
from sessions_app.domain.replays.recording import common_tokens, question_of
from sessions_app.domain.replays.replayed import ReplayedTurn
from sessions_app.domain.tokens import RememberingCounter
from sessions_app.domain.transcript import (
    MessagePlace,
    ParentContext,
    Role,
    Run,
    RunInput,
    SummaryEntry,
    WeighedRuns,
)

MOST_TEXTS = 1_000


@dataclass(slots=True)
class MovingTranscript:
    """A TranscriptReader that goes through a conversation, and holds only what strategies with few runs may ask for."""

    instructions: str
    parents: Sequence[ParentContext]
    settings: MemorySettings
    finished_through: int = 0
    _stored: list[int] = field(default_factory=lambda: [0])
    _question: Run | None = None
    _newest: Run | None = None
    _answered: Run | None = None
    _inputs: deque[RunInput] = field(default_factory=deque)

    def ask(self, run: Run) -> None:
        """Let the next run be the question."""
        self._question = question_of(run)

    def finish(self, run: Run) -> None:
        """Let that run be history."""
        self.finished_through, self._newest = run.position, run
        self._stored.append(self._stored[-1] + run.tokens)
        if any(event.role is Role.ASSISTANT for event in run.events):
            self._answered = run
        asked = tuple(event for event in run.events if event.role is Role.USER)
        if asked:
            self._hold(RunInput(replace(run, events=asked), len(asked) == len(run.events)))

    def _hold(self, found: RunInput) -> None:
        """Hold the inputs that may be the window's first or newest; where it is unlimited, the first stays."""
        if len(self._inputs) > 1 and self.settings.max_runs is None and self.settings.last_n is None:
            self._inputs.pop()
        self._inputs.append(found)
        first = History(self.finished_through, self.settings).first_candidate
        while len(self._inputs) > 1 and self._inputs[0].run.position < first:
            self._inputs.popleft()

    def open_run(self) -> Run | None:
        """The question."""
        return self._question

    def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[Run]:  # noqa: ARG002
        """The newest run alone."""
        newest = self._newest
        return [newest] if newest is not None and not_below <= newest.position < position else []

    def weigh(self, *, not_below: int, tokens: int) -> WeighedRuns:  # noqa: ARG002
        """No runs: series of them are not asked for."""
        return WeighedRuns(self.finished_through + 1, 0, None)

    def tokens_between(self, first: int, last: int) -> int:
        """What is stored as the tokens of the runs first..last."""
        return self._stored[last] - self._stored[first - 1] if first <= last else 0

    def newest_answered(self, *, not_below: int) -> Run | None:
        """The newest finished run p >= not_below in which the assistant said anything."""
        answered = self._answered
        return answered if answered is not None and answered.position >= not_below else None

    def first_input(self, *, not_below: int) -> RunInput | None:
        """The input of the first finished run p >= not_below that has one."""
        return next((each for each in self._inputs if each.run.position >= not_below), None)

    def oldest_question(self, *, among: int, not_below: int) -> MessagePlace | None:  # noqa: ARG002
        """None: the newest messages are not asked for."""
        return None

    def newest_summary(self, covers_at_most: int) -> SummaryEntry | None:  # noqa: ARG002
        """None: summaries are not asked for."""
        return None

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parents, as they are today."""
        return list(self.parents[-depth:])

    def as_of(self, turn: int) -> "MovingTranscript":  # noqa: ARG002
        """Itself: it knows nothing of what came later."""
        return self


@dataclass(slots=True)
class ExcerptReplay:
    """Replays turn after turn, run by run."""

    terms: Terms
    transcript: MovingTranscript
    _texts: dict[str, int] = field(init=False, default_factory=dict)
    _earlier: Sequence[Piece] = field(init=False, default=())

    def __post_init__(self) -> None:
        counter = RememberingCounter(self.terms.counter.encoding, self.terms.counter.margin, self._texts)
        self.terms = replace(self.terms, counter=counter)

    def turn(self, run: Run) -> ReplayedTurn:
        """Return the figures of a run's turn, or its refusal; then the run is history."""
        earlier, self._earlier = self._earlier, ()
        self.transcript.ask(run)
        try:
            decision = decide_request(self.transcript, self.terms, Request(at=run.position))
        except ConvowebError as refusal:
            return ReplayedTurn(error=refusal.detail)
        finally:
            self.transcript.finish(run)
            if len(self._texts) > MOST_TEXTS:
                self._texts.clear()
        self._earlier = [*decision.memory, *decision.asked.fixed.tail]
        return _figures(decision, self._cut_results(decision), common_tokens(earlier, self._earlier))

    def _cut_results(self, decision: Decision) -> int:
        values = self.terms.values
        keep, tokens = values.keep_tool_results, values.tool_result_max_tokens
        return sum(1 for _ in cut_segments(decision.segments, keep=keep, tokens=tokens))


def _figures(decision: Decision, cut_results: int, stable: int) -> ReplayedTurn:
    kept = next((each.first for each in decision.fates if each.fate is Fate.KEPT), None)
    return ReplayedTurn(
        tokens=decision.tokens.total,
        kept=_count(decision.fates, Fate.KEPT),
        summarized=0,
        pruned=_count(decision.fates, Fate.PRUNED),
        capped=_count(decision.fates, Fate.CAPPED),
        skipped=_count(decision.fates, Fate.SKIPPED),
        lost=0,
        cut_results=cut_results,
        first_kept=kept,
        stable_prefix=stable,
    )


def _count(fates: Sequence[FateRange], fate: Fate) -> int:
    return sum(each.count for each in fates if each.fate is fate)
