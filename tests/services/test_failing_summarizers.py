"""A bot talks on while its summarizer fails in three of ten calls, as it sees that over HTTP."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from django.test import Client
from django.utils import timezone

from sessions_app import tasks
from sessions_app.models import Session
from sessions_app.services.keys import create_api_key
from tests.scripted_endpoint import Half, Nothing, Raw, Status, Text
from tests.services.summarizing import given_runs

pytestmark = pytest.mark.django_db

TURNS = 100
FAILING = 0.3
FAILURES = (Status(500), Status(429, retry_after=90), Text(""), Half(), Nothing(closes=True), Raw(b"<html>"))
WORDS = ("tide", "gauge", "chalk", "ferry", "odd", "days", "lamp", "rope", "north", "pier", "wind", "marks")
SETTINGS = {"max_input_tokens": 1_200, "offset": 4, "max_summary_tokens": 150, "summarize_at": 1, "summarize_to": 0.85}


class Clock:
    """A minute goes by from one turn to the next."""

    def __init__(self):
        self.now = datetime(2026, 5, 4, 12, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock)
    return clock


@pytest.fixture
def bot(model_project):
    _, key = create_api_key(project=model_project, name="bot", scopes=["read", "write"])
    client = Client(headers={"authorization": f"Bearer {key}"})

    def call(method, path, body=None):
        answer = client.generic(method, f"/api/v1{path}", body, content_type="application/json")
        assert answer.status_code < 300, answer.content
        return answer.json()

    return call


def json_of(**body):
    return json.dumps(body)


def said(chance, most):
    return " ".join(chance.choices(WORDS, k=chance.randint(5, most))).capitalize() + "."


def fates_of(prompt):
    fates = prompt["fates"]
    return Counter(each["fate"] for each in fates for _ in range(each["first"], each["last"] + 1))


def test_no_run_is_lost_without_its_marked_extract(bot, clock, endpoint):
    chance, failed = Random(1), []

    def answer(asked):
        failed.append(chance.random() < FAILING)
        return chance.choice(FAILURES) if failed[-1] else Text(f"Runs to {given_runs(asked)[-1][0]} were of the tide.")

    endpoint.otherwise = answer
    bot("POST", "/sessions", '{"id": "s"}')
    bot("PATCH", "/sessions/s", json_of(settings=SETTINGS))
    extracted = 0
    for _ in range(TURNS):
        run = bot("POST", "/sessions/s/runs", json_of(input=said(chance, 20), output=said(chance, 120)))
        prompt = bot("GET", "/sessions/s/prompt")
        assert fates_of(prompt)["lost"] == 0, prompt["fates"]
        assert (prompt["fates"][0]["first"], prompt["fates"][-1]["last"]) == (1, run["position"])
        assert prompt["tokens"]["total"] <= SETTINGS["max_input_tokens"]
        extracts = [fates for fates in prompt["fates"] if "extract" in fates["reason"]]
        system = prompt["messages"][0]["content"]
        for fates in extracts:
            assert f"# Extract of runs {fates['first']}-{fates['last']}, not summarized yet\n" in system
        if extracts:
            extracted += 1
            assert fates_of(bot("GET", "/sessions/s/prompt?on_gap=warn"))["lost"] > 0
        tasks.summarize(Session.objects.get().pk)
        clock.now += timedelta(minutes=1)

    print(f"{sum(failed)} of {len(failed)} calls failed; {extracted} of {TURNS} prompts hold an extract")
    assert sum(failed) >= 5
    assert extracted >= 5
