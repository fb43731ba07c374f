"""A session's page as it goes on while somebody reads it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.transcript import Event, EventKind, Role
from sessions_app.services.runs import add_events, append_runs, change_run
from sessions_app.services.session_deletion import delete_session
from sessions_app.services.sessions import fork_session, update_session
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session
from tests.many_runs import make_long_session

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
LATER = NOW + timedelta(seconds=5)


def page(client, query="", name="s"):
    return client.get(f"/p/p/sessions/{name}/{query}").content.decode()


def address_in(shown):
    """Return the address at which a page looks for what is new."""
    return shown.split('id="follow" hidden hx-get="')[1].split('"')[0].replace("&amp;", "&")


def look(client, shown):
    return client.get(address_in(shown), headers=HTMX)


@pytest.fixture
def session(project):
    return make_session(project, runs=3, settings={"strategy": "buffer"})


def test_nothing_new_is_said_by_one_query_and_without_a_body(client, session):
    shown = page(client)
    with CaptureQueriesContext(connection) as queries:
        response = look(client, shown)
    assert (response.status_code, response.content) == (204, b"")
    asked = [query["sql"] for query in queries if "sessions_app_" in query["sql"]]
    assert len(asked) == 1


def test_a_change_of_the_projects_defaults_is_shown(client, session, project):
    shown = page(client)
    project.settings = {"max_input_tokens": 4000}
    project.save(update_fields=["settings"])
    response = look(client, shown)
    assert response.status_code == 200
    assert "4,000" in response.content.decode()
    assert look(client, response.content.decode()).status_code == 204


def test_new_runs_come_with_what_the_next_prompt_needs_now(client, session):
    shown = page(client)
    append_turns(session, 2, now=LATER)
    response = look(client, shown)
    came = response.content.decode()
    assert response["HX-Trigger"] == '{"runs-came": {}}'
    for part in (
        'id="tail" data-last="5" hx-swap-oob="true"',
        'id="run-5"',
        'id="inspected" hx-swap-oob="true"',
        "5 runs",
    ):
        assert part in came
    assert "turn 6" in came
    assert "<html" not in came
    assert look(client, came).status_code == 204


def test_what_an_open_run_does_is_shown_step_by_step(client, session):
    run = make_open_run(session, "Well?", now=NOW)
    shown = page(client)
    assert "run 4 running" in shown
    add_events(run=run, events=[Event(EventKind.MESSAGE, "Let me see.", Role.ASSISTANT)], now=LATER)
    came = look(client, shown)
    assert "Let me see." in came.content.decode()
    assert "HX-Trigger" not in came
    change_run(run=run, output="It is fine.", now=LATER + timedelta(seconds=1))
    ended = look(client, came.content.decode())
    assert "run 4 running" not in ended.content.decode()
    assert ended["HX-Trigger"] == '{"runs-came": {}}'


def test_settings_that_change_change_the_fates_on_the_page(client, session):
    shown = page(client)
    update_session(session=session, changes={"settings": {"strategy": "buffer", "last_n": 1}}, now=LATER)
    came = look(client, shown).content.decode()
    assert came.count('data-fate="skipped"') >= 2


def test_the_first_run_comes_to_an_empty_page(client, project):
    session = make_session(project, "empty")
    shown = page(client, name="empty")
    assert 'id="stream-tools" hidden' in shown
    append_runs(session=session, runs=[simple_turn("Hello", "Hi")], now=LATER)
    came = look(client, shown).content.decode()
    assert 'id="run-1"' in came
    assert '?show=" aria-current="true">All</a>' in came
    assert 'id="stream-tools" hx-swap-oob="true">' in came
    assert 'id="tree-runs" hx-swap-oob="true">1 run<' in came


def test_a_fork_goes_on_behind_the_runs_it_shares(client, session):
    fork = fork_session(session=session, at=3, now=NOW)
    shown = page(client, name=fork.public_id)
    append_turns(fork, 1, now=LATER)
    came = look(client, shown).content.decode()
    assert came.count("run shared") == 3
    assert "Runs 1–3 from" in came.replace("<span>", "")


@pytest.mark.parametrize("query", ["?find=answer", "?show=kept"])
def test_where_only_some_runs_are_shown_none_are_added_but_the_figures_follow(client, session, query):
    shown = page(client, query)
    append_turns(session, 1, now=LATER)
    came = look(client, shown).content.decode()
    assert 'id="tail"' not in came
    assert 'id="inspected" hx-swap-oob="true"' in came
    filters, before = (part.split('aria-label="Show runs"')[1].split("</nav>")[0] for part in (came, shown))
    assert filters.count('aria-current="true"') == before.count('aria-current="true"')
    assert 'In the prompt <span class="num">4</span>' in came


def test_raw_stays_raw(client, session):
    shown = page(client, "?view=raw")
    append_runs(session=session, runs=[simple_turn("*a*", "b")], now=LATER)
    assert ">*a*<" in look(client, shown).content.decode()


def test_of_very_many_new_runs_the_newest_are_shown(client, project):
    session = make_session(project, "s", runs=1, settings={"strategy": "buffer"})
    shown = page(client)
    append_turns(session, 300, now=LATER)
    came = look(client, shown).content.decode()
    assert came.count("<article") == 200
    assert "Runs 1–101" in came


def test_a_deleted_session_is_not_found_nor_is_anothers(client, session):
    shown = page(client)
    make_session(make_project("strangers"), "theirs", runs=1)
    assert client.get("/p/strangers/sessions/theirs/follow/", headers=HTMX).status_code == 404
    assert client.get("/p/p/sessions/theirs/follow/", headers=HTMX).status_code == 404
    assert client.get("/p/p/sessions/a%00b/follow/", headers=HTMX).status_code == 404
    delete_session(session=session, now=LATER)
    assert look(client, shown).status_code == 404


def test_without_a_swap_it_leads_to_the_page(client, session):
    assert client.get("/p/p/sessions/s/follow/")["Location"] == "/p/p/sessions/s/"


def test_what_came_costs_the_same_however_long_the_session(client, project):
    costs = []
    for name, runs in (("short", 100), ("long", 100_000)):
        session = make_long_session(project, name, runs, settings={"strategy": "buffer", "max_input_tokens": 800})
        shown = page(client, name=name)
        append_turns(session, 1, now=LATER)
        look(client, shown)
        with CaptureQueriesContext(connection) as queries:
            came = look(client, shown)
        costs.append((len(queries), came.content.decode().count("<article")))
    assert costs[0] == costs[1]
