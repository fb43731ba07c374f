"""The form of a project's default settings."""

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.memory_settings import SETTINGS
from sessions_app.models import Project, Session, SettingsVersion
from sessions_app.services.settings import save_project_settings
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

PAGE = "/p/p/settings/"
DEFAULTS = f"{PAGE}defaults/"
SAVE = f"{DEFAULTS}save/"
SWAP = {"HX-Request": "true"}


def shown(page):
    return re.sub(r"\s+", " ", html.unescape(page.content.decode()))


def text_of(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.content.decode())))


def control(page, name):
    """Return the words of one setting: its layer, the way back, and what stands under its field."""
    (found,) = re.findall(rf'<div class="ctl-h" id="h-{name}".*?<p id="w-{name}".*?</p>', shown(page))
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found))


def save(client, **values):
    return client.post(SAVE, {**values, "sure": "1"}, follow=True)


def test_every_setting_stands_in_its_group_with_its_layer_and_help(client, project):
    save_project_settings(project=project, changes={"offset": 10}, now=NOW)
    page = client.get(PAGE)

    words = shown(page)
    groups = re.findall(r"<fieldset><legend>(.*?)</legend>(.*?)</fieldset>", words)
    assert [name for name, _ in groups] == [
        "Strategy & model",
        "Budget",
        "History",
        "Tool results",
        "Summary",
        "Parent",
    ]
    found = [name for _, fields in groups for name in re.findall(r'<label for="f-(\w+)"', fields)]
    assert found == [setting.name for setting in SETTINGS]
    for setting in SETTINGS:
        layer = "project" if setting.name == "offset" else "built-in"
        assert control(page, setting.name).split()[:2] == [setting.name, layer]
        assert setting.help in control(page, setting.name)
    assert 'title="The built-in 6 again"' in words
    assert 'href="?offset=6"' in words


def test_bounds_and_settings_without_effect_are_told(client, project):
    page = client.get(PAGE)

    assert "0 or more." in control(page, "offset")
    assert "1 or more, or unlimited." in control(page, "max_runs")
    assert "0 to 1." in control(page, "summarize_at")
    assert "no effect: only conversation uses it" in control(page, "max_history")
    drafted = client.get(f"{PAGE}?strategy=buffer")
    assert "no effect: only summary uses it" in control(drafted, "offset")


def test_it_says_who_inherits_and_which_version_it_is(client, project):
    assert "Sessions inherit these. The built-in values hold" in text_of(client.get(PAGE))
    make_session(project, "a")
    assert "Its 1 session inherits all of these." in text_of(client.get(PAGE))
    make_session(project, "b", settings={"offset": 2})
    save(client, last_n="3")
    page = text_of(client.get(PAGE))
    assert "1 of 2 sessions sets at least one of these itself; the others inherit all. Version 1, by reader," in page


def test_what_is_changed_is_a_draft_in_the_address(client, project):
    answer = client.post(DEFAULTS, {"offset": "9", "last_n": "unlimited", "autoprune": ["false", "true"]})
    assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}?offset=9#defaults")

    page = client.get(f"{PAGE}?offset=9")
    assert "was 6" in control(page, "offset")
    assert "1 change, in the address until you save" in text_of(page)
    assert project_settings() == {}


def test_a_swap_gets_what_belongs_to_the_fields_and_keeps_the_draft_in_the_address(client, project):
    answer = client.post(DEFAULTS, {"strategy": "buffer"}, headers=SWAP)

    assert answer["HX-Replace-Url"] == f"{PAGE}?strategy=buffer"
    words = shown(answer).strip()
    assert words.startswith('<div class="form-a dflt-a" id="defaults-draft">')
    assert '<p id="w-offset" hx-swap-oob="true"' in words
    assert "<fieldset" not in words
    assert "no effect: only summary uses it" in control(answer, "offset")
    back = client.get(f"{PAGE}?max_runs=4", headers=SWAP)
    assert shown(back).strip().startswith('<section id="defaults"')
    assert back["HX-Replace-Url"] == f"{PAGE}?max_runs=4"


def test_saving_asks_first_and_says_how_many_sessions_change(client, project):
    make_session(project, "a")
    make_session(project, "b")
    make_session(project, "c", settings={"offset": 2})
    Session.objects.update(prompt_snapshot={"unseen": 0, "lost": 0})

    answer = client.post(SAVE, {"offset": "9", "autoprune": "true"})
    assert answer["Location"] == f"{SAVE}?offset=9"
    question = text_of(client.get(answer["Location"]))

    assert "Save 1 setting as project default" in question
    assert "Version 1 of P" in question
    assert "2 sessions inherit it and change with their next prompt" in question
    assert "1 sets it itself and keeps that" in question
    assert "Tried on the 2 newest of these sessions" in question
    assert project_settings() == {}


def test_what_is_saved_is_a_version_and_can_be_undone(client, project):
    make_session(project, "a")
    page = save(client, offset="9", last_n="3", note="Too short.")

    assert page.redirect_chain == [(f"{PAGE}#defaults", 302)]
    assert "2 settings saved as the default of P; 1 session changed." in text_of(page)
    version = SettingsVersion.objects.get()
    assert (version.actor, version.note, version.sessions_changed) == ("reader", "Too short.", 1)
    assert project_settings() == {"offset": 9, "last_n": 3}
    (undo,) = re.findall(r'<form method="post" action="([^"]*restore[^"]*)"', shown(page))
    client.post(undo, {"next": PAGE})
    assert project_settings() == {}


def test_the_built_in_value_takes_the_projects_own_away(client, project):
    save_project_settings(project=project, changes={"offset": 9, "last_n": 3}, now=NOW)

    question = shown(client.get(f"{SAVE}?offset=6"))
    assert "<ins>6</ins> <small>built-in</small>" in question
    assert "Will be the built-in 6 (the project\N{RIGHT SINGLE QUOTATION MARK}s 9 goes away)." in question
    save(client, offset="6")
    assert project_settings() == {"last_n": 3}


def test_a_value_that_others_saved_meanwhile_is_not_taken_back(client, project):
    save_project_settings(project=project, changes={"offset": 9}, now=NOW)

    client.post(SAVE, {"offset": "6", "last_n": "3", "seen": '{"offset": 6, "last_n": "unlimited"}', "sure": "1"})
    assert project_settings() == {"offset": 9, "last_n": 3}


def test_what_is_no_value_is_told_at_its_field_and_not_saved(client, project):
    page = save(client, max_runs="0", offset="9")

    assert "Nothing was saved. max_runs must be a whole number from 1" in text_of(page)
    assert "max_runs must be a whole number from 1" in control(page, "max_runs")
    assert project_settings() == {}
    assert "There is nothing to save" in text_of(save(client, offset="6"))


def test_values_that_contradict_each_other_are_told_at_their_field(client, project):
    assert "last_n 2 is below offset 6" in control(client.get(f"{PAGE}?last_n=2"), "last_n")
    unknown = client.get(f"{PAGE}?model=nobody-knows-it")
    assert "The context window of nobody-knows-it is not known" in control(unknown, "max_input_tokens")
    limited = client.get(f"{PAGE}?model=nobody-knows-it&max_input_tokens=900")
    assert "is not known; set" not in control(limited, "max_input_tokens")


def test_a_viewer_reads_them_and_changes_nothing(client, project):
    save_project_settings(project=project, changes={"offset": 9}, now=NOW)
    project.memberships.update(role="viewer")

    page = client.get(f"{PAGE}?offset=2")
    assert '<output class="ctl-v num" id="f-offset">9</output>' in shown(page)
    assert "offset project" in control(page, "offset")
    assert 'id="f-strategy" name' not in shown(page)
    assert "Editors and owners save these." in text_of(page)
    assert client.get(SAVE).status_code == 403
    assert (client.post(DEFAULTS, {"offset": "2"}).status_code, save(client, offset="2").status_code) == (403, 403)
    assert project_settings() == {"offset": 9}


def test_an_editor_saves_them(client, project):
    project.memberships.update(role="editor")
    save(client, offset="2")
    assert project_settings() == {"offset": 2}


def test_those_of_another_project_do_not_exist(client, project):
    make_project("q")
    for path in ("", "defaults/", "defaults/save/"):
        assert client.get(f"/p/q/settings/{path}").status_code == 404
        assert client.post(f"/p/q/settings/{path}", {"offset": "2", "sure": "1"}).status_code == 404


def test_a_draft_is_led_through_signing_in(project):
    answer = Client().post(SAVE, {"offset": "9", "last_n": "unlimited"})
    assert answer["Location"].startswith("/login/?next=%2Fp%2Fp%2Fsettings%2Fdefaults%2Fsave%2F%3Foffset%3D9")


def test_hostile_values_are_texts(client, project):
    save(client, model="<script>alert(1)</script>")
    page = client.get(PAGE).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_it_asks_the_database_the_same_however_many_sessions_there_are(client, project):
    save(client, offset="9")
    asked_before = questions(client)
    for number in range(12):
        make_session(project, f"more-{number}", settings={"last_n": number})
        save_project_settings(project=project, changes={"offset": number}, now=NOW)
    assert questions(client) == asked_before


def questions(client):
    client.get(PAGE)
    with CaptureQueriesContext(connection) as asked:
        client.get(PAGE)
    return len(asked)


def project_settings():
    return Project.objects.get(slug="p").settings
