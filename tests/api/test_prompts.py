"""Prompts over the API."""

import pytest
import tiktoken
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions_app.models import Session, Summary, lineages
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


@pytest.mark.parametrize(
    ("strategy", "contents"),
    [
        ("minimal", ["question 1", None]),
        ("task", ["question 1", "question 4", None]),
        ("tool", ["question 4", None]),
        ("conversation", ["answer 2", "question 3", "answer 3", "question 4", None]),
        ("hierarchical", ["question 1", None]),
    ],
)
def test_the_format_seed_reads_the_rows_that_chuks_strategies_take(bot, session, strategy, contents):
    settings = {"format": "seed", "strategy": strategy}
    prompt = bot.post("/sessions/s/prompt", {"instructions": "", "settings": settings}).json()

    assert [message["content"] for message in prompt["messages"]] == contents
    assert sum(fates["last"] - fates["first"] + 1 for fates in prompt["fates"]) == 4


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
        ({"shorten": "yes"}, "/shorten"),
        ({"shortened": True}, "/shortened"),
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


def assert_queries_do_not_grow(bot, session, body, at_most):
    append_turns(session, 20)
    bot.post("/sessions/s/prompt", body)
    with CaptureQueriesContext(connection) as few:
        bot.post("/sessions/s/prompt", body)
    append_turns(session, 300)
    with CaptureQueriesContext(connection) as many:
        assert bot.post("/sessions/s/prompt", body).status_code == 200

    assert len(many) == len(few) <= at_most


def test_the_queries_do_not_grow_with_the_session(bot, session):
    assert_queries_do_not_grow(bot, session, {"settings": {"max_input_tokens": 60}}, 14)


def test_the_prompt_of_a_turn_says_whether_it_is_the_one_that_was_sent(bot, project):
    make_session(project, "s", runs=2, settings={"strategy": "buffer"})
    sent = bot.post("/sessions/s/prompt", {"query": "question 3"}).json()
    run = {"input": "question 3", "output": "answer 3", "prompt_fingerprint": sent["fingerprint"]}
    bot.post("/sessions/s/runs", run)
    append_turns(Session.objects.get(public_id="s"), 2)

    then = bot.post("/sessions/s/prompt", {"at": 3}).json()
    other = bot.get("/sessions/s/prompt?at=3&last_n=1").json()

    assert (then["messages"], then["fates"]) == (sent["messages"], sent["fates"])
    versions = {"project": 0, "session": 1}
    turn = {"turn": 3, "recorded_fingerprint": sent["fingerprint"], "same": True, "settings_versions": versions}
    assert then["at"] == turn
    assert (other["at"]["same"], bot.get("/sessions/s/prompt?at=2").json()["at"]["same"]) == (False, None)
    assert bot.get("/sessions/s/prompt").json()["at"] is None


def test_the_prompt_of_a_turn_stays_what_it_was_when_settings_change(bot, project):
    make_session(project, "s", runs=4, now=timezone.now())
    sent = bot.post("/sessions/s/prompt", {"query": "question 5"}).json()
    run = {"input": "question 5", "output": "answer 5", "prompt_fingerprint": sent["fingerprint"]}
    bot.post("/sessions/s/runs", run)
    bot.patch("/project", {"settings": {"strategy": "buffer"}})
    bot.patch("/sessions/s", {"settings": {"last_n": 1}})

    then = bot.post("/sessions/s/prompt", {"at": 5}).json()
    today = bot.post("/sessions/s/prompt/compare", {"b": {}, "at": 5}).json()["a"]

    assert (then["at"]["same"], then["at"]["settings_versions"]) == (True, {"project": 0, "session": 0})
    assert (then["settings"]["last_n"]["value"], then["warnings"]) == ("unlimited", [])
    assert (today["at"]["same"], today["at"]["settings_versions"]) == (False, None)
    assert (today["settings"]["last_n"]["value"], today["warnings"][0]["code"]) == (1, "settings_of_today")


@pytest.mark.parametrize("at", [0, 5, 2**31, "2", 1.5])
def test_a_turn_that_is_none_is_named(bot, session, at):
    answer = bot.post("/sessions/s/prompt", {"at": at})

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/at"]


def test_memory_goes_into_a_base_that_is_sent_as_it_is(bot, session):
    base = [{"role": "user", "content": "foo", "name": "x"}, {"role": "assistant", "content": "bar"}]
    body = {"base": {"messages": base, "index": -1}, "settings": {"last_n": 1}, "instructions": "", "query": "And now?"}

    prompt = bot.post("/sessions/s/prompt", body).json()

    assert [message["content"] for message in prompt["messages"]] == [
        "foo",
        "question 4",
        "answer 4",
        "bar",
        "And now?",
    ]
    assert prompt["messages"][0] == base[0]
    tokens = prompt["tokens"]
    assert sum(tokens.values()) - tokens["total"] - tokens["budget"] - tokens["free"] == tokens["total"]


@pytest.mark.parametrize(
    ("base", "pointer"),
    [
        ({"messages": [{"role": "model"}]}, "/base/messages/0/role"),
        ({"messages": "foo"}, "/base/messages"),
        ({"messages": [], "index": "end"}, "/base/index"),
        ({"index": 1}, "/base/messages"),
        ([], "/base"),
    ],
)
def test_a_base_that_is_none_is_named(bot, session, base, pointer):
    answer = bot.post("/sessions/s/prompt", {"base": base})

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_lost_runs_are_an_error_where_the_settings_say_so(bot, project):
    make_session(project, "long", runs=30, settings={"strategy": "summary", "on_gap": "error", "max_input_tokens": 100})
    answer = bot.post("/sessions/long/prompt", {})

    assert (answer.status_code, answer.json()["type"]) == (422, "urn:convoweb:problem:runs-lost")
    stopgap = bot.get("/sessions/long/prompt?on_gap=stopgap").json()
    assert [fates["fate"] for fates in stopgap["fates"]] == ["summarized", "kept"]
    assert [warning["code"] for warning in stopgap["warnings"]] == ["runs_extracted"]


def test_the_newest_run_can_be_cut_instead_of_dropped(bot, session):
    bot.post("/sessions/s/runs", {"input": "Why? " * 100, "output": "Because."})
    body = {"settings": {"max_input_tokens": 60}}

    assert bot.post("/sessions/s/prompt", body).json()["messages"] == [{"role": "system", "content": "Be kind."}]
    cut = bot.post("/sessions/s/prompt", body | {"shorten": True}).json()
    assert cut["messages"][1]["content"].endswith(" [shortened]")
    assert bot.get("/sessions/s/prompt?max_input_tokens=60&shorten=true").json() == cut


@pytest.mark.parametrize("strategy", ["minimal", "task", "tool", "conversation", "hierarchical", "head_tail"])
def test_the_queries_of_a_strategy_do_not_grow_with_the_session(bot, session, strategy):
    assert_queries_do_not_grow(bot, session, {"settings": {"max_input_tokens": 100, "strategy": strategy}}, 24)


@pytest.mark.parametrize("path", ["prompt", "runs", "facts?words=question", "usage"])
def test_what_is_asked_while_the_parent_goes_is_answered_that_it_is_gone(bot, project, monkeypatch, path):
    parent = make_session(project, "parent", runs=3)
    make_session(project, "fork", parent=parent, forked_at=2)
    monkeypatch.setattr(lineages, "ancestors_of", lambda _session: [])
    answer = (
        bot.post("/sessions/fork/prompt", {"query": "And?"}) if path == "prompt" else bot.get(f"/sessions/fork/{path}")
    )
    assert answer.status_code == 404
    assert answer.json()["detail"] == "It has been deleted meanwhile."
