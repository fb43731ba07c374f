"""Finding words in a session, and jumping to its runs."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import search_index
from sessions_app.queries import session_finding
from sessions_app.queries.session_finding import MOST_FOUND
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, append_turns, make_open_run, make_session
from tests.many_runs import make_long_session

pytestmark = pytest.mark.django_db


def page(client, query, session_id="s"):
    response = client.get(f"/p/p/sessions/{session_id}/{query}")
    assert response.status_code == 200
    return response.content.decode()


@pytest.fixture
def session(project):
    session = make_session(project, runs=60, settings={"strategy": "buffer"})
    append_runs(session=session, runs=[simple_turn("Where is the needle?", "A **needle** is here.")], now=NOW)
    append_turns(session, 60)
    append_runs(session=session, runs=[simple_turn("Again", "needles")], now=NOW)
    append_turns(session, 60)
    return session


def test_it_counts_the_runs_that_hold_the_words_and_shows_them_with_their_neighbours(client, session):
    shown = page(client, "?find=needle")
    assert '<span class="num">1 of 2</span> runs' in shown
    for position in (60, 61, 62, 121, 122, 123):
        assert f'id="run-{position}"' in shown
    assert shown.count("<article") == 6
    assert "A <strong><mark>needle</mark></strong> is here." in shown
    assert "Runs 1–59" in shown


def test_next_and_previous_go_round(client, session):
    first, second = page(client, "?find=needle"), page(client, "?find=needle&at=122")
    assert '<span class="num">2 of 2</span>' in second
    for shown, other in ((first, 122), (second, 61)):
        assert f'id="find-on" href="/p/p/sessions/s/?find=needle&amp;at={other}#run-{other}"' in shown
        assert f'id="find-back" href="/p/p/sessions/s/?find=needle&amp;at={other}#run-{other}"' in shown
    assert 'class="run here" id="run-122"' in second


@pytest.mark.parametrize(
    ("words", "said"), [("nowhere", "No run holds these words"), ("---", "a word, and nothing else is looked for")]
)
def test_it_says_that_nothing_was_found(client, session, words, said):
    shown = page(client, f"?find={words}")
    assert said in shown
    assert "<article" not in shown


def test_a_fork_finds_words_in_the_runs_it_shares_and_none_behind_them(client, session):
    fork = fork_session(session=session, at=100, now=NOW)
    shown = page(client, "?find=needle", fork.public_id)
    assert '<span class="num">1 of 1</span> run' in shown
    assert 'id="run-61"' in shown


def test_other_sessions_and_projects_are_not_looked_through(client, project, session):
    make_session(project, "other", runs=3)
    assert "No run holds these words" in page(client, "?find=needle", "other")


def test_very_common_words_are_said_to_be_looked_for_among_the_newest(client, session, monkeypatch):
    monkeypatch.setattr(search_index, "PLACES_READ_FOR_ONE", 20)
    shown = page(client, "?find=question")
    assert "20+" in shown
    assert "the newest that hold words this common" in shown


def test_of_very_many_runs_the_newest_are_found(client, session, monkeypatch):
    monkeypatch.setattr(session_finding, "MOST_FOUND", 5)
    assert "1 of 5+" in page(client, "?find=question")


def test_words_are_found_while_a_run_that_holds_nothing_yet_is_the_newest(client, session):
    make_open_run(session).events.all().delete()
    assert '<span class="num">1 of 2</span> runs' in page(client, "?find=needle")


def test_a_run_is_opened_by_its_address_and_marked(client, session):
    shown = page(client, "?run=50")
    assert 'class="run here" id="run-50"' in shown
    assert 'href="/p/p/sessions/s/?run=50#run-50"' in shown


@pytest.mark.parametrize(
    ("jump", "address"),
    [("50", "?run=50#run-50"), ("9999", "?run=182#run-182"), ("50&view=raw", "?run=50&view=raw#run-50")],
)
def test_a_number_leads_to_its_run(client, session, jump, address):
    assert client.get(f"/p/p/sessions/s/?jump={jump}")["Location"] == f"/p/p/sessions/s/{address}"


@pytest.mark.parametrize("jump", ["", "0", "-3", "x", "9" * 30, "25:00", "<b>"])
def test_a_jump_to_no_run_stays_on_the_page_and_says_so(client, session, jump):
    shown = page(client, f"?jump={jump}")
    assert "<article" in shown
    assert ("is neither a run nor a time" in shown) == bool(jump)
    assert "<b>”" not in shown


@pytest.mark.parametrize(
    ("jump", "zone", "position"),
    [
        ("16:05", "", 4),
        ("16:06", "", 5),
        ("18:00", "", 3),
        ("2026-05-03 16:05", "", 2),
        ("2026-05-03 16:04", "", 1),
        ("3 May 2026, 23:00", "", 3),
        ("2026-05-04", "", 4),
        ("2026-05-04 01:05", "Asia/Tokyo", 2),
        ("2026-05-04", "Asia/Tokyo", 1),
        ("2020-01-01", "", 1),
        ("today", "", 6),
    ],
)
def test_a_time_leads_to_the_run_that_began_then_or_to_the_one_before(client, project, jump, zone, position):
    """The runs began at 16:00, 16:05 and 18:00 on one day, and at 16:05, 16:05 and a half, 16:07 on the next."""
    session = make_session(project, "timed", runs=6)
    noon = datetime(2026, 5, 3, 12, tzinfo=UTC)
    for place, minutes in enumerate((240, 245, 360, 1685, 1685.5, 1687), 1):
        session.runs.filter(position=place).update(created_at=noon + timedelta(minutes=minutes))
    client.cookies["zone"] = zone
    found = client.get("/p/p/sessions/timed/", {"jump": jump})["Location"]
    assert found == f"/p/p/sessions/timed/?run={position}#run-{position}"


def test_a_time_in_a_fork_leads_to_a_run_that_it_shares(client, session):
    session.runs.filter(position__lte=50).update(created_at=NOW - timedelta(days=1))
    fork = fork_session(session=session, at=100, now=NOW)
    found = client.get(f"/p/p/sessions/{fork.public_id}/", {"jump": "2026-05-04"})["Location"]
    assert found.endswith("?run=51#run-51")


def test_a_time_is_found_among_a_hundred_thousand_runs_as_among_a_hundred(client, project):
    costs = {}
    for name, runs in (("short", 100), ("long", 100_000)):
        long = make_long_session(project, name, runs, settings={"strategy": "buffer"})
        long.runs.filter(position__gt=70).update(created_at=NOW + timedelta(days=1))
        client.get(f"/p/p/sessions/{name}/?jump=2026-05-05")
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/p/p/sessions/{name}/?jump=2026-05-05")["Location"].endswith("#run-71")
        costs[name] = len(queries)
        rows = sum(_row_count(query["sql"]) for query in queries if query["sql"].startswith("SELECT"))
        assert rows < 1700
    assert costs["long"] <= costs["short"] + 2


def test_it_leads_to_the_first_lost_run_and_to_where_the_budget_ended(client, project):
    make_session(project, runs=60, settings={"strategy": "summary", "max_input_tokens": 120, "on_gap": "warn"})
    shown = page(client, "")
    assert 'href="/p/p/sessions/s/?run=1#run-1"' in shown.split("First lost")[0].rsplit("<a", 1)[1]
    cut = shown.split("Budget cut: run ")[1].split(" ")[0]
    assert f'href="/p/p/sessions/s/?run={cut}#run-{cut}"' in shown.split("Budget cut</a>")[0].rsplit("<a", 1)[1]


def test_a_hundred_thousand_runs_cost_what_a_hundred_cost(client, project):
    for name, runs in (("short", 100), ("long", 100_000)):
        make_long_session(project, name, runs, settings={"strategy": "buffer", "max_input_tokens": 800})
    for query in ("", "?find=answer&at=999999", "?find=nowhere", "?run=20", "?view=raw"):
        short, long = (_cost(client, query, name) for name in ("short", "long"))
        assert long["queries"] == short["queries"], query
        assert long["shown"] == short["shown"], query
        assert long["rows"] <= short["rows"] + (MOST_FOUND if "answer" in query else 3), query


def _cost(client, query, name):
    """Return what a page costs: queries, rows that the database answers with, runs shown."""
    page(client, query, name)  # the first request also fills caches of the process
    with CaptureQueriesContext(connection) as queries:
        shown = page(client, query, name)
    selects = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    return {"queries": len(queries), "rows": sum(map(_row_count, selects)), "shown": shown.count("<article")}


def _row_count(select):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM (SELECT 1 FROM ({select}) AS asked) AS counted".replace("%", "%%"))
        return cursor.fetchone()[0]
