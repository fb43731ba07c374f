"""What is asked before settings are saved, and what is stored then."""

import re

import pytest
from django.contrib.auth import get_user_model

from sessions_app.models import Membership, Project
from tests.factories import make_project, make_session
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = pytest.mark.django_db

SUMMARIZED = "will be summarized"
NO_PROMPT = "No prompt of this session can be built with them"


@pytest.fixture
def project(client):
    user = get_user_model().objects.create_user("reader")
    project = make_project()
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return project


def asked(client, path, form):
    """Send a form and return what it is answered with, whitespace folded."""
    answer = client.post(f"/p/p/sessions/s/tune/{path}/", form, follow=True)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def settings_of(session):
    session.refresh_from_db()
    return session.settings


def test_settings_under_which_no_prompt_can_be_built_are_saved_only_by_those_who_are_sure(client, project):
    session = make_session(project, runs=9)
    form = {"autoprune": "false", "max_input_tokens": "40"}

    question = asked(client, "save", form)

    assert NO_PROMPT in question
    assert "With autoprune off" in question.split(NO_PROMPT)[1]
    assert settings_of(session) == {}
    assert "2 settings saved to this session." in asked(client, "save", form | {"sure": "1"})
    assert settings_of(session) == {"autoprune": False, "max_input_tokens": 40}


def test_a_default_under_which_this_session_has_no_prompt_says_so(client, project):
    make_session(project, runs=9)

    question = client.get("/p/p/sessions/s/tune/default/?autoprune=false&max_input_tokens=40").content.decode()

    assert NO_PROMPT in question


def test_a_default_that_this_session_does_not_take_is_not_told_of_it(client, project):
    make_session(project, runs=9, settings={"autoprune": True})

    question = client.get("/p/p/sessions/s/tune/default/?autoprune=false&max_input_tokens=400").content.decode()

    assert "as project default" in question
    assert NO_PROMPT not in question


def test_it_says_before_saving_which_runs_will_be_summarized(client, project):
    session = make_session(project, runs=10)

    question = asked(client, "save", {"summarize_at": "0", "offset": "2"})

    assert f"Runs 1–8 of this session {SUMMARIZED}" in question
    assert settings_of(session) == {}
    asked(client, "save", {"summarize_at": "0", "offset": "2", "sure": "1"})
    advance_all(session)
    assert session.summary.covers_through == 8


def test_it_says_so_before_saving_a_default_too(client, project):
    make_session(project, runs=10)

    question = client.get("/p/p/sessions/s/tune/default/?summarize_at=0&offset=2").content.decode()

    assert SUMMARIZED in question
    assert "other sessions" in question


def test_what_is_summarized_anyway_is_no_question(client, project):
    session = make_session(project, runs=10, settings=AT_ONCE)

    assert "1 setting saved to this session." in asked(client, "save", {"max_summary_tokens": "300"})
    assert settings_of(session) == AT_ONCE | {"max_summary_tokens": 300}


def test_the_built_in_value_takes_the_projects_own_away(client, project):
    project.settings = {"last_n": 10, "max_input_tokens": 4000}
    project.save()
    make_session(project, runs=1)

    question = client.get("/p/p/sessions/s/tune/default/?last_n=unlimited").content.decode()
    client.post("/p/p/sessions/s/tune/default/", {"last_n": "unlimited", "sure": "1"})

    assert "<ins>unlimited</ins> <small>built-in</small>" in question
    assert Project.objects.get().settings == {"max_input_tokens": 4000}


def test_a_model_that_is_the_built_in_one_is_no_default_of_its_own(client, project, settings):
    project.settings = {"model": "gpt-4"}
    project.save()
    make_session(project, runs=1)

    client.post("/p/p/sessions/s/tune/default/", {"model": settings.CONVOWEB_MODEL, "sure": "1"})

    assert Project.objects.get().settings == {}


def test_the_question_is_led_back_to_from_where_it_came(client, project):
    make_session(project, runs=10)
    answer = client.post("/p/p/sessions/s/tune/save/", {"summarize_at": "0", "offset": "2", "tab": "why"})
    assert answer["Location"] == "/p/p/sessions/s/tune/save/?offset=2&summarize_at=0.0&tab=why"

    form = {"summarize_at": "0", "offset": "2", "tab": "why", "sure": "1"}
    assert client.post("/p/p/sessions/s/tune/save/", form)["Location"] == "/p/p/sessions/s/tune/why/"


@pytest.mark.parametrize("path", ["", "why/", "save/?last_n=3", "default/?last_n=3"])
def test_going_back_behind_saving_asks_for_the_page_anew(client, project, path):
    make_session(project, runs=1)
    assert "no-store" in client.get(f"/p/p/sessions/s/tune/{path}")["Cache-Control"]


def test_what_the_project_says_can_be_led_back_to_the_built_in_value(client, project):
    project.settings = {"last_n": 10}
    project.save()
    make_session(project, runs=1, settings={"offset": 3})

    heads = client.get("/p/p/sessions/s/tune/?max_runs=9").content.decode().split('<div class="ctl-h" id="h-')
    resets = {head.split('"')[0]: re.findall(r'class="c-reset"[^>]* href="([^"]*)"', head) for head in heads[1:]}

    assert resets["last_n"] == ["?max_runs=9&amp;last_n=unlimited"]
    assert resets["offset"] == ["?max_runs=9&amp;offset=6"]
    assert resets["strategy"] == []
