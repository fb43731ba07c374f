import json
from typing import Any

import pytest

from sessions_app.domain.as_sent import result_as_sent
from sessions_app.domain.builder import build_prompt
from sessions_app.domain.plan import Prompt
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.tool_results import ResultLimits, results_in
from sessions_app.domain.transcript import Run, RunStatus
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user
from tests.domain.recount import count_messages, count_text

COUNTER = TokenCounter()


def calling(question: str, *results: str | None, error: str | None = None) -> Run:
    calls = [call(result=result, call_id=f"c{n}", parent=1, error=error) for n, result in enumerate(results)]
    return run(user(question), assistant(), *calls, assistant("done"))


def results(prompt: Prompt) -> list[str]:
    assert prompt.messages is not None
    return [message["content"] for message in prompt.messages if message["role"] == "tool"]


def build(runs: list[Run], query: str | None = "Go on.", **overrides: Any) -> Prompt:
    prompt = build_prompt(
        reader=InMemoryTranscript(runs), settings=settings(strategy="buffer", **overrides), query=query
    )
    assert prompt.messages is not None
    assert count_messages(prompt.messages, "o200k_base") == prompt.tokens.total
    return prompt


def test_only_the_newest_results_stay_whole_and_a_mark_stands_for_the_others():
    runs = [calling("q1", "r1", "r2"), exchange("q2", "a2"), calling("q3", "r3", "r4", "r5")]
    assert results(build(runs, keep_tool_results=4)) == ["[result not shown]", "r2", "r3", "r4", "r5"]
    assert results(build(runs, keep_tool_results=2)) == ["[result not shown]"] * 3 + ["r4", "r5"]
    assert results(build(runs, keep_tool_results=0)) == ["[result not shown]"] * 5
    assert results(build(runs, keep_tool_results=5)) == ["r1", "r2", "r3", "r4", "r5"]


def test_the_open_run_holds_the_newest_results():
    asking = run(user("q2"), assistant(), call(result="r3", parent=1), status=RunStatus.RUNNING)
    prompt = build([calling("q1", "r1", "r2"), asking], query=None, keep_tool_results=2)
    assert results(prompt) == ["[result not shown]", "r2", "r3"]
    # With a query it is not sent, and so does not count.
    assert results(build([calling("q1", "r1", "r2"), asking], keep_tool_results=2)) == ["r1", "r2"]


def test_an_error_is_a_result_and_a_call_that_still_waits_has_none():
    runs = [calling("q1", None, error="boom"), calling("q2", None)]
    assert results_in(runs[0]) == 1
    assert results(build(runs, keep_tool_results=0)) == ["[result not shown]", "[no result]"]


def test_first_runs_of_head_tail_count_their_results_behind_those_of_newer_runs():
    runs = [calling("q1", "r1"), exchange("q2", "a2"), calling("q3", "r3"), exchange("q4", "a4")]
    prompt = build_prompt(
        reader=InMemoryTranscript(runs), settings=settings(strategy="head_tail", keep_tool_results=1), query="Go on."
    )
    assert results(prompt) == ["[result not shown]", "r3"]


def test_a_mark_longer_than_the_result_is_counted_and_may_cost_another_run_its_place():
    runs = [calling("q1", "r1"), calling("q2", "r2")]
    whole = build(runs).tokens.total
    assert build(runs, max_input_tokens=whole).fates[0].fate == "kept"
    marked = build(runs, max_input_tokens=whole, keep_tool_results=0)
    assert [each.fate.value for each in marked.fates] == ["pruned", "kept"]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 10, 50])
def test_a_longer_result_is_cut_and_marked_and_needs_no_more_than_it_may(limit: int):
    (cut,) = results(build([calling("q1", "one two three " * 100)], tool_result_max_tokens=limit))
    assert count_text(cut, "o200k_base") <= limit
    assert cut == "…" or (cut.startswith("o") and cut.endswith(" [shortened]"))


def test_a_result_that_is_short_enough_stays_as_it_is():
    assert results(build([calling("q1", "one two three")], tool_result_max_tokens=3)) == ["one two three"]


def test_the_limit_is_in_the_models_own_tokens():
    limits = ResultLimits(None, 20, TokenCounter("cl100k_base"))
    applied = limits.applied(calling("q1", "灯台の記録係です。" * 50), newer=0)
    assert count_text(applied.events[2].tool.result or "", "cl100k_base") <= 20


@pytest.mark.parametrize("limit", [1, 3, 6, 12, 40])
@pytest.mark.parametrize(
    ("result", "error"), [(None, "boom " * 90), ("found " * 90, "boom"), ("x " * 90, "boom " * 90)]
)
def test_errors_are_cut_too_and_outlive_the_result(limit: int, result: str | None, error: str):
    applied = ResultLimits(None, limit, COUNTER).applied(calling("q1", result, error=error), newer=0)
    tool = applied.events[2].tool
    assert tool is not None
    sent = result_as_sent(tool)
    assert count_text(sent, "o200k_base") <= limit
    if limit >= 12:
        assert "[error] boom" in sent


def test_an_error_without_its_result_is_marked_though_it_fits_itself():
    applied = ResultLimits(None, 4, COUNTER).applied(calling("q1", "found", error="down"), newer=0)
    tool = applied.events[2].tool
    assert tool is not None
    assert result_as_sent(tool).endswith(" [shortened]") or result_as_sent(tool) == "…"


def test_a_megabyte_of_result_is_cut_without_counting_it_all_again_and_again():
    huge = json.dumps({"rows": ["word " * 10] * 20_000})
    (cut,) = results(build([calling("q1", huge)], tool_result_max_tokens=100))
    assert 90 <= count_text(cut, "o200k_base") <= 100


def test_the_stored_run_is_not_touched():
    runs = [calling("q1", "r1")]
    ResultLimits(0, 1, COUNTER).applied(runs[0], newer=0)
    assert runs[0].events[2].tool.result == "r1"
