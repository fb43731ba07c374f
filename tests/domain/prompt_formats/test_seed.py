"""chuk's dictionaries, by a table worked out by hand; the real package is asked in tests/conformance."""

from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import BudgetTooSmall
from sessions_app.domain.plan import Fate, Prompt, WarningCode
from sessions_app.domain.transcript import Event, EventKind, ParentContext, Run, RunStatus, SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, system, user
from tests.domain.recount import count_prompt

SILENT = {"role": "assistant", "content": None}
RESULT = {"role": "tool", "name": "look_up", "content": '"found"'}


def build(reader: InMemoryTranscript, query: str | None = None, **overrides: Any) -> Prompt:
    prompt = build_prompt(reader=reader, settings=settings(format="seed", **overrides), query=query)
    assert count_prompt("seed", prompt.messages or (), None, prompt.encoding) == prompt.tokens.total <= prompt.budget
    assert sum(segment.tokens for segment in prompt.segments) + prompt.tokens.overhead == prompt.tokens.total
    told = [position for each in prompt.fates for position in range(each.first, each.last + 1)]
    assert told == [each.position for each in reader.runs]
    return prompt


def sent(*runs: Run, **overrides: Any) -> list[Any]:
    return list(build(InMemoryTranscript(runs), **overrides).messages or ())


def asked(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def note(text: str, parent: int) -> Event:
    return Event(EventKind.NOTE, text, parent=parent)


Q1, Q2, Q3 = (run(user(text)) for text in ("q1", "q2", "q3"))
ANSWERED = run(user("q1"), assistant("a1"), call(parent=1))
FINAL = run(user("q1"), assistant("a1"), call(parent=1), assistant("final"))
NOTED = run(user("q1"), assistant("a1"), call(parent=1), system("note"))
SUMMARIZED = run(user("q1"), assistant("a1"), note("first", 1), note("second", 1))
NO_USER = run(assistant("a1"), call(parent=0))
WORKED = [
    ((), [], [], [], []),
    ((Q1,), [asked("q1")], [asked("q1")], [asked("q1")], [asked("q1")]),
    (
        (Q1, Q2, Q3),
        [asked("q1")],
        [asked("q1"), asked("q3")],
        [asked("q3")],
        [asked("q1"), asked("q2"), asked("q3")],
    ),
    ((NO_USER,), [SILENT, RESULT], [], [], [SILENT, RESULT]),
    ((run(system("x")),), [SILENT], [], [], [SILENT]),
    ((ANSWERED,), *[[asked("q1"), SILENT, RESULT]] * 4),
    ((FINAL,), *[[asked("q1"), SILENT]] * 3, [asked("q1"), said("a1"), SILENT]),
    (
        (ANSWERED, Q2),
        [asked("q1"), SILENT, RESULT],
        [asked("q1"), asked("q2"), SILENT, RESULT],
        [asked("q2"), SILENT, RESULT],
        [asked("q1"), said("a1"), asked("q2")],
    ),
    ((NOTED,), *[[asked("q1"), SILENT]] * 3, [asked("q1"), said("a1"), SILENT]),
    ((run(Event(EventKind.NOTE, "alone")),), [], [], [], []),
    ((SUMMARIZED,), [asked("q1"), SILENT, {"role": "system", "content": "second"}], *[[asked("q1"), SILENT]] * 3),
]


@pytest.mark.parametrize(("runs", "minimal", "task", "tool", "conversation"), WORKED)
def test_the_worked_table(runs: tuple[Run, ...], minimal: Any, task: Any, tool: Any, conversation: Any):
    assert sent(*runs, strategy="minimal") == minimal
    assert sent(*runs, strategy="task") == task
    assert sent(*runs, strategy="tool") == tool
    assert sent(*runs, strategy="conversation") == conversation
    assert sent(*runs, strategy="hierarchical") == minimal


def results(*calls: Event, strategy: str) -> list[Any]:
    messages = sent(run(user("q"), assistant("a"), *calls), strategy=strategy)
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_results_are_json_once_more():
    calls = [call(parent=1, result=each) for each in ("é", "null", None)]
    assert results(*calls, strategy="minimal") == ['"\\u00e9"', '"null"', "{}"]


def test_task_skips_results_with_the_status_error_and_tool_adds_errors():
    failed = call(parent=1, result=None, error="boom")
    assert results(failed, strategy="tool") == ['{"error": "boom", "details": {}}']
    assert results(failed, strategy="task") == ["{}"]


def test_calls_without_a_message_are_not_sent():
    assert results(call(), strategy="minimal") == []


def test_a_note_that_is_a_reference_is_no_summary():
    reference = Event(EventKind.NOTE, "see", content=({"type": "reference"},), parent=1)
    assert sent(run(user("q"), assistant("a"), reference), strategy="minimal") == [asked("q"), SILENT]


def test_parts_are_sent_as_they_are():
    parts = ({"type": "text", "text": "q"}, {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})
    assert sent(run(user("q", content=parts)), strategy="minimal") == [{"role": "user", "content": list(parts)}]


def test_conversation_takes_so_many_messages_and_0_none():
    runs = [exchange(f"q{number}", f"a{number}") for number in range(1, 5)]
    assert sent(*runs, strategy="conversation", max_history=3) == [said("a3"), asked("q4"), SILENT]
    assert sent(*runs, strategy="conversation", max_history=0) == []
    assert len(sent(*runs, strategy="conversation")) == 5


def test_the_parents_summary_stands_in_front_only_on_demand():
    reader = InMemoryTranscript([Q1], parents=[ParentContext("Root", "Top."), ParentContext("Mid", "Middle.")])
    context = {"role": "system", "content": "Context from previous conversation: Middle."}
    taken = build(reader, strategy="hierarchical", include_parent_context=True)
    assert list(taken.messages or ()) == [context, asked("q1")]
    assert taken.tokens.parent_context > 0
    assert WarningCode.SETTING_WITHOUT_EFFECT not in {warning.code for warning in taken.warnings}
    assert list(build(reader, strategy="hierarchical").messages or ()) == [asked("q1")]
    assert list(build(reader, strategy="minimal", include_parent_context=True).messages or ()) == [asked("q1")]


def test_without_any_event_there_is_no_context_either():
    reader = InMemoryTranscript([], parents=[ParentContext("Root", "Top.")])
    assert list(build(reader, strategy="hierarchical", include_parent_context=True).messages or ()) == []


def test_the_events_of_the_open_run_are_the_newest_unless_a_query_is_given():
    waiting = run(user("q2"), assistant("a2"), call(parent=1), status=RunStatus.RUNNING)
    reader = InMemoryTranscript([exchange("q1", "a1"), waiting])
    prompt = build(reader, strategy="tool")
    assert list(prompt.messages or ()) == [asked("q2"), SILENT, RESULT]
    assert [each.fate for each in prompt.fates] == [Fate.SKIPPED, Fate.KEPT]
    with_query = build(reader, "q3", strategy="tool")
    assert list(with_query.messages or ()) == [asked("q1"), SILENT, asked("q3")]
    assert WarningCode.OPEN_RUN_SKIPPED in {warning.code for warning in with_query.warnings}


def test_instructions_come_first_and_the_query_last():
    reader = InMemoryTranscript([ANSWERED], "Be kind.")
    assert list(build(reader, "Go on.", strategy="minimal").messages or ()) == [
        {"role": "system", "content": "Be kind."},
        asked("q1"),
        SILENT,
        RESULT,
        asked("Go on."),
    ]


def test_each_run_has_its_fate_and_what_of_it_is_sent():
    prompt = build(InMemoryTranscript([exchange("q1", "a1"), exchange("q2", "a2"), ANSWERED]), strategy="minimal")
    assert [(each.first, each.last, each.fate, each.reason) for each in prompt.fates] == [
        (1, 1, Fate.KEPT, "its user messages"),
        (2, 2, Fate.SKIPPED, "minimal: only the first run's input and the newest answered run"),
        (3, 3, Fate.KEPT, "its answer without the text, its tool results"),
    ]


def test_what_the_settings_exclude_is_no_event():
    runs = [exchange(f"q{number}", f"a{number}") for number in range(1, 5)]
    prompt = build(InMemoryTranscript(runs), strategy="minimal", max_runs=2)
    assert list(prompt.messages or ()) == [asked("q3"), SILENT]
    assert prompt.fates[0].fate is Fate.CAPPED


LONG = run(user("q2 " * 60), assistant("a2"), call(parent=1), call(parent=1, result="x " * 40))
"""Its question needs 124 tokens, its results 8 and 88."""


@pytest.mark.parametrize(
    ("budget", "contents"),
    [
        (400, ["q1", "q2 " * 60, None, '"found"', f'"{"x " * 40}"']),
        (150, ["q1", None, '"found"', f'"{"x " * 40}"']),
        (40, ["q1", None, '"found"']),
        (15, ["q1", None]),
        (10, [None]),
        (3, []),
    ],
)
def test_where_the_budget_binds_it_is_truncated_chuks_way_and_never_exceeded(budget: int, contents: list[Any]):
    prompt = build(InMemoryTranscript([run(user("q1")), LONG]), strategy="task", max_input_tokens=budget)
    assert [message["content"] for message in prompt.messages or ()] == contents


def test_what_truncation_leaves_nothing_of_is_pruned():
    prompt = build(InMemoryTranscript([run(user("q1")), LONG]), strategy="task", max_input_tokens=10)
    assert [(each.fate, each.reason) for each in prompt.fates] == [
        (Fate.PRUNED, "max_input_tokens 10: truncated"),
        (Fate.KEPT, "its answer without the text"),
    ]


def test_a_newest_run_that_truncation_leaves_nothing_of_is_warned_of_and_an_open_one_is_pruned_too():
    waiting = run(user("open " * 50), status=RunStatus.RUNNING)
    prompt = build(InMemoryTranscript([run(user("q1")), waiting]), strategy="task", max_input_tokens=30)
    assert [message["content"] for message in prompt.messages or ()] == ["q1"]
    assert [(each.fate, each.reason) for each in prompt.fates] == [
        (Fate.KEPT, "its user messages"),
        (Fate.PRUNED, "max_input_tokens 30: truncated"),
    ]
    assert [warning.code for warning in prompt.warnings] == [WarningCode.NEWEST_RUN_DROPPED]
    assert "Of run 2" in prompt.warnings[0].detail
    finished = build(InMemoryTranscript([LONG]), strategy="conversation", max_input_tokens=3)
    assert [warning.code for warning in finished.warnings] == [WarningCode.NEWEST_RUN_DROPPED]


def test_with_autoprune_off_truncation_is_an_error():
    reader = InMemoryTranscript([run(user("q1")), LONG])
    with pytest.raises(BudgetTooSmall, match="runs 191"):
        build(reader, strategy="task", max_input_tokens=40, autoprune=False)


def test_with_autoprune_off_the_error_counts_what_the_parent_hands_down_too():
    reader = InMemoryTranscript([exchange("word " * 30, "a")], parents=[ParentContext("p", "They met. " * 9)])
    whole = build(reader, strategy="hierarchical", include_parent_context=True)
    with pytest.raises(BudgetTooSmall) as refused:
        build(
            reader,
            strategy="hierarchical",
            include_parent_context=True,
            max_input_tokens=whole.tokens.total - 1,
            autoprune=False,
        )
    assert refused.value.needs["parent_context"] > 0
    assert sum(refused.value.needs.values()) == whole.tokens.total


def test_buffer_sends_all_messages_with_their_results():
    assert sent(FINAL, Q2, strategy="buffer") == [asked("q1"), said("a1"), RESULT, said("final"), asked("q2")]


def test_a_summary_is_a_system_message():
    reader = InMemoryTranscript([Q1, Q2], "Be kind.", [SummaryEntry("s1", 1, 1, "They met.")])
    assert list(build(reader, strategy="summary", offset=1).messages or ()) == [
        {"role": "system", "content": "Be kind."},
        {"role": "system", "content": "They met."},
        asked("q2"),
    ]


def test_a_failed_run_ends_in_its_error_under_buffer():
    failed = run(user("q"), status=RunStatus.FAILED, error="no model")
    assert sent(failed, strategy="buffer") == [asked("q"), said("[failed: no model]")]


def test_it_reads_only_the_newest_runs_that_it_needs():
    reader = InMemoryTranscript([exchange(f"q{number}", f"a{number}") for number in range(1, 101)])
    build(reader, strategy="task")
    assert set(reader.fetched) <= {1, 99, 100}


def test_many_messages_are_read_in_few_steps():
    reader = InMemoryTranscript([exchange(f"q{n}", f"a{n}") for n in range(1, 1_001)])
    assert len(build(reader, strategy="conversation", max_history=1_000).messages or ()) == 1_000
    assert reader.fetches <= 12
    assert len(reader.fetched) <= 1_000


def test_results_of_an_open_run_are_sent_as_they_are_too():
    waiting = run(user("q1"), assistant("a1"), call(parent=1), status=RunStatus.RUNNING)
    limits = {"strategy": "tool", "tool_result_max_tokens": 1, "keep_tool_results": 0}
    assert sent(waiting, **limits) == [asked("q1"), SILENT, RESULT]
