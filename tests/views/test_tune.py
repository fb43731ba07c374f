import json
import re

import pytest
from django.contrib.auth import get_user_model

from sessions_app.domain.memory_settings import SETTINGS
from sessions_app.models import Membership, Project, Session
from sessions_app.services.prompts import session_prompt
from tests.factories import make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db

RESULT = {"HX-Request": "true", "HX-Target": "result"}


@pytest.fixture
def project(client):
    user = get_user_model().objects.create_user("reader")
    project = make_project()
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return project


@pytest.fixture(autouse=True)
def pokes(monkeypatch):
    """Record which work would be hurried."""
    hurried = []
    monkeypatch.setattr("sessions_app.tasks.poke", lambda pk: hurried.append(("session", pk)))
    monkeypatch.setattr("sessions_app.tasks.poke_project", lambda pk: hurried.append(("project", pk)))
    return hurried


def page(client, path, **headers):
    response = client.get(path, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize(
    ("query", "overrides", "asked"),
    [
        ("", {}, None),
        ("strategy=buffer", {"strategy": "buffer"}, None),
        ("strategy=buffer&max_input_tokens=120", {"strategy": "buffer", "max_input_tokens": 120}, None),
        ("last_n=2&query=And+now%3F", {"last_n": 2}, "And now?"),
        ("format=text&max_runs=3", {"format": "text", "max_runs": 3}, None),
        ("format=responses&query=And+now%3F", {"format": "responses"}, "And now?"),
        ("format=anthropic", {"format": "anthropic"}, None),
        ("format=gemini", {"format": "gemini"}, None),
        ("format=seed", {"format": "seed"}, None),
        ("format=seed&strategy=task&query=And+now%3F", {"format": "seed", "strategy": "task"}, "And now?"),
    ],
)
def test_it_shows_the_prompt_that_the_service_builds(client, project, query, overrides, asked):
    session = make_session(project, runs=12, instructions="Be brief.")
    prompt = session_prompt(session=session, overrides=overrides, query=asked)
    shown = page(client, f"/p/p/sessions/s/tune/?{query}")
    assert f'title="{prompt.fingerprint}"' in shown
    assert f'<span class="num duel-n">{prompt.tokens.total}</span>' in shown


def test_every_setting_has_a_control_of_its_kind(client, project):
    make_session(project, runs=1)
    shown = page(client, "/p/p/sessions/s/tune/")
    for setting in SETTINGS:
        assert re.search(rf'<(input|select)[^>]* id="f-{setting.name}" name="{setting.name}"', shown), setting.name


def test_a_change_says_what_it_was_and_where_unchanged_values_come_from(client, project):
    project.settings = {"offset": 4}
    project.save()
    make_session(project, runs=1, settings={"max_runs": 9})
    shown = page(client, "/p/p/sessions/s/tune/?last_n=3")
    assert "1 change" in shown
    assert "was unlimited" in shown
    for name, layer in (("offset", "project"), ("max_runs", "session"), ("summarize_at", "built-in")):
        head = shown.split(f'id="h-{name}"')[1].split("</div>")[0]
        assert layer in head


def test_settings_without_effect_say_why(client, project):
    make_session(project, runs=1, settings={"strategy": "buffer", "max_input_tokens": 500})
    shown = page(client, "/p/p/sessions/s/tune/")
    reasons = {name: shown.split(f'id="w-{name}"')[1].split("</p>")[0] for name in ("offset", "reserve_output_tokens")}
    assert "no effect: only summary uses it" in reasons["offset"]
    assert "does not bind" in reasons["reserve_output_tokens"]
    assert "no effect: this conversation has no parent" in shown


def test_a_plain_form_is_led_to_an_address_with_the_changes_alone(client, project):
    make_session(project, runs=1)
    saved = page(client, "/p/p/sessions/s/tune/").split('name="seen" value="')[1].split('"')[0].replace("&quot;", '"')
    form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in json.loads(saved).items()}
    response = client.get("/p/p/sessions/s/tune/", {**form, "max_runs": "7", "query": "hm", "seen": saved, "side": "a"})
    assert response["Location"] == "/p/p/sessions/s/tune/?max_runs=7&query=hm&side=a"


def test_a_swap_gets_the_result_and_puts_the_short_address_into_the_browser(client, project):
    make_session(project, runs=3)
    response = client.get("/p/p/sessions/s/tune/", {"max_runs": "2", "offset": "6"}, headers=RESULT)
    swapped = response.content.decode()
    assert response["HX-Replace-Url"] == "/p/p/sessions/s/tune/?max_runs=2"
    assert swapped.lstrip().startswith('<section class="bench-main" id="result"')
    assert 'id="h-max_runs" hx-swap-oob="true"' in swapped
    assert 'id="f-max_runs"' not in swapped


@pytest.mark.parametrize("path", ["tune/", "tune/why/"])
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("max_runs=abc", "max_runs must be a whole number from 1"),
        ("strategy=newest", "strategy must be one of buffer, summary"),
        ("max_input_tokens=5", "the budget is 5"),
        ("model=nobody-knows-it", "The context window of nobody-knows-it is not known"),
        ("autoprune=false&max_input_tokens=40", "With autoprune off"),
    ],
)
def test_what_cannot_be_built_is_a_state_of_the_page(client, project, path, query, said):
    make_session(project, runs=9, instructions="Be brief.")
    shown = page(client, f"/p/p/sessions/s/{path}?{query}")
    assert said in shown
    assert "Draft: no prompt" in shown


def test_the_saved_side_can_be_looked_at_beside_a_draft(client, project):
    session = make_session(project, runs=3)
    shown = page(client, "/p/p/sessions/s/tune/?max_runs=1&side=a")
    assert f'title="{session_prompt(session=session).fingerprint}"' in shown


def test_runs_that_are_not_sent_are_named_in_the_prompt(client, project):
    make_session(project, runs=10)
    shown = page(client, "/p/p/sessions/s/tune/?max_runs=7&last_n=4")
    assert "6 runs the model cannot see" in shown
    assert "3 capped" in shown
    assert "3 skipped" in shown


def test_older_runs_of_a_prompt_come_by_a_swap(client, project):
    make_session(project, runs=100, settings={"strategy": "buffer"})
    assert "Runs 1–60 stand here in the same way" in page(client, "/p/p/sessions/s/tune/")
    more = page(client, "/p/p/sessions/s/tune/?from=1&to=60", **{"HX-Request": "true"})
    assert "question 60" in more
    assert "Runs 1–20 stand here" in more
    assert "question 61" not in more


def test_why_says_the_reason_and_what_differs(client, project):
    session = make_session(project, runs=5, settings={"strategy": "buffer"})
    make_open_run(session)
    shown = page(client, "/p/p/sessions/s/tune/why/?last_n=2")
    assert "last_n 2: only the newest 2 runs" in shown
    assert shown.count(", differs from A") == 3
    assert "the open run is always the tail" in shown
    only = page(client, "/p/p/sessions/s/tune/why/?last_n=2&only=changed")
    assert only.count(", differs from A") == 3
    assert "the open run is always the tail" not in only


def test_groups_of_why_open_by_a_swap(client, project):
    make_session(project, runs=100, settings={"strategy": "buffer"})
    rows = page(client, "/p/p/sessions/s/tune/why/?from=1&to=60", **{"HX-Request": "true"})
    assert rows.count("<tr") == 41
    assert "<table" not in rows


def test_saving_to_the_session_stores_only_what_the_draft_changes(
    client, project, pokes, django_capture_on_commit_callbacks
):
    session = make_session(project, runs=1, settings={"offset": 3})
    seen = json.dumps({"max_runs": "unlimited", "last_n": "unlimited"})
    form = {"max_runs": "7", "last_n": "unlimited", "seen": seen}
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post("/p/p/sessions/s/tune/save/", form)
    assert response["Location"] == "/p/p/sessions/s/tune/"
    session.refresh_from_db()
    assert session.settings == {"offset": 3, "max_runs": 7}
    assert pokes == [("session", session.pk)]
    assert "1 setting saved to this session." in page(client, "/p/p/sessions/s/tune/")


def test_saving_the_inherited_value_takes_the_sessions_own_away(client, project):
    session = make_session(project, runs=1, settings={"offset": 3, "max_runs": 4})
    client.post("/p/p/sessions/s/tune/save/", {"offset": "6"})
    session.refresh_from_db()
    assert session.settings == {"max_runs": 4}


@pytest.mark.parametrize("path", ["save/", "default/"])
@pytest.mark.parametrize(
    ("form", "said"), [({"max_runs": "0"}, "Nothing was saved."), ({}, "There is nothing to save")]
)
def test_bad_values_and_empty_drafts_save_nothing(client, project, pokes, path, form, said):
    session = make_session(project, runs=1)
    shown = client.post(f"/p/p/sessions/s/tune/{path}", form, follow=True).content.decode()
    session.refresh_from_db()
    assert said in shown
    assert (session.settings, Project.objects.get().settings, pokes) == ({}, {}, [])


def test_saving_as_default_asks_first_and_says_whom_it_reaches(
    client, project, pokes, django_capture_on_commit_callbacks
):
    make_session(project, "s", runs=1, settings={"max_runs": 4})
    make_session(project, "t", runs=1)
    make_session(make_project("strangers"), "theirs")
    asking = page(client, "/p/p/sessions/s/tune/default/?max_runs=7&last_n=3")
    assert "Save 2 settings as project default" in asking
    assert re.search(r"<b class=\"num\">2</b><span>sessions change", asking)
    assert re.search(r"<b class=\"num\">1</b><span>sets at least one of these itself and keeps it", asking)
    assert "This session sets max_runs itself" in asking
    assert Project.objects.get(slug="p").settings == {}
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/p/p/sessions/s/tune/default/", {"max_runs": "7", "last_n": "3"})
    assert Project.objects.get(slug="p").settings == {"max_runs": 7, "last_n": 3}
    assert Session.objects.get(public_id="s").settings == {"max_runs": 4}
    assert pokes == [("project", project.pk)]


@pytest.mark.parametrize("seen", ["", "no json", "[1]", "null", "{}"])
def test_a_broken_note_of_what_was_seen_does_no_harm(client, project, seen):
    make_session(project, runs=1)
    response = client.post("/p/p/sessions/s/tune/save/", {"max_runs": "7", "seen": seen})
    assert response.status_code == 302
    assert Session.objects.get().settings == {"max_runs": 7}


def test_illegal_characters_in_the_query_are_replaced(client, project):
    make_session(project, runs=1)
    assert "a\ufffdb" in page(client, "/p/p/sessions/s/tune/?query=a%00b")
