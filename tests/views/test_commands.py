"""What one can go to and do, for whom, found by its words."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from sessions_app.domain.memory_settings import SETTINGS
from sessions_app.models import Membership
from sessions_app.queries.shortcuts import SHORTCUTS
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db

SWAP = {"HX-Request": "true"}


def ask(client, words="", came_from="", **headers):
    return client.get("/p/p/commands/", {"q": words, "from": came_from}, headers=headers)


def titles(response):
    return [command.title for group in response.context["groups"] for command in group.shown]


def test_it_offers_the_project_and_its_sessions(client, project):
    make_session(project, title="Lost bag")

    found = titles(ask(client))

    assert {"Go to sessions", "Connect a bot", "Settings: profiles", "Lost bag", "Your account"} <= set(found)


def test_it_offers_what_can_be_done_with_the_session_that_is_open(client, project):
    make_session(project, runs=1)

    response = ask(client, came_from="/p/p/sessions/s/tune/")

    assert response.context["groups"][0].title == "This session"
    assert "Tune this session" in titles(response)
    assert b"/p/p/sessions/s/fork/" in response.content


@pytest.mark.parametrize(
    "came_from", ["/p/p/sessions/", "/p/p/sessions/none/", "/p/other/sessions/s/", "//[", "x", "\0"]
)
def test_it_offers_nothing_of_a_session_where_none_of_the_project_is_open(client, project, came_from):
    make_session(make_project("other"))

    assert "Tune this session" not in titles(ask(client, came_from=came_from))


def test_a_swap_knows_the_page_by_itself_and_offers_what_needs_a_script(client, project):
    make_session(project)

    response = ask(client, **SWAP, **{"HX-Current-URL": "http://testserver/p/p/sessions/s/"})

    assert {"Tune this session", "Switch color theme"} <= set(titles(response))
    assert b'role="option"' in response.content
    assert b"<html" not in response.content
    assert "Switch color theme" not in titles(ask(client))


def test_it_finds_by_words_in_any_order_and_case(client, project):
    make_session(project, title="Lost bag")

    assert titles(ask(client, "SESSIONS go")) == ["Go to sessions", "Search all conversations for “SESSIONS go”"]
    assert titles(ask(client, "bag"))[0] == "Lost bag"


def test_it_leads_to_each_memory_setting_of_the_open_session(client, project):
    make_session(project)

    for setting in SETTINGS:
        response = ask(client, setting.name, "/p/p/sessions/s/")
        assert f'href="/p/p/sessions/s/tune/#f-{setting.name}"' in response.content.decode()


def test_it_leads_to_a_search_for_what_was_typed(client, project):
    assert b'href="/p/p/sessions/?q=50%25+%26+%22more%22"' in ask(client, '50% & "more"').content


def test_it_offers_a_viewer_only_what_viewers_may(client, project):
    Membership.objects.update(role="viewer")
    make_session(project, runs=1)

    found = titles(ask(client, came_from="/p/p/sessions/s/"))

    assert "Fork at the newest run" not in found
    assert "Tune this session" in found


def test_it_offers_only_the_projects_of_the_user(client, project):
    mine = make_project("mine", name="Mine")
    Membership.objects.create(project=mine, user=get_user_model().objects.get())
    make_project("theirs", name="Theirs")

    assert [title for title in titles(ask(client, "switch to")) if "project" in title] == ["Switch to project Mine"]


def test_it_asks_the_database_as_often_for_many_sessions_as_for_some(client, project):
    asked = []
    for number in range(50):
        make_session(project, f"s{number}", title="bag")
        if number in {9, 49}:
            with CaptureQueriesContext(connection) as queries:
                ask(client, "bag", "/p/p/sessions/s0/")
            asked.append(len(queries))

    assert asked[0] == asked[1] <= 10


def test_a_project_of_others_has_no_commands(client, project):
    make_project("other")

    assert client.get("/p/other/commands/").status_code == 404


def test_the_help_sheet_lists_the_keys_of_the_page_and_those_of_all(client, project):
    make_session(project)

    page = client.get(reverse("session", args=["p", "s"])).content.decode()

    for shortcut in SHORTCUTS:
        assert (f"<dt>{shortcut.does}</dt>" in page) == (not shortcut.pages or "session" in shortcut.pages)
