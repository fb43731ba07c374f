"""Usage over the API: its shape, its pages, amounts as decimal texts."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.language_models import ModelFacts
from sessions_app.services.model_overrides import set_model_override
from tests.factories import NOW, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db
NOTHING = {"input": 0, "cached": 0, "output": 0, "reasoning": 0}


def test_it_says_what_was_needed_in_all_and_run_by_run(bot, project):
    facts = ModelFacts(input_price=Decimal("0.1"), output_price=Decimal(1))
    set_model_override(project=project, name="ours", facts=facts, now=NOW)
    make_session(project, "s", runs=1)
    reported = {"input": 5, "cached": 0, "output": 1, "reasoning": 0}
    run = {"input": "a", "output": "b", "model": "ours", "usage": reported}
    run = bot.post("/sessions/s/runs", run).json()

    answer = bot.get("/sessions/s/usage").json()

    cost = "0.0000015"
    first, second = answer.pop("items")
    assert second == {
        "id": run["id"],
        "position": 2,
        "model": "ours",
        "tokens": run["tokens"],
        "reported": reported,
        "cost": cost,
    }
    assert (first["reported"], first["cost"]) == (None, None)
    total = {"runs": 2, "tokens": first["tokens"] + second["tokens"], "reporting_runs": 1, "reported": reported}
    total |= {"cost": cost, "unpriced_runs": 0}
    assert answer["lineage"] == answer["own"] == total
    assert answer["models"][1] == {**total, "model": "ours", "runs": 1, "tokens": second["tokens"]}
    assert answer["models"][0]["reported"] == NOTHING
    assert [(each["role"], each["events"]) for each in answer["roles"]] == [("user", 2), ("assistant", 2)]
    assert answer["summaries"] == {
        "entries": 0,
        "tokens_read": 0,
        "tokens_written": 0,
        "cost": "0",
        "unpriced_entries": 0,
    }
    assert (answer["cost"], answer["next_cursor"]) == (cost, None)


def test_its_runs_come_in_pages_along_the_lineage_and_the_first_has_the_totals_of_all(bot, project):
    trip = make_session(project, "trip", runs=3)
    fork = make_session(project, "fork", parent=trip, forked_at=2)
    append_turns(fork, 3)

    pages = list(bot.pages("/sessions/fork/usage?limit=2"))

    assert [[item["position"] for item in page["items"]] for page in pages] == [[1, 2], [3, 4], [5]]
    assert [(page["lineage"]["runs"], page["own"]["runs"]) for page in pages[:1]] == [(5, 3)]
    totals = ("lineage", "own", "models", "roles", "summaries", "cost")
    assert [[page[name] for name in totals] for page in pages[1:]] == [[None] * 6] * 2


def test_a_page_behind_a_cursor_reads_its_runs_alone(bot, project):
    make_session(project, "s", runs=3)
    cursor = bot.get("/sessions/s/usage?limit=1").json()["next_cursor"]

    with CaptureQueriesContext(connection) as queries:
        bot.get(f"/sessions/s/usage?limit=1&cursor={cursor}")

    assert not [each for each in queries.captured_queries if "SUM(" in each["sql"]]


def test_it_needs_the_scope_read_and_the_project(bot, make_bot, project):
    make_session(project, "s")

    assert make_bot(project, "write").get("/sessions/s/usage").status_code == 403
    assert make_bot(make_project("other")).get("/sessions/s/usage").status_code == 404
    assert bot.get("/sessions/s/usage?cursor=x").status_code == 422
