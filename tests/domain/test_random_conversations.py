"""Laws that hold for every conversation: budget, validity, fates, warnings, recounted by code of its own."""

import json
import re
from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest
import tiktoken
from hypothesis import HealthCheck, given
from hypothesis import settings as run_with
from hypothesis import strategies as st

from sessions_app.domain.builder import build_prompt, plan_prompt
from sessions_app.domain.errors import BudgetTooSmall
from sessions_app.domain.memory_settings import PromptFormat, Strategy
from sessions_app.domain.plan import Fate, FateRange, Part, Prompt, PromptPlan, WarningCode
from sessions_app.domain.transcript import ParentContext, Run, RunStatus, SummaryEntry
from sessions_app.domain.validity import validate
from tests.domain.fakes.random_runs import FINISHED, TEXTS, runs
from tests.domain.fakes.transcripts import SUMMARY_TEMPLATES, InMemoryTranscript, assistant, run, settings, user
from tests.domain.recount import count_messages, count_prompt, count_text
from tests.provider_rules import broken_rules

# Model, its encoding, its margin in tenths: written down here, not asked of the product.
MODELS = [
    ("gpt-4.1-mini", "o200k_base", 10),
    ("gpt-4", "cl100k_base", 10),
    ("claude-sonnet-4-5", "o200k_base", 13),
    ("someone/unheard-of", "o200k_base", 13),
]


@st.composite
def transcripts(draw: st.DrawFn) -> InMemoryTranscript:
    history = draw(st.lists(runs(FINISHED), max_size=12))
    if draw(st.integers(0, 3)) == 0:
        history.append(draw(runs([RunStatus.PENDING, RunStatus.RUNNING])))
    covers = draw(st.integers(0, 6))
    summary = SummaryEntry("s1", 1, covers, "SUMMARY They asked. " * draw(st.sampled_from([1, 5, 60])))
    return InMemoryTranscript(
        [with_marker(each, position) for position, each in enumerate(history, 1)],
        instructions=draw(st.sampled_from(["", "INSTRUCTIONS Be kind.", "# Summary of runs 1-9\nINSTRUCTIONS"])),
        summaries=[summary] if 0 < covers <= len(history) else [],
        parents=[ParentContext("Root", "PARENT The root. " * 8), ParentContext("", "PARENT Nearest.")],
    )


def with_marker(each: Run, position: int) -> Run:
    """Give the run's user texts a word that stands nowhere else."""
    events = [
        user(f"{marker(position)} {event.text}") if event.role == "user" and event.text.strip() else event
        for event in each.events
    ]
    return run(*events, status=each.status, error=each.error)


def marker(position: int) -> str:
    return f"marker-{position}-"


def has_marker(each: Run) -> bool:
    return any(event.text.startswith("marker-") for event in each.events)


OVERRIDES = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(Strategy),
        "max_input_tokens": st.integers(20, 900),
        "max_runs": st.sampled_from(["unlimited", "unlimited", 1, 4, 9]),
        "last_n": st.sampled_from(["unlimited", "unlimited", 0, 1, 5]),
        "offset": st.sampled_from([0, 1, 6]),
        "max_summary_tokens": st.sampled_from([8, 40, 512]),
        "include_parent_context": st.booleans(),
        "parent_depth": st.sampled_from([1, 2]),
        "on_gap": st.sampled_from(["warn", "stopgap"]),
        "max_history": st.sampled_from([0, 1, 4, 5, 9, 100]),
        "head_runs": st.sampled_from([0, 1, 3, 20]),
        "tool_result_max_tokens": st.sampled_from(["unlimited", 1, 4]),
        "keep_tool_results": st.sampled_from(["unlimited", 0, 1, 3]),
        "summary_template": st.sampled_from(["", "", *SUMMARY_TEMPLATES]),
    }
)
QUERIES = st.sampled_from([None, "QUERY What did I say?"])
CONTEXTS = st.sampled_from([(), ("CONTEXT A fact.",), ("CONTEXT A fact.\n", "CONTEXT Another.")])
FRAME = 8
UNLIMITED = {"unlimited"}
OF_RESULTS = ("tool_result_max_tokens", "keep_tool_results")
# Of whole runs stored sums tell all, unless an extract of them may be needed.
NEVER_READ = {(Strategy.BUFFER, "warn"), (Strategy.BUFFER, "stopgap"), (Strategy.SUMMARY, "warn")}
many = run_with(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def build(
    reader: InMemoryTranscript, query: str | None, context: Any = (), *, shorten: bool, **overrides: Any
) -> Prompt | None:
    """Build twice and compare; None if the fixed parts are refused, which must then be over the budget."""

    def built() -> Prompt:
        return build_prompt(
            reader=reader, settings=settings(**overrides), query=query, context=context, shorten=shorten
        )

    needs: dict[str, int] = {}
    try:
        prompt = built()
    except BudgetTooSmall as refused:
        needs = refused.needs
    if needs:
        assert sum(needs.values()) > overrides["max_input_tokens"]
        return None
    assert built() == prompt
    return prompt


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic", "gemini"])
@many
@given(transcripts(), OVERRIDES, QUERIES, CONTEXTS, st.sampled_from(MODELS), st.booleans())
def test_every_chat_prompt_keeps_the_budget_and_is_valid_and_recounts_exactly(
    format: str,
    reader: InMemoryTranscript,
    overrides: dict[str, Any],
    query: str | None,
    context: Any,
    model: Any,
    shorten: bool,
):
    name, encoding, tenths = model
    prompt = build(reader, query, context, model=name, format=format, shorten=shorten, **overrides)
    if prompt is None or prompt.messages is None:
        return
    assert (prompt.encoding, prompt.margin) == (encoding, tenths / 10)
    assert count_prompt(format, prompt.messages, prompt.system, encoding, tenths) == prompt.tokens.total
    assert prompt.tokens.total <= prompt.budget
    follows = query is None and reader.open_run() is None
    assert validate(prompt.messages, PromptFormat(format), query_follows=follows) == []
    assert broken_rules(prompt.messages, last_is_history=follows, format=format, system=prompt.system) == []
    assert sum(segment.tokens for segment in prompt.segments) + prompt.tokens.overhead == prompt.tokens.total
    assert all(segment.tokens >= 0 for segment in prompt.segments)
    assert_fixed_parts_are_whole(prompt, reader, query, context)
    everything = json.dumps([prompt.system, prompt.messages], ensure_ascii=False)
    assert_fates(prompt, reader, everything, query, json.dumps(extract_in(prompt), ensure_ascii=False)[1:-1])


def assert_fixed_parts_are_whole(prompt: Prompt, reader: InMemoryTranscript, query: str | None, context: Any) -> None:
    assert prompt.messages is not None
    if reader.instructions:
        block = prompt.system
        if block is None:
            assert prompt.messages[0]["role"] == "system"
            block = prompt.messages[0]["content"]
        assert block.count(reader.instructions) == 1
    if query is not None:
        assert last_text(prompt.messages[-1]).endswith(query)
    if context:
        tail = next(each for each in (*reversed(prompt.messages), prompt.system) if "CONTEXT" in str(each))
        assert all(text in last_text(tail) for text in context)


def last_text(message: Any) -> str:
    if isinstance(message, str):
        return message
    parts = message.get("content", message.get("parts"))
    return parts if isinstance(parts, str) else str(parts[-1]["text"])


def extract_in(prompt: Prompt) -> str:
    """The text that stands in for runs that are lost."""
    summaries = [segment for segment in prompt.segments if segment.part is Part.SUMMARY]
    extracts = [each.text for each in summaries if (each.heading or each.text).startswith("Extract of runs")]
    assert len(extracts) <= 1
    return extracts[0] if extracts else ""


def assert_fates(prompt: Prompt, reader: InMemoryTranscript, everything: str, query: str | None, extract: str) -> None:
    """Exactly one fate a run, true to what is sent; nothing lost without a warning; what lies between is marked."""
    fates = {position: each for each in prompt.fates for position in range(each.first, each.last + 1)}
    assert list(fates) == list(range(1, len(reader.runs) + 1))
    assert sum(each.count for each in prompt.fates) == len(reader.runs)
    assert all(each.reason for each in prompt.fates)
    word_for_word = everything.replace(extract, "") if extract else everything
    for each in reader.runs:
        fate = fates[each.position]
        if has_marker(each) and not ("newest" in fate.reason or "shortened" in fate.reason):
            assert (marker(each.position) in word_for_word) == (fate.fate is Fate.KEPT)
    assert_summaries(prompt, fates, everything, extract)
    kept = [position for position in range(1, reader.finished_through + 1) if fates[position].fate is Fate.KEPT]
    gaps = [after - before - 1 for before, after in pairwise([*kept, reader.finished_through + 1])]
    marks = [int(number) for number in re.findall(r"\[(\d+) runs? not shown\]", everything)]
    assert marks == [gap for gap in gaps if gap]
    if open_run := reader.open_run():
        assert fates[open_run.position].fate is (Fate.KEPT if query is None else Fate.SKIPPED)


def assert_summaries(prompt: Prompt, fates: dict[int, FateRange], everything: str, extract: str) -> None:
    extracted = [position for position, each in fates.items() if each.reason == "stopgap extract"]
    covered = [position for position, each in fates.items() if each.fate is Fate.SUMMARIZED]
    assert [position for position in covered if position not in extracted] == list(
        range(1, (prompt.covers_through or 0) + 1)
    )
    assert (prompt.covers_through is not None) == ("SUMMARY" in everything)
    assert bool(extracted) == bool(extract)
    assert extract in everything
    codes = {warning.code for warning in prompt.warnings}
    assert (Fate.LOST in {each.fate for each in fates.values()}) == (WarningCode.RUNS_LOST in codes)
    assert bool(extracted) == (WarningCode.RUNS_EXTRACTED in codes)
    handed_down = prompt.tokens.parent_context + prompt.tokens.summary
    # The frame of a system block that a context alone would open is shown with what then stands first in it.
    frame = FRAME if any(segment.heading == "Context" for segment in prompt.segments) else 0
    assert handed_down - frame <= (prompt.budget - prompt.tokens.total + prompt.tokens.runs + handed_down) // 2


@many
@given(transcripts(), OVERRIDES)
def test_it_fetches_at_most_one_run_more_than_it_sends_and_none_twice(
    reader: InMemoryTranscript, overrides: dict[str, Any]
):
    # Marks in the place of short results need more than those, cut results less; an extract reads more runs.
    whole = {"keep_tool_results": "unlimited", "tool_result_max_tokens": "unlimited", "on_gap": "warn"}
    prompt = build_prompt_once(reader, overrides | whole)
    if prompt is None:
        return
    kept = sum(each.count for each in prompt.fates if each.fate is Fate.KEPT)
    assert len(reader.fetched) == len(set(reader.fetched))
    # A head is fetched whole, and given up run by run where it does not fit.
    has_head = overrides["strategy"] is Strategy.HEAD_TAIL
    assert len(reader.fetched) <= kept + 1 + (overrides["head_runs"] if has_head else 0)
    assert reader.fetches <= (3 if has_head else 1)


@many
@given(transcripts())
def test_the_stored_tokens_of_a_finished_run_are_exactly_what_it_needs_in_a_prompt(reader: InMemoryTranscript):
    finished = reader.runs[: reader.finished_through]
    for each in finished:
        messages = build_prompt(reader=InMemoryTranscript([each]), settings=settings(), query=None).messages or ()
        assert each.tokens == count_messages(messages, "o200k_base") - 3
    prompt = build_prompt(reader=reader, settings=settings(strategy="buffer"), query="QUERY")
    assert prompt.tokens.runs == sum(each.tokens for each in finished)


@many
@given(transcripts(), OVERRIDES, QUERIES, st.sampled_from(MODELS), st.booleans())
def test_the_plan_says_the_same_as_the_prompt(
    reader: InMemoryTranscript, overrides: dict[str, Any], query: str | None, model: Any, autoprune: bool
):
    given_settings = settings(model=model[0], autoprune=autoprune, **overrides)
    built = outcome(lambda: build_prompt(reader=reader, settings=given_settings, query=query))
    reader.fetches = 0
    assert outcome(lambda: plan_prompt(reader=reader, settings=given_settings, query=query)) == built
    is_exact = model[1:] == ("o200k_base", 10) and {overrides[name] for name in OF_RESULTS} == UNLIMITED
    if is_exact and (overrides["strategy"], overrides["on_gap"]) in NEVER_READ:
        assert reader.fetches == 0


def outcome(decide: Callable[[], PromptPlan]) -> Any:
    """Return all that a plan says, or the refusal."""
    try:
        decided = decide()
    except BudgetTooSmall as refusal:
        return refusal.detail, refusal.needs
    return [getattr(decided, field.name) for field in fields(PromptPlan)]


def build_prompt_once(reader: InMemoryTranscript, overrides: dict[str, Any]) -> Prompt | None:
    try:
        return build_prompt(reader=reader, settings=settings(**overrides), query="QUERY")
    except BudgetTooSmall:
        return None


@many
@given(transcripts(), OVERRIDES, QUERIES, CONTEXTS, st.sampled_from(MODELS[:2]), st.booleans())
def test_every_text_prompt_keeps_the_budget_and_recounts_exactly(
    reader: InMemoryTranscript, overrides: dict[str, Any], query: str | None, context: Any, model: Any, shorten: bool
):
    name, encoding, _ = model
    prompt = build(reader, query, context, model=name, format="text", shorten=shorten, **overrides)
    if prompt is None or prompt.text is None:
        return
    assert count_text(prompt.text, encoding) == prompt.tokens.total <= prompt.budget
    assert_fates(prompt, reader, prompt.text, query, extract_in(prompt))


@many
@given(
    transcripts(),
    OVERRIDES,
    QUERIES,
    st.sampled_from(["buffer", "minimal", "task", "tool", "conversation", "hierarchical"]),
    st.sampled_from(MODELS[:2]),
)
def test_every_seed_prompt_keeps_the_budget_and_recounts_exactly(
    reader: InMemoryTranscript, overrides: dict[str, Any], query: str | None, strategy: str, model: Any
):
    name, encoding, _ = model
    prompt = build(reader, query, shorten=False, model=name, **overrides | {"format": "seed", "strategy": strategy})
    if prompt is None or prompt.messages is None:
        return
    assert count_prompt("seed", prompt.messages, None, encoding) == prompt.tokens.total <= prompt.budget
    told = [position for each in prompt.fates for position in range(each.first, each.last + 1)]
    assert told == [each.position for each in reader.runs]
    sent = json.dumps(prompt.messages, ensure_ascii=False)
    fates = {position: each.fate for each in prompt.fates for position in range(each.first, each.last + 1)}
    for each in reader.runs:
        if has_marker(each) and marker(each.position) in sent:
            assert fates[each.position] is Fate.KEPT


def griptape_string(exchanges: list[tuple[str, str]], limit: int, count: Callable[[str], int]) -> str:
    """Griptape's autoprune as published: drop one run, render and count everything again, until a token is left."""
    for first in range(len(exchanges) + 1):
        lines = [line for pair in exchanges[first:] for line in (f"User: {pair[0]}", f"Assistant: {pair[1]}")]
        string = "\n\n".join([*lines, "Assistant:"])
        if limit - count(string) > 0:
            return string
    return "Assistant:"


@many
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=15), st.integers(10, 900))
def test_the_text_format_is_the_string_of_griptape_with_a_limit_one_above_the_budget(
    exchanges: list[tuple[str, str]], budget: int
):
    reader = InMemoryTranscript([run(user(question), assistant(answer)) for question, answer in exchanges])
    prompt = build_prompt(
        reader=reader, settings=settings(strategy="buffer", format="text", max_input_tokens=budget), query=None
    )
    encoding = tiktoken.get_encoding("o200k_base")
    expected = griptape_string(exchanges, budget + 1, lambda text: len(encoding.encode(text, disallowed_special=())))
    assert prompt.text == expected
