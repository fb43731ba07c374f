"""The one builder of prompts: browser, API, export and replay all call it."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.as_sent import is_blank
from sessions_app.domain.budget import Budget, budget_of
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.fates import History, finished_fates, open_fates
from sessions_app.domain.fixed_parts import FixedParts, fixed_parts, too_small
from sessions_app.domain.handed_down import HandedDown, HeadRoom, hand_down
from sessions_app.domain.language_models import LanguageModel, language_model
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, stored_values
from sessions_app.domain.pieces import Payload, Piece, Renderer, Tail, segments_of, tokens_of
from sessions_app.domain.plan import FateRange, Part, Prompt, PromptWarning, Segment, TokenParts
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.prompt_warnings import budget_warnings, model_warnings, open_run_warnings
from sessions_app.domain.selection import Selection, select_runs
from sessions_app.domain.strategies import STRATEGIES
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
class Decision:
    """Which parts are sent, and what becomes of the runs."""

    fixed: FixedParts
    handed: HandedDown
    selection: Selection
    fates: tuple[FateRange, ...]
    warnings: tuple[PromptWarning, ...]

    @property
    def runs(self) -> list[Piece]:
        """The pieces of the runs that are kept."""
        return [piece for rendered in self.selection.kept for piece in rendered.pieces]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Everything that is sent, in the order in which it is shown."""
        head, runs, tail = map(segments_of, (self.handed.pieces, self.runs, self.fixed.tail))
        return (*head, *self.fixed.tools, *runs, *tail)


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
    _check_texts(query, context)
    check_tools(tools)
    terms = _terms(settings)
    words = reader.instructions if instructions is None else instructions
    tail = Tail(tuple(context), query, reader.open_run())
    fixed = fixed_parts(terms.renderer, terms.counter, instructions=words, tools=tools, tail=tail)
    fixed.check(terms.budget)
    return _prompt(terms, _decide(reader, terms, fixed, words, tail), tools)


def _terms(settings: EffectiveSettings) -> Terms:
    model = language_model(settings.values.model)
    renderer = PROMPT_FORMATS[settings.values.format]
    return Terms(settings, model, model.counter, budget_of(settings.values, model), renderer)


def _decide(reader: TranscriptReader, terms: Terms, fixed: FixedParts, instructions: str, tail: Tail) -> Decision:
    values, room = terms.values, terms.budget.tokens - fixed.tokens
    candidates = STRATEGIES[values.strategy](reader, values)
    handed = hand_down(
        HeadRoom(terms.renderer, terms.counter, instructions, room // 2),
        summary=candidates.summary,
        parents=reader.parent_contexts(values.parent_depth) if values.include_parent_context else (),
        settings=values,
    )
    history = History(reader.finished_through, values, handed.summary)
    selection = select_runs(
        reader,
        not_below=history.first_candidate,
        room=room + tokens_of(fixed.head) - tokens_of(handed.pieces),
        render=lambda run: terms.renderer.render_run(run, terms.counter),
        counter=terms.counter,
    )
    if not values.autoprune:
        _check_nothing_is_dropped(fixed, handed, selection, terms.budget)
    finished = finished_fates(
        history, selection, dropped=candidates.dropped, limit=terms.budget.limit, left_out=terms.renderer.left_out
    )
    fates = finished + open_fates(history.finished, tail.open_run, is_sent=tail.query is None)
    warnings = (
        *model_warnings(terms.model, values),
        *open_run_warnings(tail),
        *handed.warnings,
        *budget_warnings(fates, selection, history, terms.budget),
    )
    return Decision(fixed, handed, selection, fates, warnings)


def _prompt(terms: Terms, decision: Decision, tools: Sequence[Mapping[str, Any]]) -> Prompt:
    payload = terms.renderer.payload([*decision.handed.pieces, *decision.runs, *decision.fixed.tail])
    summary = decision.handed.summary
    return Prompt(
        format=terms.values.format,
        model=terms.model.name,
        encoding=terms.model.encoding,
        margin=float(terms.model.margin),
        window=terms.model.window,
        budget=terms.budget.tokens,
        messages=payload.messages,
        text=payload.text,
        system=payload.system,
        tokens=_token_parts(decision.segments, decision.fixed.overhead),
        segments=decision.segments,
        fates=decision.fates,
        warnings=decision.warnings,
        settings=terms.settings,
        summary_id=summary.summary_id if summary else None,
        summary_number=summary.number if summary else None,
        covers_through=summary.covers_through if summary else None,
        fingerprint=_fingerprint(payload, tools, terms.values),
    )


def _fingerprint(payload: Payload, tools: Sequence[Mapping[str, Any]], settings: MemorySettings) -> str:
    """Return the hash of the canonical JSON of what is sent and of the effective values, without their layers."""
    sent = {"messages": payload.messages, "system": payload.system, "text": payload.text, "tools": list(tools)}
    document = json.dumps(sent | {"settings": stored_values(settings)}, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(document.encode()).hexdigest()}"


def _check_texts(query: str | None, context: Sequence[str]) -> None:
    errors = [
        FieldError(f"/context/{index}", "A context block must not be blank.")
        for index, text in enumerate(context)
        if is_blank(text)
    ]
    if query is not None and is_blank(query):
        errors.insert(0, FieldError("/query", "The query must not be blank; leave it out to send none."))
    if errors:
        raise InvalidInput(errors[0].detail, errors=errors)


def _check_nothing_is_dropped(fixed: FixedParts, handed: HandedDown, selection: Selection, budget: Budget) -> None:
    """Raise BudgetTooSmall if a candidate run does not fit and may not be dropped (autoprune off)."""
    if selection.first_out is None:
        return
    runs = selection.first_out.tokens + sum(rendered.tokens for rendered in selection.kept)
    head = {segment.part.value: segment.tokens for segment in segments_of(handed.pieces)}
    needs = fixed.needs() | head | {Part.RUNS.value: runs}
    raise too_small("With autoprune off, the parts of the prompt", needs=needs, budget=budget, at_least="at least ")


def _token_parts(segments: Sequence[Segment], overhead: int) -> TokenParts:
    totals: Counter[str] = Counter()
    for segment in segments:
        totals[segment.part.value] += segment.tokens
    return TokenParts(**totals, overhead=overhead)
