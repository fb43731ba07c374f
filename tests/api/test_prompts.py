"""Prompts over the API."""

import pytest
import tiktoken
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Summary
from sessions_app.services.prompts import session_prompt
from tests.factories import append_turns, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(project):
    return make_session(project, "s", runs=4, instructions="Be kind.", settings={"strategy": "buffer"})


def test_it_answers_with_messages_ready_to_send(bot, session):
    answer = bot.post("/sessions/s/prompt", {"query": "And now?"})

    prompt = answer.json()
    assert answer.status_code == 200
    assert prompt["messages"][0] == {"role": "system", "content": "Be kind."}
    assert prompt["messages"][1] == {"role": "user", "content": "question 1"}
    assert prompt["messages"][-1] == {"role": "user", "content": "And now?"}
    assert (prompt["text"], prompt["format"], prompt["unseen"], prompt["summary"]) == (None, "openai", 0, None)
    assert [(fates["first"], fates["last"], fates["fate"]) for fates in prompt["fates"]] == [(1, 4, "kept")]
    assert prompt["fingerprint"].startswith("sha256:")


def test_its_tokens_are_those_of_its_messages(bot, session):
    prompt = bot.post("/sessions/s/prompt", {"query": "And now?"}).json()

    encode = tiktoken.get_encoding(prompt["encoding"]).encode_ordinary
    counted = 3 + sum(3 + len(encode(each["role"])) + len(encode(each["content"])) for each in prompt["messages"])
    tokens = prompt["tokens"]
    assert tokens["total"] == counted
    assert tokens["free"] == tokens["budget"] - tokens["total"]
    assert sum(tokens.values()) - tokens["total"] - tokens["budget"] - tokens["free"] == tokens["total"]


def test_settings_of_the_request_come_first_and_every_value_names_its_layer(bot, session):
    bot.patch("/project", {"settings": {"offset": 3, "max_runs": 9}})

    settings = bot.post("/sessions/s/prompt", {"settings": {"max_runs": 2, "last_n": "unlimited"}}).json()["settings"]

    assert settings["max_runs"] == {"value": 2, "from": "request"}
    assert settings["last_n"] == {"value": "unlimited", "from": "request"}
    assert settings["strategy"] == {"value": "buffer", "from": "session"}
    assert settings["offset"] == {"value": 3, "from": "project"}
    assert settings["summarize_at"] == {"value": 0.75, "from": "built-in"}


def test_get_takes_the_same_settings_as_parameters(bot, session):
    posted = bot.post("/sessions/s/prompt", {"settings": {"max_runs": 2, "autoprune": False, "format": "text"}}).json()

    got = bot.get("/sessions/s/prompt?max_runs=2&autoprune=false&format=text").json()

    assert got == posted
    assert got["messages"] is None
    assert "question 4" in got["text"]


@pytest.mark.parametrize(
    ("shape", "system", "last"),
    [
        ("openai", None, {"role": "user", "content": "And now?"}),
        ("responses", None, {"role": "user", "content": "And now?"}),
        ("anthropic", "Be kind.", {"role": "user", "content": [{"type": "text", "text": "And now?"}]}),
        ("gemini", "Be kind.", {"role": "user", "parts": [{"text": "And now?"}]}),
    ],
)
def test_the_format_is_the_shape_of_what_is_sent(bot, session, shape, system, last):
    prompt = bot.post("/sessions/s/prompt", {"query": "And now?", "settings": {"format": shape}}).json()

    assert (prompt["format"], prompt["system"], prompt["text"]) == (shape, system, None)
    assert prompt["messages"][-1] == last
    assert ({"role": "system", "content": "Be kind."} in prompt["messages"]) == (system is None)
    assert len(prompt["messages"]) == 9 + (system is None)


def test_the_fingerprint_covers_a_system_text_that_stands_beside(bot, session):
    settings = {"format": "anthropic"}
    one = bot.post("/sessions/s/prompt", {"settings": settings}).json()
    other = bot.post("/sessions/s/prompt", {"settings": settings, "instructions": "Be bold."}).json()

    assert one["messages"] == other["messages"]
    assert one["fingerprint"] != other["fingerprint"]


def test_it_is_the_prompt_that_the_page_shows(bot, session):
    prompt = bot.post("/sessions/s/prompt", {}).json()

    assert prompt["fingerprint"] == session_prompt(session=session).fingerprint


def test_it_stores_nothing(bot, session):
    before = bot.get("/sessions/s").json()
    bot.post("/sessions/s/prompt", {"query": "And now?"})

    assert bot.get("/sessions/s").json() == before


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"query": "  "}, "/query"),
        ({"context": ["ok", ""]}, "/context/1"),
        ({"settings": {"strategy": "magic"}}, "/settings/strategy"),
        ({"settings": {"max_runs": 2**31}}, "/settings/max_runs"),
        ({"settings": {"model": "unheard-of"}}, "/settings/max_input_tokens"),
        ({"tools": [{"type": "function", "function": {"name": "no spaces"}}]}, "/tools/0/function/name"),
        ({"tools": ["x"]}, "/tools/0"),
        ({"shorten": True}, "/shorten"),
    ],
)
def test_it_names_the_bad_field(bot, session, body, pointer):
    answer = bot.post("/sessions/s/prompt", body)

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize("query", ["max_runs=0", "max_runs=x", "nope=1", "strategy=magic", "autoprune=maybe"])
def test_a_bad_parameter_is_named(bot, session, query):
    answer = bot.get(f"/sessions/s/prompt?{query}")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"/{query.split('=')[0]}"


def test_a_budget_too_small_says_what_needs_how_much(bot, session):
    answer = bot.post("/sessions/s/prompt", {"settings": {"max_input_tokens": 5}, "query": "And now?"})

    problem = answer.json()
    assert (answer.status_code, problem["budget"]) == (422, 5)
    assert problem["type"].endswith("budget-too-small")
    assert problem["needs"]["instructions"] > 0
    assert problem["needs"]["query"] > 0


def test_the_summary_that_is_sent_is_named(bot, project):
    session = make_session(project, "long", runs=10, settings={"offset": 1})
    session.summary = Summary.objects.create(
        session=session,
        number=1,
        status="completed",
        covers_through=6,
        text="Six questions were answered.",
        summarizer="extractive",
        created_at=session.created_at,
    )
    session.save()

    prompt = bot.post("/sessions/long/prompt", {}).json()

    assert prompt["summary"] == {"id": session.summary.public_id, "number": 1, "covers_through": 6}
    assert prompt["fates"][0] | {"reason": ""} == {"first": 1, "last": 6, "fate": "summarized", "reason": ""}
    assert bot.get("/sessions/long").json()["summary"]["covers_through"] == 6


def test_the_queries_do_not_grow_with_the_session(bot, session):
    body = {"settings": {"max_input_tokens": 60}}
    append_turns(session, 20)
    bot.post("/sessions/s/prompt", body)
    with CaptureQueriesContext(connection) as few:
        bot.post("/sessions/s/prompt", body)
    append_turns(session, 300)
    with CaptureQueriesContext(connection) as many:
        assert bot.post("/sessions/s/prompt", body).status_code == 200

    assert len(many) == len(few) <= 14
