"""Following a fact over the API."""

from datetime import timedelta
from decimal import Decimal

import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Project
from sessions_app.services import ways_back
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db

SAID = "My mother wears a knee brace."
PATH = "/sessions/s/facts?words=knee%20brace"


@pytest.fixture
def session(project):
    """Return a conversation whose first run says it; of seven runs three stay."""
    Project.objects.update(created_at=NOW - timedelta(days=1))
    session = make_session(project, settings={"strategy": "buffer", "last_n": 3})
    append_runs(session=session, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    append_turns(session, 6, now=NOW + timedelta(minutes=1))
    return session


def test_it_answers_where_the_words_were_and_which_setting_took_them_away(bot, session):
    answer = bot.get(PATH).json()
    assert answer["hits"] == [{"position": 1, "parts": ["input"]}]
    assert [(each["first"], each["last"], each["place"], each["why"]) for each in answer["intervals"]] == [
        (1, 1, "not_said", "not_said"),
        (2, 4, "words", "in_run"),
        (5, 7, "nowhere", "last_n"),
    ]
    assert answer["intervals"][2]["setting"] == {"name": "last_n", "value": 3, "layer": "session"}
    assert answer["intervals"][2]["detail"] == "run 1 is not among the newest that are sent"
    assert (answer["next"]["place"], answer["first"], answer["last"], answer["guessed"]) == ("nowhere", 1, 7, 0)


def test_the_ways_are_settings_that_the_prompt_can_be_asked_for_with(bot, session):
    assert bot.get(PATH).json()["ways_at"] == 5
    answer = bot.get(f"{PATH}&at=8").json()
    assert answer["ways_at"] is None
    tried = [way["settings"] for way in answer["ways"] if way["settings"]]
    assert tried == [{"last_n": "unlimited"}, {"last_n": 7}]
    for settings in tried:
        prompt = bot.post("/sessions/s/prompt", {"settings": settings}).json()
        assert SAID in prompt["messages"][0]["content"]
    at_turn = bot.get(f"{PATH}&at=5").json()
    assert at_turn["ways_at"] == 5
    assert {"last_n": 4} in [way["settings"] for way in at_turn["ways"]]


def test_a_way_has_the_tokens_and_the_cost_of_the_prompt_that_has_the_words(bot, session):
    (way,) = [each for each in bot.get(f"{PATH}&at=8").json()["ways"] if each["settings"] == {"last_n": 7}]
    for name, settings in (("", {"last_n": 7}), ("_without", {})):
        prompt = bot.post("/sessions/s/prompt", {"settings": settings}).json()
        assert way[f"tokens{name}"] == prompt["tokens"]["total"]
        # The model that is built in asks 0.40 dollars for a million tokens.
        assert Decimal(way[f"input_cost{name}"]) == prompt["tokens"]["total"] * Decimal("0.0000004")


def test_over_very_many_turns_one_is_followed_at_a_time(bot, session, monkeypatch):
    monkeypatch.setattr(ways_back, "LIVE_TURNS", 6)
    with ways_back._LONG_ONES:
        answer = bot.get(PATH)
    assert (answer.status_code, answer["Retry-After"]) == (429, "5")
    assert answer.json()["type"].endswith("facts-are-busy")
    assert bot.get(PATH).status_code == 200


def test_what_is_said_elsewhere_in_the_tree_is_named(bot, project):
    parent = make_session(project, "parent", runs=2)
    fork_session(session=parent, at=1, now=NOW, public_id="s")
    (run,) = append_runs(session=parent, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    answer = bot.get(PATH).json()
    assert answer["hits"] == []
    assert answer["elsewhere"] == [{"session_id": "parent", "run_id": run.public_id, "position": 3, "is_above": True}]


def test_it_is_named_too_where_a_run_of_the_session_says_the_same(bot, project):
    parent = make_session(project, "parent", runs=2)
    fork = fork_session(session=parent, at=1, now=NOW, public_id="s")
    append_runs(session=parent, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    append_runs(session=fork, runs=[simple_turn("Which knee brace?", "None.")], now=NOW)
    answer = bot.get(PATH).json()
    assert [hit["position"] for hit in answer["hits"]] == [2]
    assert [(each["session_id"], each["position"]) for each in answer["elsewhere"]] == [("parent", 3)]


@pytest.mark.parametrize("query", ["", "?words=", "?words=%20%0A", "?words=x&at=0", "?words=x&at=y", "?words=x&more=1"])
def test_what_cannot_be_followed_is_refused(bot, session, query):
    answer = bot.get(f"/sessions/s/facts{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"]


def test_only_a_key_that_may_read_in_the_project_gets_it(make_bot, anyone, session):
    assert make_bot(session.project, "write").get(PATH).status_code == 403
    assert make_bot(make_project("q")).get(PATH).status_code == 404
    assert anyone.get(PATH).status_code == 401


@pytest.mark.parametrize("words", ["%00", "%FF", "%25%27%22%28%5B", "a" * 3000, "%F0%9F%98%80"])
def test_any_words_are_answered(bot, session, words):
    assert bot.get(f"/sessions/s/facts?words={words}").status_code == 200
