"""The pages of versions and profiles of settings."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Profile, Project, Session
from sessions_app.queries.settings_versions import ROWS_AT_ONCE
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.sessions import update_session
from sessions_app.services.settings import save_project_settings
from tests.factories import NOW, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db

SESSION, PROJECT, PROFILES = "/p/p/sessions/s/versions/", "/p/p/settings/versions/", "/p/p/settings/profiles/"


def save(session, note="", **settings):
    update_session(session=session, changes={"settings": settings}, now=NOW, actor="ada", note=note)


def save_default(project, note="", **settings):
    save_project_settings(project=project, changes=settings, now=NOW, actor="eve", note=note)


def page(client, path, **options):
    """Return a page's text, whitespace folded and tags left out."""
    answer = client.get(path, **options)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.content.decode()))


def test_a_session_lists_what_each_version_changed_newest_first(client, project):
    session = make_session(project)
    save(session, "Shorter.", last_n=4)
    save(session, last_n=5, autoprune=False)

    shown = page(client, SESSION)

    assert "2 Saved without a note. in force autoprune inherited → off, last_n 4 → 5 ada," in shown
    assert "1 Shorter. last_n inherited → 4 ada," in shown
    assert "0 Before the first save no settings of its own" in shown
    assert shown.index("Saved without a note") < shown.index("Shorter.") < shown.index("Before the first save")


def test_a_project_lists_them_against_the_built_in_values(client, project):
    save_default(project, "Longer.", offset=10, max_input_tokens=12000)

    assert "1 Longer. in force max_input_tokens unlimited → 12,000, offset 6 → 10 eve," in page(client, PROJECT)


def test_who_has_saved_nothing_is_told_so(client, project):
    make_session(project)

    assert "Nothing was saved to this session yet" in page(client, SESSION)
    assert "Nothing was saved for this project yet" in page(client, PROJECT)


def test_what_was_before_a_session_began_cannot_be_gone_back_to(client, project):
    make_session(project, settings={"last_n": 4})

    shown = page(client, SESSION)

    assert "The session was created with these. in force last_n inherited → 4" in shown
    assert "Before the first save" not in shown
    assert "restore" not in client.get(SESSION).content.decode()


def test_it_pages_and_costs_the_same_however_many_there_are(client, project):
    session = make_session(project)

    def cost(path):
        with CaptureQueriesContext(connection) as captured:
            client.get(path)
        return len(captured)

    save(session, last_n=1)
    save_default(project, last_n=1)
    few = cost(SESSION), cost(PROJECT)
    for number in range(2, 2 * ROWS_AT_ONCE + 2):
        save(session, last_n=number)
        save_default(project, last_n=number)

    assert (cost(SESSION), cost(PROJECT)) == few
    first, second, third = (
        client.get(f"{SESSION}{query}").content.decode() for query in ("", "?before=22", "?before=2")
    )
    numbers = [re.findall(r'id="version-(\d+)"', text) for text in (first, second, third)]
    assert [(each[0], each[-1]) for each in numbers] == [("41", "22"), ("21", "2"), ("1", "0")]
    assert "in force" in first
    assert "in force" not in second
    assert "last_n</code> 1 → 2" in second
    assert 'hx-get="/p/p/sessions/s/versions/?before=22"' in first


def test_swaps_get_the_list_in_a_dialog_or_more_of_it(client, project):
    session = make_session(project)
    save(session, last_n=4)

    drawer = client.get(SESSION, headers={"HX-Request": "true"}).content.decode()
    more = client.get(f"{SESSION}?before=2", headers={"HX-Request": "true"}).content.decode()

    assert drawer.strip().startswith('<dialog class="dialog save-d" id="versions-of-session"')
    assert more.strip().startswith('<li id="version-1">')
    of_project = client.get(f"{PROJECT}?session=s", headers={"HX-Request": "true"}).content.decode()
    assert f'hx-get="{SESSION}"' in of_project


def test_going_back_is_asked_first_and_makes_a_new_version(client, project):
    session = make_session(project)
    save(session, last_n=4)
    save(session, last_n=None, offset=9)

    question = page(client, f"{SESSION}?restore=1")
    told = client.post(f"{SESSION}restore/", {"to": "1", "note": "As before."}, follow=True)

    assert "Go back to version 1?" in question
    assert "last_n inherited 4" in question
    assert told.redirect_chain == [(SESSION, 302)]
    assert "Back to version 1 of this session." in told.content.decode()
    assert "restore/?to=2&amp;undoes=3" in told.content.decode()
    assert Session.objects.get().settings == {"last_n": 4}
    assert session.settings_versions.newest().note == "As before."
    assert session.settings_versions.newest().actor == "reader"


def test_going_back_with_a_default_says_whom_it_reaches(client, project):
    make_session(project)
    make_session(project, "own", settings={"last_n": 2})
    save_default(project, last_n=4)

    question = page(client, f"{PROJECT}?restore=0&undoes=1")
    client.post(f"{PROJECT}restore/", {"to": "0", "undoes": "1"})

    assert "Undo version 1?" in question
    assert "1 session inherits it and changes" in question
    assert "1 sets it itself and keeps that" in question
    assert Project.objects.get().settings == {}


def test_going_back_says_first_where_no_prompt_could_be_built_any_more(client, project):
    session = make_session(project, runs=2, instructions="Be brief.")
    save(session, max_input_tokens=5)
    save(session, max_input_tokens=500)

    shown = page(client, f"{SESSION}?restore=1")
    assert "No prompt of this session can be built with them" in shown
    assert "Go back all the same" in shown
    assert "No prompt of this session" not in page(client, f"{SESSION}?restore=0")


def test_going_back_says_first_which_runs_will_be_summarized(client, project):
    session = make_session(project, runs=9)
    save(session, strategy="summary", summarize_at=0, offset=2)
    save(session, strategy="buffer")

    assert "Runs 1–7 of this session will be summarized" in page(client, f"{SESSION}?restore=1&undoes=2")
    assert "will be summarized" not in page(client, f"{SESSION}?restore=0")


def test_what_others_have_saved_since_is_not_undone(client, project):
    session = make_session(project)
    save(session, last_n=4)
    save(session, last_n=5)

    told = client.post(f"{SESSION}restore/?to=0&undoes=1", {"next": "/p/p/sessions/"}, follow=True)

    assert told.redirect_chain == [("/p/p/sessions/", 302)]
    assert "Nothing was saved. Version 1 is not in force any more" in told.content.decode()
    assert Session.objects.get().settings == {"last_n": 5}


@pytest.mark.parametrize("elsewhere", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)"])
def test_it_leads_nowhere_else(client, project, elsewhere):
    session = make_session(project)
    save(session, last_n=4)

    assert client.post(f"{SESSION}restore/?to=0", {"next": elsewhere})["Location"] == SESSION


@pytest.mark.parametrize("to", ["", "-1", "x", "9", "9999999999"])
def test_what_is_no_version_changes_nothing(client, project, to):
    session = make_session(project)
    save(session, last_n=4)

    assert client.get(f"{SESSION}?restore={to}").status_code == 200
    assert client.post(f"{SESSION}restore/", {"to": to}).status_code == 302
    assert Session.objects.get().settings == {"last_n": 4}


def test_the_banner_of_a_past_turn_names_the_versions_it_is_built_with(client, project):
    Project.objects.update(created_at=NOW)
    session = make_session(project)
    save_default(project, last_n=1)
    save(session, offset=2)
    append_turns(session, 3)
    update_session(session=session, changes={"settings": {"last_n": 2}}, now=NOW + timedelta(hours=1))

    then = page(client, "/p/p/sessions/s/tune/?at=3&side=a")
    today = page(client, "/p/p/sessions/s/tune/?at=3")
    drafted = page(client, "/p/p/sessions/s/tune/?at=3&max_runs=9")

    assert "with the settings of then: version 1 of the project , version 1 of the session ." in then
    assert "A Then" in then
    assert "B Today" in then
    assert "with the settings of today." in today
    assert "with the settings of draft B." in drafted
    assert "question 2" in then
    assert "question 1" not in then
    assert "question 1" in today


def test_without_changes_since_a_past_turn_both_sides_are_the_one_of_then(client, project):
    Project.objects.update(created_at=NOW)
    make_session(project, runs=3)

    (told,) = re.findall(r"with the settings of then: [^.]*", page(client, "/p/p/sessions/s/tune/?at=3"))

    assert told.endswith("no defaults of its own for the project, none of its own for the session")


def test_profiles_are_listed_with_what_they_change_and_applied_to_the_draft(client, project):
    make_session(project, settings={"offset": 2})
    save_default(project, last_n=7)
    save_new_profile(project=project, name="careful", settings={"last_n": 3, "offset": 2}, actor="ada", now=NOW)

    beside_session = client.get(f"{PROFILES}?session=s").content.decode()
    (apply,) = re.findall(r'href="([^"]*)">Apply to draft', beside_session)

    assert apply == "/p/p/sessions/s/tune/?last_n=3"
    assert "careful last_n 7 → 3, offset 6 → 2 ada," in page(client, PROFILES)
    assert "Apply to draft" not in page(client, PROFILES)
    assert "was 7" in page(client, apply)


def test_a_profile_is_renamed_and_deleted(client, project):
    make_session(project)
    first, second = (
        save_new_profile(project=project, name=name, settings={"last_n": 3}, actor="", now=NOW) for name in "ab"
    )

    taken = client.post(f"{PROFILES}{first.pk}/rename/", {"name": "b", "session": "s"}, follow=True)
    client.post(f"{PROFILES}{first.pk}/rename/", {"name": "c"})
    deleted = client.post(f"{PROFILES}{second.pk}/delete/", follow=True)

    assert taken.redirect_chain == [(f"{PROFILES}?session=s", 302)]
    assert "There is a profile b already" in taken.content.decode()
    assert "Profile b deleted." in deleted.content.decode()
    assert [row.name for row in Profile.objects.all()] == ["c"]


def test_what_is_not_theirs_does_not_exist(client, project):
    other = make_project("q")
    theirs = make_session(other, "t")
    save(theirs, last_n=4)
    profile = save_new_profile(project=other, name="x", settings={"last_n": 3}, actor="", now=NOW)

    for path in (
        "/p/q/sessions/t/versions/",
        "/p/q/settings/versions/",
        "/p/q/settings/profiles/",
        f"{PROFILES}?session=t",
    ):
        assert client.get(path).status_code == 404
    for path in (
        "/p/q/sessions/t/versions/restore/",
        f"{PROFILES}{profile.pk}/delete/",
        f"{PROFILES}{profile.pk}/rename/",
    ):
        assert client.post(path, {"to": "0", "name": "y"}).status_code == 404
    assert Profile.objects.get().name == "x"
    assert theirs.settings_versions.count() == 1


def test_an_address_that_names_a_version_shows_it_however_old_and_marks_it(client, project):
    for number in range(1, ROWS_AT_ONCE + 11):
        save_default(project, last_n=number)

    old = client.get(f"{PROJECT}?version=3").content.decode()
    new = client.get(f"{PROJECT}?version=29").content.decode()

    assert re.findall(r'<li id="version-(\d+)"', old) == ["3", "2", "1", "0"]
    assert '<li id="version-3" aria-current="true">' in old
    assert f'<a href="{PROJECT}">Newer versions</a>' in old
    assert "in force" not in old
    assert re.findall(r'<li id="version-(\d+)"', new)[0] == "30"
    assert '<li id="version-29" aria-current="true">' in new
    assert "Newer versions" not in new


def test_who_comes_from_the_workbench_is_led_back_there_even_behind_an_undo(client, project):
    make_session(project)
    save_default(project, last_n=4)
    back = "%2Fp%2Fp%2Fsessions%2Fs%2Ftune%2Fwhy%2F%3Fat%3D3"
    shown_link = '<a class="btn" data-variant="outline" href="/p/p/sessions/s/tune/why/?at=3">'

    opener = {"HX-Request": "true", "HX-Current-URL": "http://testserver/p/p/sessions/s/tune/why/?at=3"}
    drawer = client.get(f"{PROJECT}?session=s", headers=opener).content.decode()
    question = client.get(f"{PROJECT}?restore=0&undoes=1&back={back}").content.decode()
    undone = {"to": "0", "undoes": "1", "back": "/p/p/sessions/s/tune/why/?at=3"}
    told = client.post(f"{PROJECT}restore/", undone, follow=True)

    assert f'href="{PROJECT}?restore=0&amp;undoes=1&amp;back={back}"' in drawer
    assert '<input type="hidden" name="back" value="/p/p/sessions/s/tune/why/?at=3">' in question
    assert told.redirect_chain == [(f"{PROJECT}?back={back}", 302)]
    assert shown_link in told.content.decode()
    assert 'href="/p/p/sessions/s/tune/"' in client.get(f"{PROJECT}?session=s").content.decode()


@pytest.mark.parametrize(
    "back", ["https://else.where/p/p/sessions/s/tune/", "//else.where/", "/p/q/sessions/s/tune/", "/p/p/settings/"]
)
def test_only_the_workbench_of_the_project_is_led_back_to(client, project, back):
    shown = client.get(PROJECT, {"back": back}).content.decode()
    assert "Back to Tune" not in shown


def test_a_default_that_no_session_inherited_does_not_say_that_it_changed_none(client, project):
    save_default(project, last_n=4)
    shown = page(client, PROJECT)
    assert "no session inherited it then" in shown
    assert "changed 0" not in shown
