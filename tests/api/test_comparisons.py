"""Two prompts side by side over the API."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.language_models import ModelFacts
from sessions_app.services.model_overrides import set_model_override
from tests.factories import NOW, make_session

pytestmark = pytest.mark.django_db
PATH = "/sessions/s/prompt/compare"


@pytest.fixture
def session(project):
    set_model_override(project=project, name="own", facts=ModelFacts(9_000, Decimal("2.50")), now=NOW)
    return make_session(project, "s", runs=4, settings={"strategy": "buffer", "model": "own"})


def test_both_prompts_are_those_that_are_asked_for_alone(bot, session):
    compared = bot.post(PATH, {"a": {"last_n": 3}, "b": {"format": "anthropic"}, "query": "And now?"}).json()

    assert compared["a"] == bot.post("/sessions/s/prompt", {"settings": {"last_n": 3}, "query": "And now?"}).json()
    alone = bot.post("/sessions/s/prompt", {"settings": {"format": "anthropic"}, "query": "And now?"}).json()
    assert compared["b"] == alone


@pytest.mark.parametrize("a", [{}, {"a": None}, {"a": {}}])
def test_without_a_the_saved_settings_stand_there(bot, session, a):
    compared = bot.post(PATH, {**a, "b": {"max_runs": 1}}).json()

    assert compared["a"] == bot.post("/sessions/s/prompt", {}).json()
    assert compared["b"]["settings"]["max_runs"] == {"value": 1, "from": "request"}


def test_it_says_which_runs_fare_differently_and_what_that_costs(bot, session):
    compared = bot.post(PATH, {"b": {"last_n": 1, "max_runs": 2}}).json()

    tokens = compared["b"]["tokens"]["total"] - compared["a"]["tokens"]["total"]
    assert compared["changes"] == [
        {"first": 1, "last": 2, "a": "kept", "b": "capped"},
        {"first": 3, "last": 3, "a": "kept", "b": "skipped"},
    ]
    assert tokens < 0
    assert compared["delta"] == {"tokens": tokens, "input_cost": str(tokens * Decimal("2.5") / 1_000_000)}


def test_a_cost_that_is_not_known_is_null(bot, session):
    compared = bot.post(PATH, {"b": {"model": "unheard-of", "max_input_tokens": 900}}).json()

    assert compared["delta"]["input_cost"] is None


def test_both_are_of_the_turn_that_is_asked_for(bot, session):
    compared = bot.post(PATH, {"b": {"last_n": 0}, "at": 3}).json()

    assert [message["content"] for message in compared["b"]["messages"]] == ["question 3"]
    assert compared["a"]["at"]["turn"] == compared["b"]["at"]["turn"] == 3
    assert compared["changes"] == [{"first": 1, "last": 2, "a": "kept", "b": "skipped"}]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/b"),
        ({"b": None}, "/b"),
        ({"b": []}, "/b"),
        ({"a": {"max_runs": 0}, "b": {}}, "/a/max_runs"),
        ({"b": {"max_runs": 2**31}}, "/b/max_runs"),
        ({"b": {"nope": 1}}, "/b/nope"),
        ({"b": {"model": "unheard-of"}}, "/b/max_input_tokens"),
        ({"a": {"model": "unheard-of"}, "b": {}}, "/a/max_input_tokens"),
        ({"b": {"max_input_tokens": 2}}, "/b"),
        ({"b": {}, "query": " "}, "/query"),
        ({"b": {}, "at": 5}, "/at"),
        ({"b": {}, "at": 0}, "/at"),
        ({"b": {}, "at": 2**31}, "/at"),
        ({"b": {}, "tools": []}, "/tools"),
    ],
)
def test_it_names_the_bad_field(bot, session, body, pointer):
    answer = bot.post(PATH, body)

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_a_budget_that_is_too_small_is_told_as_for_one_prompt(bot, session):
    answer = bot.post(PATH, {"b": {"max_input_tokens": 2}, "query": "And now?"}).json()

    assert answer["type"].endswith("budget-too-small")
    assert answer["budget"] == 2


def test_it_takes_as_many_queries_however_long_the_session_is(bot, project, session):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert bot.post(PATH, {"b": {"last_n": 2}, "query": "And now?"}).status_code == 200
        return len(captured)

    queries()  # The first use of a key is stored with it.
    few = queries()
    session.delete()
    make_session(project, "s", runs=60, settings={"strategy": "buffer", "model": "own"})
    assert queries() == few
