"""Tokens and costs on the page of a session."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.transcript import Usage
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_session
from tests.many_runs import make_long_session

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
# 1,000,000 tokens sent to gpt-4.1 cost 2 USD, 500,000 answered 4 USD: its maker's prices.
TOLD = replace(simple_turn("a", "b"), model="gpt-4.1", usage=Usage(input=1_000_000, output=500_000))


@pytest.fixture
def session(project):
    session = make_session(project, runs=1, settings={"strategy": "buffer"})
    append_runs(session=session, runs=[TOLD, replace(TOLD, model="nobody-knows-it")], now=NOW)
    return session


def page(client, query="", **headers):
    return client.get(f"/p/p/sessions/s/{query}", headers=headers).content.decode()


def test_a_run_shows_what_was_reported_and_what_it_costs(client, session):
    shown = page(client)
    first, second, third = (shown.split(f'id="run-{n}"')[1].split("run-m")[0] for n in (1, 2, 3))
    assert "run-u" not in first
    assert "1,000,000 → 500,000" in second
    assert "$6.00" in second
    assert "1,000,000 → 500,000" in third
    assert "$" not in third


def test_usage_is_summed_up_when_it_is_asked_for(client, session):
    assert "Sum up tokens and costs" in page(client)
    for shown in (page(client, "?usage=1"), page(client, "?usage=1", **HTMX)):
        summed = shown.split('id="usage"')[1].split("</section>")[0]
        assert "$6.00 for this conversation itself" in summed
        assert "2 of 3 runs came with what their provider counted" in summed
        assert "For 1 no price is known" in summed
        assert '<th scope="row">gpt-4.1</th><td>1</td><td>1,000,000</td><td>500,000</td><td>$6.00</td>' in summed
        assert '<th scope="row">Assistant</th><td>3</td>' in summed


def test_costs_of_runs_cost_as_many_queries_however_many_there_are(client, project):
    costs = []
    for name, runs in (("short", 100), ("long", 100_000)):
        session = make_long_session(project, name, runs, settings={"strategy": "buffer", "max_input_tokens": 800})
        append_runs(session=session, runs=[TOLD], now=NOW)
        client.get(f"/p/p/sessions/{name}/")
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/p/p/sessions/{name}/")
        costs.append(len(queries))
    assert costs[0] == costs[1]
