"""The cases of chuk-ai-session-manager's own tests that are about what we do too, with the values that they assert.

Where its values are its defects, the format `seed` has them; what a provider is sent instead is in tests/conformance.
"""

from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import InvalidSettings
from sessions_app.domain.setting_values import check_settings
from sessions_app.domain.transcript import Event, EventKind, ParentContext, Run, ToolCall
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, run, settings, user

QUESTION = "What's the weather?"
SILENT = {"role": "assistant", "content": None}
FORECAST = call("weather", '{"location": "Kiel"}', "sunny", parent=1)
TIMEOUT = call("weather", result="null", error="Connection timeout", parent=1)
WEATHER = run(user(QUESTION), assistant("I'll check."), FORECAST)
LONG = [run(user(f"q{n} " * 30), assistant(f"a{n} " * 30), FORECAST) for n in range(1, 4)]
PLENTY = 100_000


def sent(strategy: str, *runs: Run, parent: str = "", budget: int = PLENTY, **overrides: Any) -> list[dict[str, Any]]:
    values = settings(strategy=strategy, format="seed", max_input_tokens=budget, **overrides)
    reader = InMemoryTranscript(runs, parents=[ParentContext("", parent)] if parent else [])
    return [dict(message) for message in build_prompt(reader=reader, settings=values, query=None).messages or ()]


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


@pytest.mark.parametrize("strategy", ["minimal", "task", "tool", "conversation", "hierarchical"])
def test_empty_session(strategy: str):
    assert sent(strategy) == []


def test_minimal_basic():
    assert sent("minimal", run(user("q"), assistant("a"))) == [{"role": "user", "content": "q"}, SILENT]


def test_minimal_prompt_strategy():
    question, answer, tool = sent("minimal", WEATHER)
    assert (question, answer) == ({"role": "user", "content": QUESTION}, SILENT)
    assert (tool["role"], tool["name"]) == ("tool", "weather")


def test_minimal_prompt_with_summary_fallback():
    note = Event(EventKind.NOTE, "They spoke of the weather.", parent=1)
    *_, last = sent("minimal", run(user(QUESTION), assistant("a"), note))
    assert last == {"role": "system", "content": "They spoke of the weather."}


def test_minimal_prompt_user_only():
    assert sent("minimal", run(user(QUESTION))) == [{"role": "user", "content": QUESTION}]


def test_task_focused_prompt_strategy():
    question, latest, answer, tool = sent("task", WEATHER, run(user("And tomorrow?")))
    assert (question["content"], latest["content"]) == (QUESTION, "And tomorrow?")
    assert (answer, tool["role"]) == (SILENT, "tool")


def test_task_focused_excludes_error_results():
    result = ToolCall("c", "weather", "{}", '{"status": "error"}', result_was_text=False)
    failed = Event(EventKind.TOOL_CALL, tool=result, parent=1)
    (kept,) = [each for each in sent("task", run(user("q"), assistant("a"), failed, FORECAST)) if "name" in each]
    assert kept["content"] == '"sunny"'


def test_tool_focused_prompt_strategy():
    *_, tool = sent("tool", run(user(QUESTION), assistant("a"), TIMEOUT))
    assert "error" in tool["content"]
    assert "Connection timeout" in tool["content"]


def test_conversation_prompt_strategy():
    talk = [run(user("q1"), assistant("a1")), run(user("q2"), assistant("a2")), WEATHER]
    messages = sent("conversation", *talk, max_history=4)
    assert roles(messages) == ["user", "assistant", "user", "assistant", "tool"]
    assert messages[3] == SILENT


def test_hierarchical_prompt_strategy():
    context, question = sent("hierarchical", run(user("q")), parent="They met.", include_parent_context=True)
    assert context["role"] == "system"
    assert "They met." in context["content"]
    assert question == {"role": "user", "content": "q"}


def test_hierarchical_prompt_no_parent():
    assert roles(sent("hierarchical", run(user("q")), include_parent_context=True)) == ["user"]


@pytest.mark.parametrize("name", ["task_focused", "Minimal", ""])
def test_unknown_strategy_is_refused_instead_of_a_fallback(name: str):
    with pytest.raises(InvalidSettings, match="strategy must be one of"):
        check_settings({"strategy": name})


def test_truncation_within_the_limit():
    assert sent("task", *LONG, budget=1000) == sent("task", *LONG)


@pytest.mark.parametrize("strategy", ["task", "conversation"])
def test_truncation_basic(strategy: str):
    whole = sent(strategy, *LONG)
    messages = sent(strategy, *LONG, budget=100)
    assert len(messages) < len(whole)
    assert messages[0] == next(message for message in whole if message["role"] == "user")
    assert SILENT in messages


def test_truncation_aggressive():
    assert roles(sent("task", *LONG, budget=90)) == ["user", "assistant", "tool"]
    assert roles(sent("task", *LONG, budget=75)) == ["user", "assistant"]


def test_truncation_of_an_empty_prompt():
    assert sent("task", budget=3) == []


def test_ten_equal_questions_under_a_small_limit_are_fewer():
    questions = [run(user("the same")) for _ in range(10)]
    assert len(sent("conversation", *questions, budget=30, max_history=10)) < 10
