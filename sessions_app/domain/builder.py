"""The one builder of prompts: browser, API, export and replay all call it."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sessions_app.domain.as_sent import is_blank
from sessions_app.domain.base_messages import Base, base_pieces, check_base, payload_around
from sessions_app.domain.budget import budget_of
from sessions_app.domain.deciding import Asked, Decision, Terms, decide
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.fixed_parts import fixed_parts
from sessions_app.domain.language_models import language_model
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, stored_values
from sessions_app.domain.pieces import Payload, Renderer, Tail
from sessions_app.domain.plan import Prompt, Segment, TokenParts, Turn
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.seed_deciding import decide_as_seed
from sessions_app.domain.seed_rules import has_seed_rule
from sessions_app.domain.tool_definitions import check_tools
from sessions_app.domain.transcript import TranscriptReader


def build_prompt(
    *,
    reader: TranscriptReader,
    settings: EffectiveSettings,
    query: str | None,
    context: Sequence[str] = (),
    tools: Sequence[Mapping[str, Any]] = (),
    instructions: str | None = None,
    base: Base | None = None,
    shorten: bool = False,
    at: int | None = None,
) -> Prompt:
    """Decide what the model gets to see next, or got to see at the turn `at`; reads only.

    At a turn the history is what lay before its run, and without another query that run's input is the question.
    `instructions` stand in for the session's this time. With a `base` the system block and the runs go in among its
    messages, and context blocks and the question come behind it. With `shorten` the newest run is cut, marked, rather
    than dropped. Raises InvalidInput for a blank query or context block, a nameless tool, a base that cannot be sent or
    a turn that is none, WindowUnknown, BudgetTooSmall if parts that may not be left out do not fit, and RunsLost where
    settings make that an error.
    """
    _check_texts(query, context)
    check_tools(tools)
    terms = _terms(settings)
    words = reader.instructions if instructions is None else instructions
    if base is not None:
        check_base(base, terms.values.format)
    turn = None
    if at is not None:
        reader, turn = _as_of(reader, at)
    tail = _tail(terms, reader, query, context, is_past=at is not None)
    given = base_pieces(base, terms.values.format, terms.counter)
    is_seed = has_seed_rule(terms.values)
    behind = replace(tail, open_run=None) if is_seed else tail
    fixed = fixed_parts(terms.renderer, terms.counter, instructions=words, tools=tools, tail=behind, base=given)
    fixed.check(terms.budget)
    asked = Asked(words, fixed, tail, base, shorten, turn)
    return _prompt(terms, (decide_as_seed if is_seed else decide)(reader, terms, asked), tools)


def _as_of(reader: TranscriptReader, at: int) -> tuple[TranscriptReader, Turn]:
    """Return what there was at a turn, or raise InvalidInput if no run stands there."""
    open_run = reader.open_run()
    newest = open_run.position if open_run else reader.finished_through
    if not 1 <= at <= newest:
        turns = f"a turn from 1 to {newest:,}" if newest else "not possible yet, for there are no runs"
        detail = f"at is {turns}; {at:,} was given."
        raise InvalidInput(detail, errors=[FieldError("/at", detail)])
    past = reader.as_of(at)
    run = past.open_run()
    return past, Turn(at, run.prompt_fingerprint if run else "")


def _tail(terms: Terms, reader: TranscriptReader, query: str | None, context: Sequence[str], *, is_past: bool) -> Tail:
    """Return what stands behind the runs; a query at a past turn takes the place of its run's input."""
    open_run = None if is_past and query is not None else reader.open_run()
    return Tail(tuple(context), query, open_run and terms.result_limits.applied(open_run, newer=0))


def _terms(settings: EffectiveSettings) -> Terms:
    model = language_model(settings.values.model)
    renderer = PROMPT_FORMATS[settings.values.format]
    return Terms(settings, model, model.counter, budget_of(settings.values, model), renderer)


def _prompt(terms: Terms, decision: Decision, tools: Sequence[Mapping[str, Any]]) -> Prompt:
    payload, summary = _payload(terms.renderer, decision), decision.handed.summary
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
        tokens=_token_parts(decision.segments, decision.asked.fixed.overhead),
        segments=decision.segments,
        fates=decision.fates,
        warnings=decision.warnings,
        settings=terms.settings,
        summary_id=summary.summary_id if summary else None,
        summary_number=summary.number if summary else None,
        covers_through=summary.covers_through if summary else None,
        fingerprint=_fingerprint(payload, tools, terms.values),
        turn=decision.asked.turn,
    )


def _payload(renderer: Renderer, decision: Decision) -> Payload:
    base, fixed = decision.asked.base, decision.asked.fixed
    if base is None:
        return renderer.payload([*decision.memory, *fixed.tail])
    return payload_around(renderer, base, fixed.base, memory=decision.memory, tail=fixed.tail)


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


def _token_parts(segments: Sequence[Segment], overhead: int) -> TokenParts:
    totals: Counter[str] = Counter()
    for segment in segments:
        totals[segment.part.value] += segment.tokens
    return TokenParts(**totals, overhead=overhead)
