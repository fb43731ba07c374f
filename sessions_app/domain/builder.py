"""The one builder of prompts: browser, API, export and replay all call it."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sessions_app.domain.as_sent import is_blank
from sessions_app.domain.budget import Budget, budget_of
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.fates import History, finished_fates, open_fates
from sessions_app.domain.fixed_parts import FixedParts, fixed_parts, segments_of, too_small
from sessions_app.domain.handed_down import HandedDown, HeadRoom, hand_down
from sessions_app.domain.language_models import language_model
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, stored_values
from sessions_app.domain.pieces import Payload, Tail
from sessions_app.domain.plan import Part, Prompt, Segment, TokenParts
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.prompt_warnings import budget_warnings, model_warnings, open_run_warnings
from sessions_app.domain.selection import Selection, select_runs
from sessions_app.domain.strategies import STRATEGIES
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
) -> Prompt:
    """Decide what the model gets to see next; reads only.

    `instructions` stand in for the session's this time. Raises InvalidInput for a blank query or context block or a
    nameless tool, WindowUnknown, and BudgetTooSmall if parts that may not be left out do not fit.
    """
    _check_texts(query, context)
    check_tools(tools)
    values = settings.values
    model = language_model(values.model)
    counter, budget, renderer = model.counter, budget_of(values, model), PROMPT_FORMATS[values.format]
    open_run = reader.open_run()
    own_words = reader.instructions if instructions is None else instructions

    tail = Tail(tuple(context), query, open_run if query is None else None)
    fixed = fixed_parts(renderer, counter, instructions=own_words, tools=tools, tail=tail)
    fixed.check(budget)

    candidates = STRATEGIES[values.strategy](reader, values)
    room = budget.tokens - fixed.tokens
    parents = reader.parent_contexts(values.parent_depth) if values.include_parent_context else []
    handed = hand_down(
        HeadRoom(renderer, counter, own_words, room // 2),
        summary=candidates.summary,
        parents=parents,
        settings=values,
    )
    history = History(reader.finished_through, values, handed.summary)
    selection = select_runs(
        reader,
        not_below=history.first_candidate,
        room=room - (_tokens(segments_of(handed.pieces)) - _tokens(segments_of(fixed.head))),
        render=lambda run: renderer.render_run(run, counter),
        counter=counter,
    )
    if not values.autoprune:
        _check_nothing_is_dropped(fixed, handed, selection, budget)

    fates = finished_fates(
        history, selection, dropped=candidates.dropped, limit=budget.limit, left_out=renderer.left_out
    ) + open_fates(history.finished, open_run, is_sent=query is None)
    warnings = (
        *model_warnings(model, values),
        *open_run_warnings(open_run, query),
        *handed.warnings,
        *budget_warnings(
            fates,
            selection,
            budget=budget,
            newest=history.finished,
            protected_from=history.finished - values.offset + 1,
        ),
    )
    runs = [piece for rendered in selection.kept for piece in rendered.pieces]
    pieces = [*handed.pieces, *runs, *fixed.tail]
    payload = renderer.payload(pieces)
    segments = (*segments_of(handed.pieces), *fixed.tools, *segments_of(runs), *segments_of(fixed.tail))
    return Prompt(
        format=values.format,
        model=model.name,
        encoding=model.encoding,
        margin=float(model.margin),
        window=model.window,
        budget=budget.tokens,
        messages=payload.messages,
        text=payload.text,
        tokens=_token_parts(segments, fixed.overhead),
        segments=segments,
        fates=fates,
        warnings=warnings,
        settings=settings,
        summary_id=handed.summary.summary_id if handed.summary else None,
        summary_number=handed.summary.number if handed.summary else None,
        covers_through=handed.summary.covers_through if handed.summary else None,
        fingerprint=fingerprint(payload, tools, values),
    )


def fingerprint(payload: Payload, tools: Sequence[Mapping[str, Any]], settings: MemorySettings) -> str:
    """Return the hash of the canonical JSON of what is sent and of the effective values, without their layers."""
    sent = {"messages": payload.messages, "text": payload.text, "tools": list(tools)}
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
    extra = {segment.part.value: 0 for segment in segments_of(handed.pieces)}
    for segment in segments_of(handed.pieces):
        extra[segment.part.value] += segment.tokens
    needs = fixed.needs() | extra | {Part.RUNS.value: runs}
    raise too_small("With autoprune off, the parts of the prompt", needs=needs, budget=budget, at_least="at least ")


def _tokens(segments: Sequence[Segment]) -> int:
    return sum(segment.tokens for segment in segments)


def _token_parts(segments: Sequence[Segment], overhead: int) -> TokenParts:
    totals: Counter[str] = Counter()
    for segment in segments:
        totals[segment.part.value] += segment.tokens
    return TokenParts(**totals, overhead=overhead)
