"""The decision for one prompt: which parts are sent, what becomes of each run, what the reader should know."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sessions_app.domain.base_messages import Base
from sessions_app.domain.budget import Budget
from sessions_app.domain.candidates import Candidates
from sessions_app.domain.errors import BudgetTooSmall
from sessions_app.domain.fates import History, Verdict, finished_fates, open_fates
from sessions_app.domain.fixed_parts import NOT_PRUNED, FixedParts, too_small
from sessions_app.domain.gaps import Gap, Stopgap, refuse_gap, stopgap
from sessions_app.domain.handed_down import HandedDown, HeadRoom, hand_down
from sessions_app.domain.language_models import LanguageModel
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, OnGap
from sessions_app.domain.pieces import Head, Piece, Renderer, Tail, segments_of, tokens_of
from sessions_app.domain.plan import Fate, FateRange, Part, PastTurn, PromptWarning, Segment, TokenParts
from sessions_app.domain.prompt_warnings import (
    budget_warnings,
    gap_warnings,
    left_out_warnings,
    model_warnings,
    open_run_warnings,
    turn_warnings,
)
from sessions_app.domain.run_rendering import RunRendering
from sessions_app.domain.run_tokens import are_exact
from sessions_app.domain.seeds.rules import has_seed_rule
from sessions_app.domain.selection import Choice, Selection, Shelf, Span, select_runs, weigh_runs
from sessions_app.domain.settings_effects import settings_warnings
from sessions_app.domain.strategies import STRATEGIES
from sessions_app.domain.summaries import standing_of
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.tool_results import ResultLimits, results_in
from sessions_app.domain.transcript import TranscriptReader
from sessions_app.domain.ways_out import WaysOut


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
        """What tool results may need; chuk's own prompts send them as they are."""
        if has_seed_rule(self.values):
            return ResultLimits(None, None, self.counter)
        return ResultLimits(self.values.keep_tool_results, self.values.tool_result_max_tokens, self.counter)

    def bare_head(self, instructions: str) -> Head:
        """Return the head that nothing is handed down in yet."""
        return Head(instructions, summary_template=self.settings.summary_template)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt is built around: its fixed parts, with the head that nothing is handed down in.

    With `shorten` the newest run is cut rather than dropped. `turn` is the past turn that it is rebuilt for. `is_plain`
    says that nothing is asked for beside the session itself.
    """

    head: Head
    fixed: FixedParts
    tail: Tail
    base: Base | None = None
    shorten: bool = False
    turn: PastTurn | None = None
    is_plain: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """What a decision is made from: the conversation, the terms, and what is asked."""

    reader: TranscriptReader
    terms: Terms
    asked: Asked


@dataclass(frozen=True, slots=True)
class Decision:
    """Which parts are sent, and what becomes of the runs; `runs` are their pieces, none if they were only weighed."""

    asked: Asked
    history: History
    handed: HandedDown
    choice: Choice
    runs: Sequence[Piece]
    fates: tuple[FateRange, ...]
    warnings: tuple[PromptWarning, ...]
    extract: Span | None = None

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

    @property
    def tokens(self) -> TokenParts:
        """Tokens by part."""
        fixed = self.asked.fixed
        totals: Counter[str] = Counter()
        for pieces in (self.handed.pieces, fixed.base, fixed.tail):
            for segment in segments_of(pieces):
                totals[segment.part.value] += segment.tokens
        tools = sum(segment.tokens for segment in fixed.tools)
        return TokenParts(**totals, tools=tools, runs=self.choice.tokens, overhead=fixed.overhead)


@dataclass(frozen=True, slots=True)
class Ground:
    """What is settled before runs are chosen: the candidates, what is handed down, and the room that it leaves.

    `hand_down` hands the same down in another room.
    """

    candidates: Candidates
    head_room: HeadRoom
    hand_down: Callable[[HeadRoom], HandedDown]
    handed: HandedDown
    history: History
    room: int

    @property
    def not_below(self) -> int:
        """The position of the oldest run that may be chosen."""
        return self.history.first_candidate

    def has_gap(self, choice: Choice) -> bool:
        """Whether runs are dropped that a summary should cover and none does."""
        return self.candidates.dropped is Fate.LOST and choice.cut is not None


def decide(situation: Situation) -> Decision:
    """Choose by the strategy, in its precedence, what fits; what is handed down goes first."""
    terms, ground = situation.terms, _ground(situation)
    selection = _selected(situation, ground)
    if not terms.values.autoprune:
        _check_nothing_is_dropped(situation, ground, selection.choice)
    filled: Stopgap | None = None
    if ground.has_gap(selection.choice) and terms.values.on_gap is OnGap.ERROR:
        refuse_gap(*selection.out[0], terms.budget, _ways_out(situation, selection.choice))
    if ground.has_gap(selection.choice) and terms.values.on_gap is OnGap.STOPGAP:
        filled = stopgap(_gap(situation, ground, selection))
    if filled is None:
        return _decision(situation, ground, selection.choice, selection.pieces)
    with_extract = replace(ground, handed=filled.handed)
    kept = filled.selection
    return _decision(situation, with_extract, kept.choice, kept.pieces, extract=filled.extracted)


def weigh(situation: Situation) -> Decision | None:
    """Decide the same without reading the runs; None where what is stored does not tell it exactly."""
    reader, terms = situation.reader, situation.terms
    if not are_exact(terms.values, terms.counter):
        return None
    ground = _ground(situation)
    if ground.candidates.series is None:
        return None
    choice = weigh_runs(reader, ground.candidates.series, room=ground.room, not_below=ground.not_below)
    if not terms.values.autoprune:
        _check_nothing_is_dropped(situation, ground, choice)
    if ground.has_gap(choice) and terms.values.on_gap is not OnGap.WARN:
        return None
    return _decision(situation, ground, choice, ())


def not_pruned(situation: Situation, handed: HandedDown, *, runs: int, about: str = "") -> BudgetTooSmall:
    """Return the error of runs that need so many tokens, exactly or `about`, do not fit and may not be dropped."""
    budget, head = situation.terms.budget, Counter[str]()
    for segment in segments_of(handed.pieces):
        head[segment.part.value] += segment.tokens
    return too_small(
        NOT_PRUNED,
        needs=situation.asked.fixed.needs() | head | {Part.RUNS.value: runs},
        budget=budget,
        about=about,
        way_out=f"turn autoprune on or {budget.way_out}",
    )


def common_warnings(situation: Situation) -> Iterator[PromptWarning]:
    """Warn of what is so whatever runs there are."""
    terms, asked = situation.terms, situation.asked
    yield from model_warnings(terms.model, terms.values, terms.budget)
    yield from settings_warnings(terms.settings, terms.model)
    yield from (open_run_warnings(asked.tail) if asked.turn is None else turn_warnings(asked.turn))


def _ground(situation: Situation) -> Ground:
    reader, terms, asked = situation.reader, situation.terms, situation.asked
    values, room = terms.values, terms.budget.tokens - asked.fixed.tokens
    candidates = STRATEGIES[values.strategy].candidates(reader, History(reader.finished_through, values).window, values)
    head_room = HeadRoom(terms.renderer, terms.counter.remembering(), asked.head, room // 2)
    parents = reader.parent_contexts(values.parent_depth) if values.takes_parents else ()
    handing = partial(hand_down, summary=candidates.summary, parents=parents, settings=values)
    handed = handing(head_room)
    history = History(reader.finished_through, values, handed.summary)
    left = room + tokens_of(asked.fixed.head) - tokens_of(handed.pieces)
    return Ground(candidates, head_room, handing, handed, history, left)


def _selected(situation: Situation, ground: Ground, *, fewer: int = 0) -> Selection:
    """Select the runs in so many tokens less than there is room for."""
    terms = situation.terms
    return select_runs(
        situation.reader,
        ground.candidates.wanted,
        shelf=_shelf(situation, ground.room - fewer, ground.history.finished),
        not_below=ground.not_below,
        counter=terms.counter,
        shorten=situation.asked.shorten and terms.values.autoprune,
    )


def _gap(situation: Situation, ground: Ground, selection: Selection) -> Gap:
    def shorten(fewer: int) -> Selection:
        return _selected(situation, ground, fewer=fewer)

    return Gap(
        situation.reader,
        situation.terms.values,
        ground.head_room,
        ground.handed,
        ground.hand_down,
        selection,
        shorten if situation.asked.shorten else None,
    )


def _decision(
    situation: Situation,
    ground: Ground,
    choice: Choice,
    runs: Sequence[Piece],
    *,
    extract: Span | None = None,
) -> Decision:
    terms, asked = situation.terms, situation.asked
    strategy, left_out = terms.values.strategy, terms.renderer.left_out
    skipped = ground.candidates.skipped or f"{strategy}: only {STRATEGIES[strategy].ABOUT}"
    verdict = Verdict(choice, ground.candidates.dropped, terms.budget.limit, skipped, left_out, extract)
    fates = finished_fates(ground.history, verdict)
    warnings = (
        *common_warnings(situation),
        *ground.handed.warnings,
        *budget_warnings(choice, ground.history, terms.budget),
        *left_out_warnings(choice, terms.renderer, terms.values.format),
        *_gap_warnings(situation, choice, fates, extract),
    )
    if asked.turn is None:
        is_sent = asked.tail.query is None
        fates += open_fates(ground.history.finished, asked.tail.open_run, is_sent=is_sent, left_out=left_out)
    return Decision(asked, ground.history, ground.handed, choice, runs, fates, warnings, extract)


def _gap_warnings(
    situation: Situation, choice: Choice, fates: Sequence[FateRange], extract: Span | None
) -> Iterator[PromptWarning]:
    lost = [each for each in fates if each.fate is Fate.LOST]
    if lost or extract:
        terms = situation.terms
        is_stopgap = terms.values.on_gap is OnGap.STOPGAP
        yield from gap_warnings(lost, extract, terms.budget, _ways_out(situation, choice), is_stopgap=is_stopgap)


def _ways_out(situation: Situation, choice: Choice) -> WaysOut:
    reader, terms, asked = situation.reader, situation.terms, situation.asked
    standing = standing_of(reader, budget=terms.counter.raw_limit(terms.budget.tokens))
    if asked.is_plain and choice.cut is not None:
        standing = replace(standing, lost_through=choice.cut.position)
    return WaysOut(terms.budget, standing, terms.settings)


def _shelf(situation: Situation, room: int, finished: int) -> Shelf:
    terms, asked = situation.terms, situation.asked
    open_run = asked.tail.asked_run
    rendering = RunRendering(terms.renderer, terms.counter, terms.result_limits)
    newer = results_in(open_run) if open_run else 0
    return Shelf(rendering, room, behind=finished + 1, newer=newer)


def _check_nothing_is_dropped(situation: Situation, ground: Ground, choice: Choice) -> None:
    """Raise BudgetTooSmall if a candidate run does not fit and may not be dropped (autoprune off).

    The runs behind the cut are counted as they are stored, exactly or nearly so.
    """
    reader, terms = situation.reader, situation.terms
    if choice.cut is None:
        return
    (first, at), *others = choice.out
    behind = sum(reader.tokens_between(start, end) for start, end in ((first, at - 1), *others))
    runs = choice.tokens + choice.cut.needs + terms.counter.scaled(behind)
    is_exact = are_exact(terms.values, terms.counter) and ground.candidates.series is not None
    about = "" if is_exact or not behind else "about "
    raise not_pruned(situation, ground.handed, runs=runs, about=about)
