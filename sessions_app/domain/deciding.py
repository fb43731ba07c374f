"""The decision for one prompt: which parts are sent, what becomes of each run, what the reader should know."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.domain.base_messages import Base
from sessions_app.domain.budget import Budget
from sessions_app.domain.fates import History, Verdict, finished_fates, open_fates
from sessions_app.domain.fixed_parts import FixedParts, too_small
from sessions_app.domain.gaps import Stopgap, refuse_gap, stopgap
from sessions_app.domain.handed_down import HandedDown, HeadRoom, hand_down
from sessions_app.domain.language_models import LanguageModel
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, OnGap
from sessions_app.domain.pieces import Piece, Renderer, Tail, segments_of, tokens_of
from sessions_app.domain.plan import Fate, FateRange, Part, PromptWarning, Segment, Turn
from sessions_app.domain.prompt_warnings import (
    budget_warnings,
    gap_warnings,
    model_warnings,
    open_run_warnings,
    turn_warnings,
)
from sessions_app.domain.run_rendering import RunRendering
from sessions_app.domain.selection import Selection, Shelf, select_runs
from sessions_app.domain.settings_effects import settings_warnings
from sessions_app.domain.strategies import STRATEGIES
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.tool_results import ResultLimits, results_in
from sessions_app.domain.transcript import TranscriptReader


@dataclass(frozen=True, slots=True)
class Terms:
    """What the settings come to: the model, its counter, the budget and the format."""

    settings: EffectiveSettings
    model: LanguageModel
    counter: TokenCounter
    budget: Budget
    renderer: Renderer

    @property
    def values(self) -> MemorySettings:
        """The values in force."""
        return self.settings.values

    @property
    def result_limits(self) -> ResultLimits:
        """What tool results may need."""
        return ResultLimits(self.values.keep_tool_results, self.values.tool_result_max_tokens, self.counter)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt is built around: its fixed parts; with `shorten` the newest run is cut rather than dropped.

    `turn` is the past turn that it is rebuilt for.
    """

    instructions: str
    fixed: FixedParts
    tail: Tail
    base: Base | None = None
    shorten: bool = False
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Which parts are sent, and what becomes of the runs."""

    asked: Asked
    handed: HandedDown
    runs: Sequence[Piece]
    fates: tuple[FateRange, ...]
    warnings: tuple[PromptWarning, ...]

    @property
    def memory(self) -> list[Piece]:
        """The pieces of what is handed down and of the runs that are kept."""
        return [*self.handed.pieces, *self.runs]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Everything that is sent, in the order in which it is shown."""
        fixed, head, runs = self.asked.fixed, self.handed.pieces, self.runs
        if self.asked.base:
            memory = self.asked.base.around(self.memory, fixed.base)
            return (*segments_of(memory), *fixed.tools, *segments_of(fixed.tail))
        return (*segments_of(head), *fixed.tools, *segments_of(runs), *segments_of(fixed.tail))


def decide(reader: TranscriptReader, terms: Terms, asked: Asked) -> Decision:
    """Choose by the strategy, in its precedence, what fits; what is handed down goes first."""
    values, room = terms.values, terms.budget.tokens - asked.fixed.tokens
    rule = STRATEGIES[values.strategy]
    candidates = rule.candidates(reader, History(reader.finished_through, values).window, values)
    head_room = HeadRoom(terms.renderer, terms.counter, asked.instructions, room // 2)
    parents = values.include_parent_context or candidates.always_with_parents
    handed = hand_down(
        head_room,
        summary=candidates.summary,
        parents=reader.parent_contexts(values.parent_depth) if parents else (),
        settings=values,
    )
    history = History(reader.finished_through, values, handed.summary)
    selection = select_runs(
        reader,
        candidates.wanted,
        shelf=_shelf(terms, asked, history, room + tokens_of(asked.fixed.head) - tokens_of(handed.pieces)),
        not_below=history.first_candidate,
        counter=terms.counter,
        shorten=asked.shorten and values.autoprune,
    )
    if not values.autoprune:
        _check_nothing_is_dropped(asked.fixed, handed, selection, terms.budget)
    filled: Stopgap | None = None
    if candidates.dropped is Fate.LOST and selection.out:
        refuse_gap(selection, values, terms.budget)
        filled = stopgap(reader, head_room, handed, selection, values) if values.on_gap is OnGap.STOPGAP else None
    if filled:
        handed, selection = filled.handed, filled.selection
    verdict = Verdict(
        selection=selection,
        dropped=candidates.dropped,
        limit=terms.budget.limit,
        skipped=candidates.skipped or f"{values.strategy}: only {rule.ABOUT}",
        left_out=terms.renderer.left_out,
        extract=filled.extracted if filled else None,
    )
    return _decision(terms, asked, handed, history, verdict)


def _decision(terms: Terms, asked: Asked, handed: HandedDown, history: History, verdict: Verdict) -> Decision:
    fates = finished_fates(history, verdict)
    if asked.turn is None:
        fates += open_fates(history.finished, asked.tail.open_run, is_sent=asked.tail.query is None)
    warnings = (
        *model_warnings(terms.model, terms.values),
        *settings_warnings(terms.settings, terms.model),
        *(open_run_warnings(asked.tail) if asked.turn is None else turn_warnings(asked.turn)),
        *handed.warnings,
        *gap_warnings(verdict, terms.budget),
        *budget_warnings(fates, verdict, history, terms.budget),
    )
    return Decision(asked, handed, verdict.selection.pieces, fates, warnings)


def _shelf(terms: Terms, asked: Asked, history: History, room: int) -> Shelf:
    open_run = asked.tail.open_run if asked.tail.query is None else None
    rendering = RunRendering(terms.renderer, terms.counter, terms.result_limits)
    return Shelf(rendering, room, behind=history.finished + 1, newer=results_in(open_run) if open_run else 0)


def _check_nothing_is_dropped(fixed: FixedParts, handed: HandedDown, selection: Selection, budget: Budget) -> None:
    """Raise BudgetTooSmall if a candidate run does not fit and may not be dropped (autoprune off)."""
    if selection.first_out is None:
        return
    runs = selection.first_out.tokens + sum(rendered.tokens for rendered in selection.kept)
    head = {segment.part.value: segment.tokens for segment in segments_of(handed.pieces)}
    needs = fixed.needs() | head | {Part.RUNS.value: runs}
    raise too_small("With autoprune off, the parts of the prompt", needs=needs, budget=budget, at_least="at least ")
