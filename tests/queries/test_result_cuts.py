from dataclasses import replace

import pytest
import tiktoken

from sessions_app.domain.openai_messages import turn
from sessions_app.queries.result_cuts import told_cuts
from sessions_app.queries.why_rows import CHANGED, WhyAsked, why_table
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.django_db

LONG = "long " * 60


def looked_up(*results):
    """A turn that asks a tool as often as there are results."""
    names = [f"c{place}" for place in range(len(results))]
    calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}} for name in names]
    answers = [
        {"role": "tool", "tool_call_id": name, "content": text} for name, text in zip(names, results, strict=True)
    ]
    asked = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": None, "tool_calls": calls}]
    return turn([*asked, *answers, {"role": "assistant", "content": "Done."}])


def looking_session(*runs, **settings):
    session = make_session(settings={"strategy": "buffer", **settings})
    append_runs(session=session, runs=[looked_up(*results) for results in runs], now=NOW)
    append_turns(session, 1)
    session.refresh_from_db()
    return session


def told(session):
    return told_cuts(session, session_prompt(session=session), range(1, 9))


def test_a_cut_result_is_told_with_what_it_needs_whole():
    size = len(tiktoken.get_encoding("o200k_base").encode(LONG))
    session = looking_session([LONG], ["short"], tool_result_max_tokens=20)
    assert told(session) == {
        1: f"a tool result is cut: 20 of {size} tokens (tool_result_max_tokens, set by the session)"
    }


def test_a_result_that_is_cut_before_its_error_is_told_of():
    session = make_session(settings={"strategy": "buffer", "tool_result_max_tokens": 20})
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    run = turn([*asked, {"role": "tool", "tool_call_id": "c", "content": LONG}])
    events = [replace(each, tool=each.tool and replace(each.tool, error="down")) for each in run.events]
    append_runs(session=session, runs=[replace(run, events=tuple(events))], now=NOW)
    session.refresh_from_db()
    assert told(session)[1].startswith("a tool result is cut: 20 of ")


def test_several_are_counted_and_those_that_are_left_out_told_apart():
    session = looking_session([LONG, LONG, LONG], keep_tool_results=2, tool_result_max_tokens=20)
    assert told(session) == {
        1: "a tool result is left out (keep_tool_results, set by the session); "
        "2 tool results are cut: at most 20 tokens each (tool_result_max_tokens, set by the session)"
    }


def test_without_a_limit_nothing_is_told_and_nothing_asked(django_assert_num_queries):
    session = looking_session([LONG])
    prompt = session_prompt(session=session)
    with django_assert_num_queries(0):
        assert told_cuts(session, prompt, [1]) == {}


def test_a_run_of_which_only_a_result_is_cut_otherwise_is_changed():
    session = looking_session(["short"], [LONG], ["short"], tool_result_max_tokens=20)
    a = session_prompt(session=session)
    b = session_prompt(session=session, overrides={"tool_result_max_tokens": "unlimited"})
    table = why_table(session=session, a=a, b=b, asked=WhyAsked())
    assert table.changed == 1
    assert [(row.first, row.differs) for row in table.rows] == [(4, False), (3, False), (2, True), (1, False)]
    (changed,) = why_table(session=session, a=a, b=b, asked=WhyAsked(only=CHANGED)).rows
    assert (changed.first, changed.reason) == (
        2,
        f"fits the budget; under A {told(session)[2]}",
    )
    (changed,) = why_table(session=session, a=b, b=a, asked=WhyAsked(only=CHANGED)).rows
    assert changed.reason.startswith("fits the budget; a tool result is cut: 20 of ")
