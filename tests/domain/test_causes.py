import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.causes import Cause, cause_of
from sessions_app.domain.memory_settings import Layer
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.transcript import RunStatus, SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, run, settings, user


def causes(reader=None, **overrides):
    """Return who is to blame for each range of fates, under settings of a session."""
    reader = reader or InMemoryTranscript([exchange(f"q{n}", f"a{n}") for n in range(1, 10)])
    plan = build_prompt(reader=reader, settings=settings(**overrides), query=None)
    return {(each.first, each.last): cause_of(each, plan) for each in plan.fates}


def blamed(name, value):
    return Cause(name, value, Layer.SESSION)


def test_runs_beyond_max_runs_and_last_n_are_out_for_those():
    assert causes(strategy="buffer", max_runs=7, last_n=4) == {
        (1, 2): blamed("max_runs", 7),
        (3, 5): blamed("last_n", 4),
        (6, 9): None,
    }


@pytest.mark.parametrize("strategy", ["buffer", "summary"])
def test_what_the_budget_drops_is_out_for_its_limit(strategy):
    # An exchange needs 12 tokens, a prompt 3 beside.
    found = causes(strategy=strategy, on_gap="warn", max_input_tokens=39)
    assert found == {(1, 5): blamed("max_input_tokens", 39), (6, 6): blamed("max_input_tokens", 39), (7, 9): None}


def test_where_the_window_binds_it_is_the_model():
    # The window of gpt-4.1-mini is 1,047,576 tokens.
    found = causes(strategy="buffer", max_input_tokens=500, reserve_output_tokens=1_047_576 - 39)
    model = blamed("model", "gpt-4.1-mini")
    assert found == {(1, 5): model, (6, 6): model, (7, 9): None}


def test_what_a_strategy_does_not_want_is_out_for_it():
    assert causes(strategy="tool")[(1, 8)] == blamed("strategy", "tool")
    assert causes(strategy="conversation", max_history=4)[(1, 7)] == blamed("max_history", 4)


def test_no_setting_is_to_blame_for_what_the_model_sees_or_what_never_finished():
    summary = SummaryEntry("s1", 1, 2, "Short.")
    runs = [exchange("q1", "a1"), exchange("q2", "a2"), run(user("q3"), status=RunStatus.PENDING), exchange("q4", "a4")]
    assert set(causes(InMemoryTranscript(runs, summaries=[summary]), offset=1).values()) == {None}


def test_it_knows_the_layer_that_the_setting_comes_from():
    reader = InMemoryTranscript([exchange(f"q{n}", f"a{n}") for n in range(1, 5)])
    effective = resolve_settings(
        default_model="gpt-4.1-mini", project={"last_n": 2}, session={"strategy": "buffer"}, request={}
    )
    plan = build_prompt(reader=reader, settings=effective, query=None)
    assert cause_of(plan.fates[0], plan) == Cause("last_n", 2, Layer.PROJECT)
