"""The one builder of prompts: browser, API, export and replay all call it."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

from sessions_app.domain.as_sent import is_blank
from sessions_app.domain.budget import Budget, budget_of
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.fates import History, finished_fates, open_fates
from sessions_app.domain.fixed_parts import FixedParts, fixed_parts, too_small
from sessions_app.domain.handed_down import HandedDown, HeadRoom, hand_down
from sessions_app.domain.language_models import LanguageModel, language_model
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, stored_values
from sessions_app.domain.pieces import Head, Payload, Piece, Renderer, Tail, segments_of, tokens_of
from sessions_app.domain.plan import Fate, FateRange, Part, Prompt, PromptPlan, PromptWarning, Segment, TokenParts
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.prompt_warnings import budget_warnings, lost_warning, model_warnings, open_run_warnings
from sessions_app.domain.run_tokens import are_exact
from sessions_app.domain.selection import Selection, Selector, select_runs, weigh_runs
from sessions_app.domain.strategies import STRATEGIES
from sessions_app.domain.summaries import standing_of
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.tool_definitions import check_tools
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


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for beside the session; `instructions` stand in for the session's this time."""

    query: str | None = None
    context: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    instructions: str | None = None

    def check(self) -> None:
        """Raise InvalidInput for a blank query or context block or a nameless tool."""
        errors = [
            FieldError(f"/context/{index}", "A context block must not be blank.")
            for index, text in enumerate(self.context)
            if is_blank(text)
        ]
        if self.query is not None and is_blank(self.query):
            errors.insert(0, FieldError("/query", "The query must not be blank; leave it out to send none."))
        if errors:
            raise InvalidInput(errors[0].detail, errors=errors)
        check_tools(self.tools)


@dataclass(frozen=True, slots=True)
class Decision:
    """Which parts are sent, and what becomes of the runs."""

    history: History
    fixed: FixedParts
    handed: HandedDown
    selection: Selection
    tail: Tail
    fates: tuple[FateRange, ...]
    warnings: tuple[PromptWarning, ...]

    @property
    def runs(self) -> list[Piece]:
        """The pieces of the runs that are kept."""
        return [piece for kept in self.selection.kept for piece in kept.pieces]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Everything that is sent, in the order in which it is shown."""
        head, runs, tail = map(segments_of, (self.handed.pieces, self.runs, self.fixed.tail))
        return (*head, *self.fixed.tools, *runs, *tail)

    @property
    def tokens(self) -> TokenParts:
        """Tokens by part."""
        totals: Counter[str] = Counter()
        for segment in (*segments_of(self.handed.pieces), *self.fixed.tools, *segments_of(self.fixed.tail)):
            totals[segment.part.value] += segment.tokens
        return TokenParts(**totals, runs=self.selection.tokens, overhead=self.fixed.overhead)


def build_prompt(
    *,
    reader: TranscriptReader,
    settings: EffectiveSettings,
    query: str | None,
    context: Sequence[str] = (),
    tools: Sequence[Mapping[str, Any]] = (),
    instructions: str | None = None,
) -> Prompt:
    """Decide what the model gets to see next; reads only.

    `instructions` stand in for the session's this time. Raises InvalidInput for a blank query or context block or a
    nameless tool, WindowUnknown, and BudgetTooSmall if parts that may not be left out do not fit.
    """
    request = Request(query, tuple(context), tuple(tools), instructions)
    request.check()
    terms = _terms(settings)
    render = partial(terms.renderer.render_run, counter=terms.counter)
    decision = _decide(reader, terms, request, partial(select_runs, render=render, counter=terms.counter))
    payload = terms.renderer.payload([*decision.handed.pieces, *decision.runs, *decision.fixed.tail])
    plan = _plan(terms, decision)
    return Prompt(
        **{field.name: getattr(plan, field.name) for field in fields(plan)},
        messages=payload.messages,
        text=payload.text,
        segments=decision.segments,
        fingerprint=_fingerprint(payload, tools, terms.values),
    )


def plan_prompt(*, reader: TranscriptReader, settings: EffectiveSettings, query: str | None) -> PromptPlan:
    """Decide the same without reading the runs: the plan equals that of the built prompt in everything it says.

    It costs the same whatever is sent, but only where what is stored with runs is exactly what they need in the prompt
    (`run_tokens.are_exact`); under another format, encoding or margin the whole prompt is built.
    """
    request = Request(query)
    request.check()
    terms = _terms(settings)
    if not are_exact(terms.values, terms.counter):
        return build_prompt(reader=reader, settings=settings, query=query)
    return _plan(terms, _decide(reader, terms, request, weigh_runs))


def _terms(settings: EffectiveSettings) -> Terms:
    model = language_model(settings.values.model)
    renderer = PROMPT_FORMATS[settings.values.format]
    return Terms(settings, model, model.counter, budget_of(settings.values, model), renderer)


def _decide(reader: TranscriptReader, terms: Terms, request: Request, select: Selector) -> Decision:
    values = terms.values
    head, tail = _ends(reader, request)
    fixed = fixed_parts(terms.renderer, terms.counter, head=head, tools=request.tools, tail=tail)
    fixed.check(terms.budget)
    room = terms.budget.tokens - fixed.tokens
    candidates = STRATEGIES[values.strategy](reader, values)
    handed = hand_down(
        HeadRoom(terms.renderer, terms.counter, head, room // 2),
        summary=candidates.summary,
        parents=reader.parent_contexts(values.parent_depth) if values.include_parent_context else (),
        settings=values,
    )
    history = History(reader.finished_through, values, handed.summary)
    room += tokens_of(fixed.head) - tokens_of(handed.pieces)
    selection = select(reader, not_below=history.first_candidate, room=room)
    if not values.autoprune:
        _check_nothing_is_dropped(fixed, handed, selection, terms.budget)
    left_out, limit = terms.renderer.left_out, terms.budget.limit
    fates = (
        *finished_fates(history, selection, dropped=candidates.dropped, limit=limit, left_out=left_out),
        *open_fates(history.finished, tail.open_run, is_sent=tail.query is None, left_out=left_out),
    )
    warnings = (
        *model_warnings(terms.model, values, terms.budget),
        *open_run_warnings(tail),
        *handed.warnings,
        *budget_warnings(selection, history, terms.budget),
        *_lost_warnings(reader, terms, request, fates),
    )
    return Decision(history, fixed, handed, selection, tail, fates, warnings)


def _ends(reader: TranscriptReader, request: Request) -> tuple[Head, Tail]:
    """Return what stands before and behind the runs; context blocks without a question stand before them."""
    instructions = reader.instructions if request.instructions is None else request.instructions
    tail = Tail(request.context, request.query, reader.open_run())
    if tail.query is None and tail.open_run is None:
        return Head(instructions, context=tail.context), Tail()
    return Head(instructions), tail


def _lost_warnings(
    reader: TranscriptReader, terms: Terms, request: Request, fates: Sequence[FateRange]
) -> list[PromptWarning]:
    lost = [each for each in fates if each.fate is Fate.LOST]
    if not lost:
        return []
    standing = standing_of(reader, budget=terms.counter.raw_limit(terms.budget.tokens))
    if request == Request():
        standing = replace(standing, lost_through=lost[-1].last)
    return [lost_warning(lost, terms.budget, standing, terms.settings)]


def _plan(terms: Terms, decision: Decision) -> PromptPlan:
    summary, asked = decision.handed.summary, decision.tail.asked_run
    return PromptPlan(
        format=terms.values.format,
        model=terms.model.name,
        encoding=terms.model.encoding,
        margin=float(terms.model.margin),
        window=terms.model.window,
        budget=terms.budget.tokens,
        reserve=terms.budget.reserve or 0,
        tokens=decision.tokens,
        fates=decision.fates,
        cut=decision.selection.cut,
        warnings=decision.warnings,
        settings=terms.settings,
        summary_id=summary.summary_id if summary else None,
        summary_number=summary.number if summary else None,
        covers_through=summary.covers_through if summary else None,
        finished=decision.history.finished,
        open_position=asked.position if asked else None,
    )


def _fingerprint(payload: Payload, tools: Sequence[Mapping[str, Any]], settings: MemorySettings) -> str:
    """Return the hash of the canonical JSON of what is sent and of the effective values, without their layers."""
    sent = {"messages": payload.messages, "text": payload.text, "tools": list(tools)}
    document = json.dumps(sent | {"settings": stored_values(settings)}, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(document.encode()).hexdigest()}"


def _check_nothing_is_dropped(fixed: FixedParts, handed: HandedDown, selection: Selection, budget: Budget) -> None:
    """Raise BudgetTooSmall if a candidate run does not fit and may not be dropped (autoprune off)."""
    if selection.cut is None:
        return
    head = {segment.part.value: segment.tokens for segment in segments_of(handed.pieces)}
    needs = fixed.needs() | head | {Part.RUNS.value: selection.tokens + selection.cut.needs}
    raise too_small("With autoprune off, the parts of the prompt", needs=needs, budget=budget, at_least="at least ")
