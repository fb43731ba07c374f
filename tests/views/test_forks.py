"""Forking on the pages."""

import re

import pytest

from sessions_app.models import Session
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, append_turns, make_open_run, make_session
from tests.views.reading import told

pytestmark = pytest.mark.django_db


def test_it_asks_before_it_forks_and_proposes_a_title_of_its_own(client, project):
    session = make_session(project, runs=3, title="Lost bag")

    asked = client.get("/p/p/sessions/s/fork/?at=2").content.decode()

    assert "Fork behind run 2" in asked
    assert "shares runs 1–2 with this one" in asked
    assert 'value="Lost bag, from run 2"' in asked
    assert not Session.objects.filter(parent=session).exists()


@pytest.mark.parametrize(
    ("given", "title"),
    [({}, "Lost bag, from run 2"), ({"title": " What if "}, "What if"), ({"title": ""}, "")],
)
def test_it_forks_behind_a_run_opens_the_fork_and_says_so(client, project, given, title):
    session = make_session(project, runs=3, title="Lost bag")

    response = client.post("/p/p/sessions/s/fork/", {"at": 2} | given, follow=True)

    fork = Session.objects.get(parent=session)
    assert (fork.forked_at, fork.title) == (2, title)
    assert response.redirect_chain == [(f"/p/p/sessions/{fork.public_id}/", 302)]
    assert "This is the fork: it starts behind run 2 of Lost bag." in response.content.decode()


def test_a_question_that_is_answered_twice_makes_one_fork(client, project):
    session = make_session(project, runs=3)
    page = client.get("/p/p/sessions/s/fork/?at=2").content.decode()
    (number,) = re.findall(r'name="form_number" value="([^"]+)"', page)
    given = {"at": 2, "title": "What if", "form_number": number}

    first, second = (client.post("/p/p/sessions/s/fork/", given)["Location"] for _ in range(2))

    assert first == second == f"/p/p/sessions/{Session.objects.get(parent=session).public_id}/"
    other = client.post("/p/p/sessions/s/fork/", given | {"title": "What else"})["Location"]
    assert other != first


def test_a_long_title_still_makes_a_fork(client, project):
    session = make_session(project, runs=1, title="t" * 500)

    client.post("/p/p/sessions/s/fork/", {"at": 1})

    assert Session.objects.get(parent=session).title == "t" * 500


def test_it_does_not_fork_behind_the_open_run(client, project):
    session = make_session(project, runs=1)
    make_open_run(session)
    response = client.post("/p/p/sessions/s/fork/", {"at": 2}, follow=True)
    assert "A fork starts at a finished run" in response.content.decode()
    assert not Session.objects.filter(parent=session).exists()


NO_RUN = [{}, {"at": ""}, {"at": "abc"}, {"at": "-1"}, {"at": "1.5"}, {"at": "9" * 30}]


@pytest.mark.parametrize(
    ("method", "given"),
    [("post", {"at": "4"}), *(("post", each) for each in NO_RUN), *(("get", each) for each in NO_RUN)],
)
def test_it_forks_nowhere_but_behind_the_run_that_was_named(client, project, method, given):
    session = make_session(project, runs=3)
    response = getattr(client, method)("/p/p/sessions/s/fork/", given, follow=True)
    assert response.redirect_chain == [("/p/p/sessions/s/", 302)]
    assert "from 0 to 3" in response.content.decode()
    assert not Session.objects.filter(parent=session).exists()


def test_the_page_of_a_fork_says_with_which_runs_its_parent_went_on(client, project):
    parent = make_session(project, "parent", runs=3, title="Boards")
    fork_session(session=parent, at=2, now=NOW, public_id="s")

    assert (
        'href="/p/p/sessions/parent/?run=3&amp;from=3&amp;to=3#run-3">run 3</a>'
        in client.get("/p/p/sessions/s/").content.decode()
    )
    append_turns(parent, 2)
    assert (
        'href="/p/p/sessions/parent/?run=3&amp;from=3&amp;to=5#run-3">runs 3–5</a>'
        in client.get("/p/p/sessions/s/").content.decode()
    )
    assert "went on with" not in client.get("/p/p/sessions/parent/").content.decode()
    marked = client.get("/p/p/sessions/parent/?run=3&from=3&to=5").content.decode()
    assert re.findall(r'<article class="run[^"]* here" id="run-(\d)"', marked) == ["3", "4", "5"]


def test_a_link_to_more_runs_than_are_shown_lands_on_the_first_of_them(client, project):
    make_session(project, runs=60, settings={"strategy": "buffer"})
    shown = client.get("/p/p/sessions/s/?run=5&from=5&to=58").content.decode()
    # The window holds 40 runs: 5 to 44.
    marked = re.findall(r'<article class="run[^"]* here" id="run-(\d+)"', shown)
    assert (marked[0], marked[-1], len(marked)) == ("5", "44", 40)


@pytest.mark.parametrize("tab", ["tune", "tune/why", "tune/compare"])
def test_the_workbench_of_a_fork_says_with_which_runs_its_parent_went_on(client, project, tab):
    parent = make_session(project, "parent", runs=5, title="Boards")
    fork_session(session=parent, at=2, now=NOW, public_id="s")
    words = "Boards went on with runs 3–5 that this conversation does not see"
    assert words in told(client.get(f"/p/p/sessions/s/{tab}/").content.decode())
    assert "went on with" not in client.get(f"/p/p/sessions/parent/{tab}/").content.decode()
