"""Replays over the API."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.language_models import ModelFacts
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.openai_messages import turn as turn_of
from sessions_app.services import replays
from sessions_app.services.model_overrides import set_model_override
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_open_run, make_session

pytestmark = pytest.mark.django_db
PATH = "/sessions/s/replay"
NAMES = [
    "tokens",
    "kept",
    "summarized",
    "pruned",
    "capped",
    "skipped",
    "lost",
    "cut_results",
    "first_kept",
    "covers_through",
    "stable_prefix",
    "input_cost",
    "cached_input_cost",
    "summary_cost",
    "error",
]


@pytest.fixture
def session(project):
    facts = ModelFacts(9_000, input_price=Decimal("2.50"), cached_input_price=Decimal("0.25"))
    set_model_override(project=project, name="gpt-4.1-mini", facts=facts, now=NOW)
    return make_session(project, "s", runs=5, instructions="Be kind.", settings={"strategy": "buffer"})


def test_each_turn_is_the_prompt_at_it(bot, session):
    columns = bot.post(PATH, {"settings": {"max_runs": 2}}).json()["columns"]

    assert list(columns) == NAMES
    for turn in range(1, 6):
        prompt = bot.post("/sessions/s/prompt", {"at": turn, "settings": {"max_runs": 2}}).json()
        assert columns["tokens"][turn - 1] == prompt["tokens"]["total"]
    assert columns["kept"] == [0, 1, 2, 2, 2]
    assert columns["capped"] == [0, 0, 0, 1, 2]
    assert columns["first_kept"] == [None, 1, 1, 2, 3]
    assert columns["covers_through"] == columns["error"] == [None] * 5


def test_what_a_cache_can_reuse_makes_turns_cheaper(bot, session):
    answer = bot.post(PATH, {}).json()

    columns, price = answer["columns"], Decimal("2.50") / 1_000_000
    # "Be kind." is 3 + 1 + 3, "question n" and "answer n" are 3 + 1 + 3 each, and a prompt 3.
    assert columns["tokens"] == [3 + 7 + 7 * (2 * turn - 1) for turn in range(1, 6)]
    assert columns["stable_prefix"] == [0, *(7 + 7 * (2 * turn - 1) for turn in range(1, 5))]
    cost = [Decimal(cost) for cost in columns["input_cost"]]
    saved = [stable * (price - price / 10) for stable in columns["stable_prefix"]]
    assert cost == [tokens * price for tokens in columns["tokens"]]
    assert [Decimal(each) for each in columns["cached_input_cost"]] == [
        all_new - less for all_new, less in zip(cost, saved, strict=True)
    ]
    assert answer["totals"] == {
        "turns": 5,
        "errors": 0,
        "turns_with_lost": 0,
        "turns_with_cut_results": 0,
        "summaries": 0,
        "tokens": sum(columns["tokens"]),
        "stable_prefix": sum(columns["stable_prefix"]),
        "input_cost": f"{sum(cost).normalize():f}",
        "cached_input_cost": f"{(sum(cost) - sum(saved)).normalize():f}",
        "summary_cost": "0",
    }


def test_cut_tool_results_are_counted_at_each_turn(bot, session):
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    looked = turn_of([*asked, {"role": "tool", "tool_call_id": "c", "content": "long " * 60}])
    append_runs(session=session, runs=[looked, looked, simple_turn("Bye.", "Bye.")], now=NOW)

    limits = {"a": {}, "b": {"tool_result_max_tokens": 20, "last_n": 2}}
    both = bot.post(PATH, limits).json()
    # Runs 6 and 7 of 8 look something up; two runs are sent.
    assert both["a"]["columns"]["cut_results"] == [0] * 8
    assert both["b"]["columns"]["cut_results"] == [0, 0, 0, 0, 0, 0, 1, 2]
    assert [both[key]["totals"]["turns_with_cut_results"] for key in "ab"] == [0, 2]
    compared = bot.post("/sessions/s/prompt/compare", limits).json()
    assert [compared[key]["cut_results"] for key in "ab"] == [0, 1]


def test_the_open_run_is_the_last_turn(bot, session):
    make_open_run(session, "question 6")

    assert bot.post(PATH, {}).json()["columns"]["kept"] == [0, 1, 2, 3, 4, 5]


def test_two_are_what_each_is_alone(bot, session):
    both = bot.post(PATH, {"a": {"last_n": 1}, "b": {"strategy": "minimal", "format": "anthropic"}}).json()

    assert both["a"] == bot.post(PATH, {"settings": {"last_n": 1}}).json()
    assert both["b"] == bot.post(PATH, {"settings": {"strategy": "minimal", "format": "anthropic"}}).json()


def test_what_is_left_out_is_saved(bot, session):
    assert bot.post(PATH, {"b": {"last_n": 1}}).json()["a"] == bot.post(PATH).json()


def test_summaries_are_simulated(bot, session):
    append_turns(session, 10)
    settings = {"strategy": "summary", "offset": 2, "summarize_at": 0, "max_summary_tokens": 20}
    answer = bot.post(PATH, {"settings": settings}).json()

    assert answer["columns"]["covers_through"] == [None] * 3 + list(range(1, 13))
    assert answer["columns"]["summary_cost"] == ["0"] * 15
    assert answer["totals"]["summaries"] == 12
    assert any("20 tokens long" in sentence for sentence in answer["assumptions"])


def test_a_turn_that_cannot_be_built_says_why(bot, session):
    answer = bot.post(PATH, {"settings": {"max_input_tokens": 30, "autoprune": False}}).json()

    columns = answer["columns"]
    assert [error is None for error in columns["error"]] == [True, False, False, False, False]
    assert "need 31 tokens" in columns["error"][1]
    assert all(columns[name][1] is None for name in NAMES if name != "error")
    assert (answer["totals"]["errors"], answer["totals"]["tokens"]) == (4, 17)


def test_without_runs_the_columns_are_empty(bot, project):
    make_session(project, "s")
    answer = bot.post(PATH, {}).json()

    assert answer["columns"] == {name: [] for name in NAMES}
    assert (answer["totals"]["turns"], answer["totals"]["input_cost"]) == (0, "0")


def test_costs_that_are_not_known_are_null(bot, session):
    answer = bot.post(PATH, {"settings": {"model": "unheard-of", "max_input_tokens": 900}}).json()

    assert answer["columns"]["input_cost"] == answer["columns"]["cached_input_cost"] == [None] * 5
    assert answer["totals"]["input_cost"] is None
    assert any("unheard-of cost is not known" in sentence for sentence in answer["assumptions"])


def test_a_fork_is_replayed_along_its_lineage(bot, session):
    bot.post("/sessions/s/fork", {"at": 3, "id": "fork"})
    bot.post("/sessions/fork/runs", {"input": "question 4", "output": "another"})

    columns = bot.post("/sessions/fork/replay", {}).json()["columns"]
    assert columns["tokens"] == bot.post(PATH, {}).json()["columns"]["tokens"][:4]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"settings": {"max_runs": 0}}, "/settings/max_runs"),
        ({"settings": {"max_runs": 2**31}}, "/settings/max_runs"),
        ({"a": {"nope": 1}, "b": {}}, "/a/nope"),
        ({"b": {"strategy": "magic"}}, "/b/strategy"),
        ({"a": {}}, ""),
        ({"settings": {}, "b": {}}, ""),
        ({"settings": []}, "/settings"),
        ({"at": 3}, "/at"),
        ({"query": "And now?"}, "/query"),
        ({"settings": {"model": "unheard-of"}}, "/settings/max_input_tokens"),
        ({"b": {"model": "unheard-of"}}, "/b/max_input_tokens"),
        ({"b": {"format": "seed", "strategy": "minimal"}}, "/b/format"),
        ({"settings": {"keep_tool_results": 3}}, "/settings/keep_tool_results"),
    ],
)
def test_it_names_the_bad_field(bot, session, body, pointer):
    answer = bot.post(PATH, body)

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    "overrides", [{}, {"strategy": "summary"}, {"strategy": "task"}, {"strategy": "head_tail", "format": "gemini"}]
)
def test_it_takes_as_many_queries_however_long_the_session_is(bot, session, overrides):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            assert bot.post(PATH, {"a": overrides, "b": {"max_runs": 3}}).status_code == 200
        return len(captured)

    queries()  # The first use of a key is stored with it.
    few = queries()
    append_turns(session, 60)
    assert queries() == few


def test_one_long_replay_is_computed_at_a_time(bot, session, monkeypatch):
    monkeypatch.setattr(replays, "LIVE", 0)
    with replays._LONG_ONES:
        answer = bot.post(PATH, {})
    assert answer.status_code == 429
    assert answer["Retry-After"] == "5"
    assert answer.json()["type"].endswith("replay-is-busy")
    assert bot.post(PATH, {}).status_code == 200
