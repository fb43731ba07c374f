"""Asking a model over real HTTP: what is sent, what is understood, and every way in which an endpoint can fail."""

import json
import logging
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from sessions_app.clients import endpoints
from sessions_app.clients.endpoints import Endpoint
from sessions_app.domain.errors import SummarizerFailed
from sessions_app.domain.summarizers.openai import ModelAnswer, ModelRequest
from tests.scripted_endpoint import (
    TEN_MEGABYTES,
    Drip,
    Endless,
    Half,
    Nothing,
    Raw,
    ScriptedEndpoint,
    Slow,
    Status,
    Text,
)
from tests.servers import free_port

KEY = "sk-proj-31415926535897932384626433"
ASKED = ModelRequest("gpt-4.1-mini", "Summarize: {x} <b> 我", 512)


def ask(server, *, key=KEY, timeout=5.0, request=ASKED):
    return endpoints.ask(Endpoint("local", server.url, SecretStr(key) if key else None), request, timeout=timeout)


def failure(*script, **options):
    """What is said of an answer."""
    with ScriptedEndpoint(*script) as server, pytest.raises(SummarizerFailed) as caught:
        ask(server, **options)
    return caught.value


def test_it_sends_one_user_message_with_the_key_and_nothing_else(monkeypatch):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "sk-other")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: sk-other\nAuthorization: sk-other")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with ScriptedEndpoint(Text("done")) as server:
        assert ask(server).text == "done"
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "gpt-4.1-mini",
        "messages": [{"role": "user", "content": "Summarize: {x} <b> 我"}],
        "max_tokens": 512,
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert {name.lower() for name in asked.headers} == {
        "host", "content-type", "content-length", "accept", "authorization"
    }  # fmt: skip
    assert "sk-other" not in str(asked.headers)


def test_without_a_key_it_sends_none():
    with ScriptedEndpoint(Text("done")) as server:
        ask(server, key=None)
    assert "authorization" not in {name.lower() for name in server.asked[0].headers}


def test_it_tells_text_reason_and_usage():
    with ScriptedEndpoint(Text("cut in the", usage=(900, 41, 256), finish_reason="length")) as server:
        assert ask(server) == ModelAnswer("cut in the", "length", "", 900, 256, 41)


def test_it_tells_no_usage_where_the_endpoint_tells_none():
    with ScriptedEndpoint(Text("short")) as server:
        assert ask(server) == ModelAnswer("short", "stop")


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": -1, "completion_tokens": "9"}, {"prompt_tokens": True}])
def test_usage_that_is_none_is_not_believed(usage):
    body = {"choices": [{"message": {"content": "short"}, "finish_reason": "stop"}], "usage": usage}
    with ScriptedEndpoint(Raw(json.dumps(body).encode())) as server:
        assert ask(server) == ModelAnswer("short", "stop")


def test_it_tells_a_refusal():
    with ScriptedEndpoint(Text(None, refusal="I cannot help with that.")) as server:
        assert ask(server) == ModelAnswer("", "stop", "I cannot help with that.")


def test_a_model_that_knows_only_the_newer_limit_is_asked_again_with_room_to_think():
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    with ScriptedEndpoint(Status(400, said), Text("thought")) as server:
        assert ask(server).text == "thought"
    assert [sorted(asked.body) for asked in server.asked] == [
        ["max_tokens", "messages", "model"],
        ["max_completion_tokens", "messages", "model"],
    ]
    assert server.asked[1].body["max_completion_tokens"] == 512 + 8_192


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Status(500, "out of memory"), "The endpoint local answered 500: out of memory."),
        (Status(404, "no such model"), "The endpoint local answered 404: no such model."),
        (Status(400, "too long"), "The endpoint local answered 400: too long."),
        (Half(), "The endpoint local closed the connection before its answer was whole."),
        (Nothing(closes=True), "The endpoint local closed the connection before its answer was whole."),
        (TEN_MEGABYTES, "The endpoint local answered with more than 1,016,384 bytes."),
        (Endless(), "The endpoint local answered with more than 1,016,384 bytes."),
        (Raw(b"<html>hello", "text/html"), "The endpoint local answered with something that is not JSON."),
        (Raw(b'{"choices": ['), "The endpoint local answered with something that is not JSON."),
        (Raw(b"\xff\xfe"), "The endpoint local answered with something that is not JSON."),
        (Raw(b"[" * 500_000), "The endpoint local answered with something that is not JSON."),
        (Raw(b'{"choices": []}'), "The endpoint local answered with JSON that is not a chat completion."),
        (Raw(b"[1]"), "The endpoint local answered with JSON that is not a chat completion."),
        (Raw(b"null"), "The endpoint local answered with JSON that is not a chat completion."),
        (
            Raw(b'{"choices": [{"message": "x"}]}'),
            "The endpoint local answered with JSON that is not a chat completion.",
        ),
        (
            Raw(b'{"choices": [{"message": {"content": {}}}]}'),
            "The endpoint local answered with a message whose content is not a text.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_failure_is_told_in_a_plain_sentence(answer, said):
    error = failure(answer)
    assert error.detail == said
    assert error.retry_after is None


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_nothing_is_sent_to_where_a_redirect_leads(code):
    with ScriptedEndpoint() as elsewhere:
        error = failure(Status(code, location=f"{elsewhere.url}/chat/completions"))
    assert error.detail == f"The endpoint local answered {code}, a redirect, which is not followed."
    assert elsewhere.asked == []


def test_it_asks_once_only():
    with ScriptedEndpoint(Status(500), Text("second")) as server, pytest.raises(SummarizerFailed):
        ask(server)
    assert len(server.asked) == 1


def test_a_wait_that_is_asked_for_is_told():
    error = failure(Status(429, "slow down", retry_after=20))
    assert error.detail == "The endpoint local answered 429 and asks to wait 20 s: slow down."
    assert error.retry_after == 20


def test_a_wait_may_be_a_date():
    until = datetime.now(UTC) + timedelta(seconds=90)
    error = failure(Status(503, retry_after=format_datetime(until, usegmt=True)))
    assert 85 <= error.retry_after <= 90


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("0.2", 1), ("-5", 0), ("1e300", 86_400), ("inf", 86_400), ("nan", 0), ("soon", None), ("", None)],
)
def test_a_wait_that_makes_no_sense_holds_nothing_up_for_long(header, seconds):
    assert failure(Status(429, retry_after=header)).retry_after == seconds


@pytest.mark.parametrize("code", [401, 403])
def test_a_key_that_is_not_accepted_is_told_by_the_name_of_its_variable(code):
    said = f"The endpoint local answered {code}; CONVOWEB_ENDPOINT_KEY_LOCAL is not accepted: who are you."
    assert failure(Status(code, "who are you?")).detail.replace("?", "") == said
    assert "CONVOWEB_ENDPOINT_KEY_LOCAL is not set" in failure(Status(code), key=None).detail


def test_an_endpoint_that_nobody_listens_at_is_told():
    endpoint = Endpoint("local", f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(SummarizerFailed, match=r"endpoint local cannot be reached: .*Connection refused"):
        endpoints.ask(endpoint, ASKED, timeout=5)


@pytest.mark.parametrize(
    "answer",
    [Nothing(), Text("late", after=30), Slow("a byte now and then", pause=0.2), Drip(pause=0.2)],
    ids=lambda answer: type(answer).__name__,
)
def test_an_endpoint_that_never_ends_holds_nobody_for_longer_than_the_timeout(answer):
    began = time.monotonic()
    assert failure(answer, timeout=1.0).detail == "The endpoint local did not answer within 1 s."
    assert 0.9 < time.monotonic() - began < 2.5


def test_no_key_is_in_what_is_told_of_a_failure(caplog):
    caplog.set_level(logging.DEBUG)
    error = failure(Status(401, f"Incorrect key {KEY}.{KEY}" + "x" * 5_000))
    assert "Incorrect key [key].[key]xxx" in error.detail
    assert len(error.detail) < 400
    told = f"{error!r} {error.__cause__!r} {error.__context__!r} {caplog.text}"
    assert "31415" not in error.detail + told
    endpoint = Endpoint("local", "http://127.0.0.1:9/v1", SecretStr(KEY))
    assert "31415" not in f"{endpoint} {endpoint!r}"


def test_no_key_is_in_an_answer_of_an_endpoint_that_repeats_what_it_was_sent():
    with ScriptedEndpoint(Text(f"You sent Bearer {KEY}."), Text("", refusal=f"Not with {KEY}")) as server:
        assert ask(server).text == "You sent Bearer [key]."
        assert ask(server).refusal == "Not with [key]"


def test_neither_the_sdk_nor_a_vocabulary_is_loaded_before_it_is_needed():
    code = "import sys, django, tiktoken.registry; django.setup(); import convoweb.urls, sessions_app.tasks; "
    code += "print('openai' in sys.modules, len(tiktoken.registry.ENCODINGS))"
    environment = {"DJANGO_SETTINGS_MODULE": "convoweb.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False 0"
