"""What the pages of a session ask of the database, where it has a hundred runs and where it has a hundred thousand."""

import pytest
from django.db import connection
from django.db.models.sql import compiler
from django.test.utils import CaptureQueriesContext

from sessions_app.services.sessions import update_session
from sessions_app.views import tune_replay
from tests.factories import NOW
from tests.many_runs import make_long_session

pytestmark = pytest.mark.django_db

RUNS = {"short": 100, "long": 100_000}
SETTINGS = {"strategy": "buffer", "max_input_tokens": 800}
MEGABYTE = 1_000_000
PAGES = [
    "",
    "?run={near}",
    "then/?at={near}",
    "then/?at={near}&last_n=4",
    "tune/",
    "tune/?query=And+now%3F&max_input_tokens=900",
    "tune/?strategy=summary&format=anthropic&on_gap=warn",
    "tune/?strategy=hierarchical",
    "tune/?at={near}",
    "tune/why/?last_n=5",
    "tune/why/?only=pruned",
    "tune/compare/?last_n=5",
    "tune/compare/?max_input_tokens=700&show=all",
    "tune/compare/?at={near}&last_n=5",
    "tune/replay/?last_n=5",
    "tune/save/?last_n=5",
    "tune/default/?last_n=5",
    "summaries/",
    "versions/?restore=1",
]


@pytest.fixture
def rows_read(monkeypatch):
    """Count the rows that come from the database."""
    counts = [0]
    usual = compiler.cursor_iter

    def counting(*given):
        for rows in usual(*given):
            counts[0] += len(rows)
            yield rows

    monkeypatch.setattr(compiler, "cursor_iter", counting)
    return counts


@pytest.fixture
def cost(client, rows_read):
    """Return how many queries a page takes, how many rows it reads, and about how large it is."""

    def cost(path):
        client.get(path)
        rows_read[0] = 0
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(path)
        assert answer.status_code == 200, path
        return len(queries), rows_read[0], len(answer.content) > MEGABYTE

    return cost


def test_every_page_costs_the_same_with_a_thousand_times_as_many_runs(client, project, cost, monkeypatch):
    # What begins only when it is asked for is the same at both lengths.
    monkeypatch.setattr(tune_replay, "LIVE", 0)
    costs = {}
    for name, runs in RUNS.items():
        session = make_long_session(project, name, runs, settings=SETTINGS)
        update_session(session=session, changes={"settings": {"offset": 3}}, now=NOW)
        pages = [page.format(near=runs - 3) for page in PAGES]
        costs[name] = {page: cost(f"/p/p/sessions/{name}/{at}") for page, at in zip(PAGES, pages, strict=True)}
    assert costs["short"] == costs["long"]
    for page, (queries, rows, large) in costs["long"].items():
        assert 0 < queries < 60, page
        assert 0 < rows < 1_500, page
        assert not large, page
