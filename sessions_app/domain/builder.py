"""The one builder of prompts: whoever shows or sends one calls it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sessions_app.domain.as_sent import is_blank
from sessions_app.domain.base_messages import Base, base_pieces, check_base, payload_around
from sessions_app.domain.budget import budget_of
from sessions_app.domain.deciding import Asked, Decision, Situation, Terms, decide, weigh
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.fixed_parts import fixed_parts
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings, stored_values
from sessions_app.domain.pieces import Head, Payload, Renderer, Tail
from sessions_app.domain.plan import PastTurn, Prompt, PromptPlan
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.seeds.deciding import decide_as_seed
from sessions_app.domain.seeds.rules import has_seed_rule
from sessions_app.domain.summarizers.templates import SUMMARY, check_template
from sessions_app.domain.tool_definitions import check_tools
from sessions_app.domain.transcript import TranscriptReader


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for beside the session; the fields are as `build_prompt` takes them."""

    query: str | None = None
    context: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    instructions: str | None = None
    base: Base | None = None
    shorten: bool = False
    at: int | None = None

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
    request = Request(query, tuple(context), tuple(tools), instructions, base, shorten, at)
    terms = terms_of(settings)
    decision = decide_request(reader, terms, request)
    payload, plan = _payload(terms.renderer, decision), _plan(terms, decision)
    return Prompt(
        **{field.name: getattr(plan, field.name) for field in fields(plan)},
        messages=payload.messages,
        text=payload.text,
        system=payload.system,
        segments=decision.segments,
        fingerprint=_fingerprint(payload, tools, terms.values),
    )


def plan_prompt(*, reader: TranscriptReader, settings: EffectiveSettings, query: str | None) -> PromptPlan:
    """Decide the same without reading the runs: the plan equals that of the built prompt in everything it says.

    It costs the same whatever is sent, but only where whole runs are sent and what is stored with them is exactly what
    they need in the prompt (`run_tokens.are_exact`), and no extract stands for runs; else the whole prompt is built.
    """
    terms = terms_of(settings)
    decision = weigh(_situation(reader, terms, Request(query)))
    return _plan(terms, decision) if decision else build_prompt(reader=reader, settings=settings, query=query)


def terms_of(settings: EffectiveSettings) -> Terms:
    """Return what the settings come to, or raise WindowUnknown, or InvalidInput for a template that is none."""
    if settings.summary_template:
        check_template(settings.summary_template, places=(SUMMARY,), pointer="/summary_template")
    model = settings.model
    renderer = PROMPT_FORMATS[settings.values.format]
    return Terms(settings, model, model.counter, budget_of(settings.values, model), renderer)


def decide_request(reader: TranscriptReader, terms: Terms, request: Request) -> Decision:
    """Decide what is sent; raises what `build_prompt` raises."""
    decided = decide_as_seed if has_seed_rule(terms.values) else decide
    situation = _situation(reader, terms, request)
    decision = decided(situation)
    fewest = situation.asked.fixed.overhead
    while (more := _more_when_joined(terms, decision)) > 0:
        situation = _with_overhead(situation, situation.asked.fixed.overhead + more)
        situation.asked.fixed.check(terms.budget)
        decision = decided(situation)
    # What would have needed more may have been dropped for it.
    needed = max(fewest, situation.asked.fixed.overhead + more)
    return replace(decision, asked=_with_overhead(situation, needed).asked)


def _with_overhead(situation: Situation, tokens: int) -> Situation:
    return replace(situation, asked=replace(situation.asked, fixed=replace(situation.asked.fixed, overhead=tokens)))


def _more_when_joined(terms: Terms, decision: Decision) -> int:
    """Return how many tokens more one text needs than its pieces do apart.

    It is none but where a base's message without a label begins with space, which joins that of the piece before it.
    """
    if decision.asked.base is None:
        return 0
    text = _payload(terms.renderer, decision).text
    return 0 if text is None else terms.counter.scaled(terms.counter.text(text)) - decision.tokens.total


def _situation(reader: TranscriptReader, terms: Terms, request: Request) -> Situation:
    """Return what there was when it was asked, with what is sent whatever the history is, if it fits."""
    request.check()
    values, base, turn = terms.values, request.base, None
    if base is not None:
        check_base(base, values.format)
    if request.at is not None:
        reader, turn = _as_of(reader, request.at, terms.settings)
    head, tail = _ends(reader, terms, request)
    fixed = fixed_parts(
        terms.renderer,
        terms.counter,
        head=head,
        tools=request.tools,
        tail=replace(tail, open_run=None) if has_seed_rule(values) else tail,
        base=base_pieces(base, values.format, terms.counter),
    )
    fixed.check(terms.budget)
    asked = Asked(head, fixed, tail, base, request.shorten, turn, is_plain=request == Request())
    return Situation(reader, terms, asked)


def _as_of(reader: TranscriptReader, at: int, settings: EffectiveSettings) -> tuple[TranscriptReader, PastTurn]:
    """Return what there was at a turn, or raise InvalidInput if no run stands there."""
    open_run = reader.open_run()
    newest = open_run.position if open_run else reader.finished_through
    if not 1 <= at <= newest:
        turns = f"a turn from 1 to {newest:,}" if newest else "not possible yet, for there are no runs"
        detail = f"at is {turns}; {at:,} was given."
        raise InvalidInput(detail, errors=[FieldError("/at", detail)])
    past = reader.as_of(at)
    run = past.open_run()
    return past, PastTurn(at, run.prompt_fingerprint if run else "", settings.versions)


def _ends(reader: TranscriptReader, terms: Terms, request: Request) -> tuple[Head, Tail]:
    """Return what stands before and behind the runs; context blocks without a question stand before them.

    A query at a past turn takes the place of its run's input.
    """
    instructions = reader.instructions if request.instructions is None else request.instructions
    open_run = None if request.at is not None and request.query is not None else reader.open_run()
    if open_run is not None:
        open_run = terms.result_limits.applied(open_run, newer=0)
    if request.query is None and open_run is None and request.base is None:
        return replace(terms.bare_head(instructions), context=request.context), Tail()
    return terms.bare_head(instructions), Tail(request.context, request.query, open_run)


def _plan(terms: Terms, decision: Decision) -> PromptPlan:
    summary, asked = decision.handed.summary, decision.asked
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
        cut=decision.choice.cut,
        extract=decision.extract,
        warnings=decision.warnings,
        settings=terms.settings,
        summary_id=summary.summary_id if summary else None,
        summary_number=summary.number if summary else None,
        covers_through=summary.covers_through if summary else None,
        finished=decision.history.finished,
        open_position=asked.tail.asked_run.position if asked.tail.asked_run else None,
        turn=asked.turn,
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
