"""What would have happened over a whole conversation under some settings: a prompt a turn, in figures.

Turn t is what `build_prompt` builds at it: the runs before are its history, the input of run t is the question. Unlike
there, summaries are simulated. The cost is that of reading each run once, and a search in sums for each turn.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sessions_app.domain.builder import terms_of
from sessions_app.domain.deciding import Terms
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, PromptFormat, Strategy
from sessions_app.domain.replays.assumptions import assumptions
from sessions_app.domain.replays.costs import priced_columns, totals_of
from sessions_app.domain.replays.excerpts import ExcerptReplay, MovingTranscript
from sessions_app.domain.replays.heads import ReplayedHeads
from sessions_app.domain.replays.marks import MOST_RUNS, MarkWeights
from sessions_app.domain.replays.messages import MessageWeights
from sessions_app.domain.replays.recording import Recording, Weights, weight_of
from sessions_app.domain.replays.replayed import Replay, ReplayedTurn
from sessions_app.domain.replays.rules import HeadAndTail, NewestMessages, NewestRuns, ReplayRule
from sessions_app.domain.replays.series import SeriesReplay
from sessions_app.domain.replays.summaries import SimulatedSummaries
from sessions_app.domain.run_rendering import RunRendering
from sessions_app.domain.run_tokens import are_exact
from sessions_app.domain.seeds.rules import has_seed_rule
from sessions_app.domain.summaries import fixed_tokens
from sessions_app.domain.transcript import ParentContext, Run


def replay(
    recording: Recording, settings: Sequence[EffectiveSettings], *, batch_tokens: int, now: datetime
) -> list[Replay]:
    """Replay a conversation under each of the settings, with the prices of now; it is read once for all of them.

    A step of the simulated summaries takes runs of at most `batch_tokens`. Raises what `check_replayable` raises.
    """
    reading = _Reading(recording)
    tracks = [_track(reading, check_replayable(each), batch_tokens) for each in settings]
    reading.read()
    return [track.result(now) for track in tracks]


def check_replayable(settings: EffectiveSettings) -> Terms:
    """Return what settings come to, or raise WindowUnknown, or InvalidInput for those that cannot be replayed."""
    terms, values = terms_of(settings), settings.values
    if has_seed_rule(values):
        _refuse("format", f"In the format seed, {values.strategy} cannot be replayed; {_named(_WHOLE_IN_SEED)} can.")
    if values.keep_tool_results and values.strategy in _MANY_RUNS and values.format is not PromptFormat.TEXT:
        _refuse(
            "keep_tool_results",
            f"keep_tool_results {values.keep_tool_results:,} cannot be replayed with {values.strategy}, "
            f"only unlimited and 0 can; with {_named(frozenset(Strategy) - _MANY_RUNS)} every value can.",
        )
    return terms


_MANY_RUNS: Final = frozenset({Strategy.BUFFER, Strategy.SUMMARY, Strategy.CONVERSATION, Strategy.HEAD_TAIL})
_WHOLE_IN_SEED: Final = frozenset({Strategy.BUFFER, Strategy.SUMMARY, Strategy.HEAD_TAIL})
_EXCERPTS: Final = frozenset({Strategy.MINIMAL, Strategy.TASK, Strategy.HIERARCHICAL})


def _refuse(name: str, detail: str) -> None:
    raise InvalidInput(detail, errors=[FieldError(f"/settings/{name}", detail)])


def _named(strategies: frozenset[Strategy]) -> str:
    *others, last = sorted(strategies)
    return f"{', '.join(others)} and {last}"


@dataclass(slots=True)
class _Reading:
    """What the settings together have to know of the runs: each is read once, and weighed once in the same terms."""

    recording: Recording
    stored: Weights | None = None
    measured: dict[Hashable, Weights] = field(default_factory=dict)
    listeners: list[Callable[[Run], object]] = field(default_factory=list)

    def weights(self, terms: Terms) -> Weights:
        """Return what the runs need in these terms, to be filled by `read`."""
        if are_exact(terms.values, terms.counter):
            self.stored = self.stored or Weights()
            return self.stored
        key = (terms.values.format, terms.result_limits)
        if key not in self.measured:
            self.measured[key] = weights = Weights()
            rendering = rendering_of(terms)
            self.listeners.append(lambda run: weights.add(weight_of(run, rendering)))
        return self.measured[key]

    def read(self) -> None:
        """Read what is wanted."""
        if self.stored is not None:
            for weight in self.recording.all_weights():
                self.stored.add(weight)
        if self.listeners:
            for run in self.recording.all_runs():
                for listener in self.listeners:
                    listener(run)


def rendering_of(terms: Terms) -> RunRendering:
    """Return how runs are rendered in these terms."""
    return RunRendering(terms.renderer, terms.counter, terms.result_limits)


@dataclass(frozen=True, slots=True)
class _Track:
    """One of the settings; the turns are known after reading."""

    terms: Terms
    with_parents: bool
    turns: Callable[[], Sequence[ReplayedTurn]]
    summaries: Callable[[], int] = lambda: 0

    def result(self, now: datetime) -> Replay:
        """Return columns, totals and assumptions."""
        prices = self.terms.model.prices(now=now)
        columns = priced_columns(self.turns(), prices)
        totals = totals_of(columns, summaries=self.summaries())
        return Replay(columns, totals, assumptions(self.terms, prices, with_parents=self.with_parents))


def _track(reading: _Reading, terms: Terms, batch_tokens: int) -> _Track:
    values, recording = terms.values, reading.recording
    parents: Sequence[ParentContext] = ()
    if values.takes_parents:
        parents = recording.parent_contexts(values.parent_depth)
    if values.strategy in _EXCERPTS:
        return _excerpts(reading, terms, parents)
    weights = reading.weights(terms)
    budget = terms.counter.raw_limit(terms.budget.tokens)
    summaries = SimulatedSummaries(values, weights, fixed_tokens(recording.instructions), budget, batch_tokens)
    heads = ReplayedHeads(terms, recording.instructions, parents)
    series = SeriesReplay(terms, weights, heads, summaries, _RULES[values.strategy](reading, terms, weights))

    def turns() -> list[ReplayedTurn]:
        return [series.turn(turn) for turn in range(1, weights.count + 1)]

    return _Track(terms, bool(parents), turns, lambda: summaries.steps)


def _excerpts(reading: _Reading, terms: Terms, parents: Sequence[ParentContext]) -> _Track:
    turns: list[ReplayedTurn] = []
    excerpts = ExcerptReplay(terms, MovingTranscript(reading.recording.instructions, parents, terms.values))
    reading.listeners.append(lambda run: turns.append(excerpts.turn(run)))
    return _Track(terms, bool(parents), lambda: turns)


def _newest(reading: _Reading, terms: Terms, weights: Weights) -> ReplayRule:  # noqa: ARG001
    return NewestRuns(weights, most=1 if terms.values.strategy is Strategy.TOOL else None)


def _newest_messages(reading: _Reading, terms: Terms, weights: Weights) -> ReplayRule:
    messages = MessageWeights(rendering_of(terms))
    reading.listeners.append(messages.add)
    return NewestMessages(weights, messages, terms.values.max_history)


def _head_and_tail(reading: _Reading, terms: Terms, weights: Weights) -> ReplayRule:
    values = terms.values
    widest = _window(values)
    only = values.head_runs if widest is None else None
    marks = MarkWeights(rendering_of(terms), MOST_RUNS if widest is None else widest, only)
    reading.listeners.append(marks.add)
    return HeadAndTail(weights, marks, values.head_runs)


def _window(values: MemorySettings) -> int | None:
    """Return how many runs max_runs and last_n leave; None if they leave all."""
    return min((each for each in (values.max_runs, values.last_n) if each is not None), default=None)


_RULES: Mapping[Strategy, Callable[[_Reading, Terms, Weights], ReplayRule]] = {
    Strategy.BUFFER: _newest,
    Strategy.SUMMARY: _newest,
    Strategy.TOOL: _newest,
    Strategy.CONVERSATION: _newest_messages,
    Strategy.HEAD_TAIL: _head_and_tail,
}
