"""What is asked before settings are saved, and what is stored then."""

import re
from datetime import timedelta

import pytest

from sessions_app.domain.memory_settings import SETTINGS
from sessions_app.models import Profile, Project
from sessions_app.services.sessions import update_session
from sessions_app.services.settings import save_project_settings
from sessions_app.services.snapshots import refresh_snapshot
from tests.factories import NOW, make_session
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = pytest.mark.django_db

SUMMARIZED = "will be summarized"
NO_PROMPT = "No prompt of this session can be built with them"


def asked(client, path, form):
    """Send a form and return what it is answered with, whitespace folded."""
    answer = client.post(f"/p/p/sessions/s/tune/{path}/", form, follow=True)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def undo_in(told):
    """Return the address to which the message sends who undoes what was saved."""
    (address,) = re.findall(r'action="([^"]*restore[^"]*)"', told)
    return address.replace("&amp;", "&")


def settings_of(session):
    session.refresh_from_db()
    return session.settings


def test_saving_asks_first_what_for_and_as_what(client, project):
    session = make_session(project, runs=1)

    question = asked(client, "save", {"last_n": "3", "tab": "why"})

    assert "Save 1 setting to this session" in question
    assert "Version 1 of this session." in question
    assert "<del>unlimited</del></td><td><ins>3</ins>" in question
    assert 'href="/p/p/sessions/s/tune/default/?last_n=3&amp;tab=why"' in question
    assert 'href="/p/p/sessions/s/tune/profile/?last_n=3&amp;tab=why"' in question
    assert settings_of(session) == {}


@pytest.mark.parametrize("tab", ["compare", "replay", "why"])
def test_the_view_stays_behind_the_question_and_is_led_back_to(client, project, tab):
    make_session(project, runs=3)
    question = asked(client, "save", {"last_n": "2", "tab": tab})
    assert f'id="tab-{tab}" href="/p/p/sessions/s/tune/{tab}/?last_n=2" aria-current="page"' in question
    assert f'href="/p/p/sessions/s/tune/{tab}/?last_n=2">Back</a>' in question


def test_taking_a_value_of_its_own_away_is_told_as_inheriting(client, project):
    project.settings = {"max_input_tokens": 4_000}
    project.save()
    make_session(project, runs=1, settings={"max_input_tokens": 1_100})
    question = asked(client, "save", {"max_input_tokens": "4000"})
    assert "<ins>4,000</ins> <small>inherited from the project</small>" in question
    assert "Will inherit 4,000 from the project (this session" in question
    assert "s 1,100 goes away)." in question
    assert "inherited from the project" not in asked(client, "save", {"max_input_tokens": "2000"})


def test_what_the_project_does_not_set_is_told_as_built_in(client, project):
    make_session(project, runs=1, settings={"offset": 2})
    assert 'title="The built-in 6 again"' in client.get("/p/p/sessions/s/tune/").content.decode()
    question = asked(client, "save", {"offset": "6"})
    assert "<ins>6</ins> <small>built-in</small>" in question
    assert "will be built-in" in question
    assert "Will be the built-in 6 (this session" in question
    assert "from the project" not in question


def test_behind_a_save_for_the_project_the_versions_are_those_of_the_project(client, project):
    make_session(project, runs=1)
    for path, versions in (("save", "/p/p/sessions/s/versions/"), ("default", "/p/p/settings/versions/?session=s")):
        told = asked(client, path, {"last_n": "3" if path == "save" else "4", "sure": "1"})
        assert f'id="open-versions" data-variant="ghost" href="{versions}" hx-get="{versions}"' in told


def test_what_is_saved_has_a_note_and_can_be_undone_at_once(client, project):
    session = make_session(project, runs=1)

    told = asked(client, "save", {"last_n": "3", "note": " Too much. ", "sure": "1"})

    assert "1 setting saved to this session." in told
    version = session.settings_versions.get()
    assert (version.note, version.actor, version.settings) == ("Too much.", "reader", {"last_n": 3})
    undo = undo_in(told)
    assert undo == "/p/p/sessions/s/versions/restore/?to=0&undoes=1"
    client.post(undo, {"next": "/p/p/sessions/s/tune/"})
    assert settings_of(session) == {}


def test_a_default_has_a_note_and_can_be_undone_at_once(client, project):
    make_session(project, runs=1)

    told = asked(client, "default", {"last_n": "3", "note": "Too much.", "sure": "1"})
    undo = undo_in(told)
    answer = client.post(undo, {"next": "/p/p/sessions/s/tune/"}, follow=True)

    assert answer.redirect_chain == [("/p/p/sessions/s/tune/", 302)]
    assert [row.note for row in project.settings_versions.order_by("number")] == ["Too much.", "Back to version 0."]
    assert Project.objects.get().settings == {}


def test_a_profile_is_a_copy_of_all_values_with_those_of_the_draft(client, project):
    session = make_session(project, runs=1, settings={"offset": 2})

    assert "Save as a profile" in asked(client, "profile", {"last_n": "3"})
    told = asked(client, "profile", {"last_n": "3", "profile": " careful  one ", "sure": "1"})

    profile = Profile.objects.get()
    assert "Profile careful one saved." in told
    assert (profile.name, profile.actor, settings_of(session)) == ("careful one", "reader", {"offset": 2})
    assert profile.settings | {"last_n": 3, "offset": 2, "strategy": "summary"} == profile.settings
    assert len(profile.settings) == len(SETTINGS)


def test_a_profile_needs_a_name_of_its_own(client, project):
    make_session(project, runs=1)
    asked(client, "profile", {"profile": "careful", "sure": "1"})

    again = asked(client, "profile", {"profile": "careful", "last_n": "3", "sure": "1"})
    nameless = asked(client, "profile", {"profile": " ", "last_n": "3", "sure": "1"})

    assert "There is a profile careful already" in again
    assert 'value="careful"' in again
    assert "A profile has a name of 1 to 100 characters." in nameless
    assert Profile.objects.count() == 1


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


def test_a_default_says_for_how_many_of_the_newest_sessions_it_newly_loses_runs(client, project):
    for name, runs in (("s", 9), ("t", 9), ("u", 1)):
        refresh_snapshot(session=make_session(project, name, runs=runs))

    question = client.get("/p/p/sessions/s/tune/default/?on_gap=warn&max_input_tokens=40").content.decode()
    assert "2 of them would lose runs that they do not lose now" in question
    assert "Tried on the 3 newest of these sessions" in question

    question = client.get("/p/p/sessions/s/tune/default/?max_runs=5").content.decode()
    assert "Tried on the 3 newest of these sessions: none would newly lose runs, or have no prompt." in question


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

    assert SUMMARIZED not in asked(client, "save", {"max_summary_tokens": "300"})
    assert "1 setting saved to this session." in asked(client, "save", {"max_summary_tokens": "300", "sure": "1"})
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


def test_the_version_of_a_default_keeps_how_many_sessions_it_changed(client, project):
    make_session(project, "s", runs=1)
    make_session(project, "own", settings={"last_n": 9})
    make_session(project, "other")
    told = asked(client, "default", {"last_n": "3", "sure": "1"})
    assert f"1 setting saved as the default of {project}; 2 sessions changed." in told
    assert project.settings_versions.get(session=None).sessions_changed == 2
    assert "changed 2 sessions" in client.get("/p/p/settings/versions/").content.decode()
    told = client.post(undo_in(told), {"next": "/p/p/settings/versions/"}, follow=True).content.decode()
    assert f"Back to before the first save of {project}; 2 sessions changed." in told


def test_behind_a_new_default_the_address_keeps_the_turn_and_only_what_the_session_has_for_itself(client, project):
    make_session(project, runs=5, settings={"offset": 2})
    draft = {"last_n": "3", "offset": "4", "at": "4", "tab": "why"}
    answer = client.post("/p/p/sessions/s/tune/default/", {**draft, "sure": "1"})
    assert answer.url == "/p/p/sessions/s/tune/why/?offset=4&at=4"
    answer = client.post("/p/p/sessions/s/tune/default/", {"last_n": "2", "sure": "1"})
    assert answer.url == "/p/p/sessions/s/tune/"


def test_the_question_says_which_version_set_the_old_value_who_did_and_why(client, project):
    session = make_session(project, runs=1)
    for note, settings in (("Long results.", {"last_n": 4}), ("Voice is short.", {"offset": 9})):
        save_project_settings(project=project, changes=settings, now=NOW, actor="eve", note=note)
    update_session(session=session, changes={"settings": {"max_runs": 7}}, now=NOW, actor="ada", note="")

    question = asked(client, "save", {"last_n": "3", "max_runs": "8", "autoprune": "false"})

    told = re.findall(r'<tr class="set-by">.*?</tr>', question)
    of_session, of_project = (re.sub(r"<[^>]*>", "", each) for each in told)
    assert re.match(r"7 since version 1 of this session, ada, .*: Saved without a note\.", of_session)
    assert re.match(r"4 since version 1 of the project, eve, .*: Long results\.", of_project)
    assert 'href="/p/p/settings/versions/?version=1&amp;back=%2Fp%2Fp%2Fsessions%2Fs%2Ftune%2F' in told[1]
    assert "#version-1" in told[1]
    default = asked(client, "default", {"last_n": "3"})
    assert "Long results." in default
    assert "Voice is short." not in default


def test_versions_open_at_what_was_saved_last_and_stay_there(client, project):
    session = make_session(project, runs=1)
    opener = 'id="open-versions" data-variant="ghost" href="/p/p/{}"'.format
    of_session, of_project = opener("sessions/s/versions/"), opener("settings/versions/?session=s")
    tune = "/p/p/sessions/s/tune/"

    assert of_session in client.get(tune).content.decode()
    save_project_settings(project=project, changes={"last_n": 4}, now=NOW, actor="eve", note="")
    assert of_project in client.get(tune).content.decode()
    assert of_project in client.get(f"{tune}why/").content.decode()
    later = NOW + timedelta(minutes=1)
    update_session(session=session, changes={"settings": {"max_runs": 7}}, now=later, actor="ada", note="")
    assert of_session in client.get(f"{tune}why/").content.decode()
