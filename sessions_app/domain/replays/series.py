"""Replays the strategies that send runs whole as far as they fit: each turn costs the same, from sums."""

from dataclasses import dataclass, field
from typing import NamedTuple

from sessions_app.domain.deciding import Terms
from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.fixed_parts import FIXED, NOT_PRUNED, too_small
from sessions_app.domain.gaps import refuse_gap
from sessions_app.domain.memory_settings import OnGap, Strategy
from sessions_app.domain.plan import Part
from sessions_app.domain.replays.heads import ReplayedHead, ReplayedHeads, common_head_tokens
from sessions_app.domain.replays.recording import Weights
from sessions_app.domain.replays.replayed import ReplayedTurn
from sessions_app.domain.replays.rules import Chosen, ReplayRule
from sessions_app.domain.replays.summaries import SimulatedSummaries
from sessions_app.domain.ways_out import WaysOut


class SeriesPrompt(NamedTuple):
    """What a prompt consists of: the runs 1..covered are summarized, `capped` ones behind them are not remembered.

    The runs below `first` are out whatever the budget, and `dropped` so many others for its sake.
    """

    head: ReplayedHead
    covered: int
    capped: int
    first: int
    chosen: Chosen
    dropped: int
    tokens: int


@dataclass(slots=True)
class SeriesReplay:
    """Replays turn after turn; the summary moves on before each."""

    terms: Terms
    weights: Weights
    heads: ReplayedHeads
    summaries: SimulatedSummaries
    rule: ReplayRule
    _summarizes: bool = field(init=False)
    _limits_results: bool = field(init=False)
    _overhead: int = field(init=False)
    _room: int = field(init=False)
    _max_runs: int | None = field(init=False)
    _last_n: int | None = field(init=False)
    _earlier: SeriesPrompt | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._summarizes = self.terms.values.strategy is Strategy.SUMMARY
        limits = self.terms.result_limits
        self._limits_results = limits.keep is not None or limits.tokens is not None
        self._overhead = self.terms.renderer.overhead(self.terms.counter)
        self._max_runs, self._last_n = self.terms.values.max_runs, self.terms.values.last_n
        self._room = self.terms.budget.tokens - self._overhead - self.heads.bare.tokens

    def turn(self, turn: int) -> ReplayedTurn:
        """Return the figures of a turn, or its refusal; the turns have to be taken in order."""
        finished, earlier, self._earlier = turn - 1, self._earlier, None
        prompt = self._prompt(finished, self.weights.questions[turn])
        if self._summarizes and not self._is_settled(prompt, finished):
            self.summaries.catch_up(finished, lambda: self._lost_through(finished))
            prompt = self._prompt(finished, self.weights.questions[turn])
        if prompt is None or prompt.dropped:
            try:
                prompt = self._checked(prompt, turn)
            except ConvowebError as refusal:
                return ReplayedTurn(error=refusal.detail)
        self._earlier = prompt
        return self._figures(prompt, finished, self._stable(earlier, prompt, finished))

    def _is_settled(self, prompt: SeriesPrompt | None, finished: int) -> bool:
        """Whether nothing is to be summarized: with all fitting beside a question, no run is lost without one."""
        fits = prompt is not None and not prompt.dropped and prompt.head is self.heads.whole(self.summaries.covered)
        return fits and self.summaries.is_quiet(finished)

    def _prompt(self, finished: int, question: int) -> SeriesPrompt | None:
        """Return the prompt, None if its fixed parts do not fit."""
        left, covered = self._room - question, self.summaries.covered
        if left < 0:
            return None
        head = self.heads.head(covered, left // 2)
        covered = covered if head.has_summary else 0
        remembered = covered if self._max_runs is None else max(covered, finished - self._max_runs)
        first = remembered + 1 if self._last_n is None else max(remembered, finished - self._last_n) + 1
        room = left + self.heads.bare.tokens - head.tokens
        chosen = self.rule.choose(first, finished, room)
        tokens, dropped = self.terms.budget.tokens - room + chosen.tokens, chosen.wanted - chosen.kept
        return SeriesPrompt(head, covered, remembered - covered, first, chosen, dropped, tokens)

    def _lost_through(self, finished: int) -> int:
        """Return the newest run that the prompt without a question loses, 0 if it cannot be built."""
        values = self.terms.values
        if not values.autoprune or values.on_gap is OnGap.ERROR:
            return 0
        prompt = self._prompt(finished, 0)
        return prompt.chosen.start - 1 if prompt and prompt.dropped else 0

    def _checked(self, prompt: SeriesPrompt | None, turn: int) -> SeriesPrompt:
        """Return the prompt, or raise what the builder raises where parts do not fit or may not be dropped."""
        values, budget = self.terms.values, self.terms.budget
        if prompt is None:
            raise too_small(FIXED, needs=self._fixed_needs(self.weights.questions[turn]), budget=budget)
        if not values.autoprune:
            needs = self._fixed_needs(self.weights.questions[turn]) | prompt.head.needs
            needs |= {Part.RUNS.value: prompt.chosen.needs}
            way_out = f"turn autoprune on or {budget.way_out}"
            raise too_small(NOT_PRUNED, needs=needs, budget=budget, way_out=way_out)
        if self._summarizes and values.on_gap is OnGap.ERROR:
            asked = self.weights.stored[turn] - self.weights.stored[turn - 1]
            standing = self.summaries.standing(turn - 1, open_tokens=asked)
            ways = WaysOut(budget, standing, self.terms.settings)
            refuse_gap(prompt.first, prompt.chosen.start - 1, budget, ways)
        return prompt

    def _fixed_needs(self, question: int) -> dict[str, int]:
        needs = {Part.INSTRUCTIONS.value: self.heads.bare.tokens, "open_run": question}
        return {name: tokens for name, tokens in needs.items() if tokens} | {Part.OVERHEAD.value: self._overhead}

    def _stable(self, earlier: SeriesPrompt | None, prompt: SeriesPrompt, finished: int) -> int:
        if earlier is None:
            return 0
        same_summary = earlier.covered == prompt.covered
        tokens, is_whole = common_head_tokens(earlier.head, prompt.head, same_summary=same_summary)
        return tokens + self.rule.common(earlier.chosen, prompt.chosen, finished) if is_whole else tokens

    def _figures(self, prompt: SeriesPrompt, finished: int, stable: int) -> ReplayedTurn:
        _, covered, capped, _, chosen, dropped, tokens = prompt
        return ReplayedTurn(
            tokens=tokens,
            kept=chosen.kept,
            summarized=covered,
            pruned=0 if self._summarizes else dropped,
            capped=capped,
            skipped=finished - chosen.wanted - covered - capped,
            lost=dropped if self._summarizes else 0,
            cut_results=self.rule.cut_results(chosen, finished) if self._limits_results else 0,
            first_kept=chosen.start if chosen.kept else None,
            covers_through=covered or None,
            stable_prefix=stable,
        )
