"""Every save of memory settings is a version, and one can go back to each."""

from datetime import timedelta

import pytest

from sessions_app.domain.errors import Conflict, InvalidInput, InvalidSettings
from sessions_app.models import Project, Session, SettingsVersion
from sessions_app.services.prompts import session_prompt, settings_of_turn
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import fork_session, update_session
from sessions_app.services.settings import save_project_settings
from sessions_app.services.settings_restoring import restore_project_settings, restore_session_settings
from tests.factories import NOW, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(hours=1)


def save(session, *, now=NOW, **settings):
    update_session(session=session, changes={"settings": settings}, now=now, actor="ada", note=" Why. ")


def versions(project, session=None):
    rows = SettingsVersion.objects.of(project, session).order_by("number")
    return [(row.number, row.settings, row.origin) for row in rows]


@pytest.fixture
def project():
    """Return a project that is there since NOW."""
    project = make_project()
    Project.objects.update(created_at=NOW)
    project.refresh_from_db()
    return project


def test_each_save_to_a_session_is_a_version_with_who_when_and_why(project):
    session = make_session(project)

    save(session, offset=2)
    save(session, now=LATER, last_n=4)

    assert versions(project, session) == [(1, {"offset": 2}, "saved"), (2, {"offset": 2, "last_n": 4}, "saved")]
    newest = session.settings_versions.newest()
    assert (newest.actor, newest.note, newest.saved_at) == ("ada", "Why.", LATER)


def test_each_save_of_a_projects_defaults_is_one_too(project):
    save_project_settings(project=project, changes={"offset": 2}, now=NOW, actor="bot", note="Why.")
    save_project_settings(project=project, changes={"offset": None}, now=LATER)

    assert versions(project) == [(1, {"offset": 2}, "saved"), (2, {}, "saved")]
    oldest = project.settings_versions.get(number=1)
    assert (oldest.actor, oldest.note, oldest.session) == ("bot", "Why.", None)


def test_what_changes_nothing_is_no_version(project):
    session = make_session(project, settings={"offset": 2})

    save(session, offset=2, last_n=None)
    update_session(session=session, changes={"title": "New"}, now=NOW)
    save_project_settings(project=project, changes={"offset": None, "last_n": "unlimited"}, now=NOW)

    assert versions(project, session) == [(1, {"offset": 2}, "created")]
    assert versions(project) == []


def test_a_refused_save_is_no_version(project):
    session = make_session(project)

    with pytest.raises(InvalidSettings):
        save(session, offset=-1)
    with pytest.raises(InvalidInput, match="at most 500 characters"):
        update_session(session=session, changes={"settings": {"offset": 2}}, now=NOW, note="w" * 501)

    assert versions(project, session) == []
    assert Session.objects.get().settings == {}


def test_a_session_that_is_created_with_settings_begins_with_a_version(project):
    parent = make_session(project, "parent", runs=2, settings={"offset": 2})
    fork = fork_session(session=parent, at=1, now=LATER, actor="ada")
    bare = make_session(project, "bare")

    assert versions(project, fork) == versions(project, parent) == [(1, {"offset": 2}, "created")]
    assert (fork.settings_versions.get().actor, fork.settings_versions.get().saved_at) == ("ada", LATER)
    assert versions(project, bare) == []


def test_what_nobody_kept_a_version_of_becomes_the_first_one():
    project = make_project(settings={"offset": 2})

    save_project_settings(project=project, changes={"offset": 3}, now=NOW)

    assert versions(project) == [(1, {"offset": 2}, "found"), (2, {"offset": 3}, "saved")]


def test_versions_go_with_their_session(project):
    parent = make_session(project, "parent", runs=1, settings={"offset": 2})
    fork_session(session=parent, at=1, now=NOW, public_id="fork")
    other = make_session(project, "other", settings={"offset": 2})

    delete_session(session=parent, now=NOW, children=Children.DELETE)

    assert [row.session for row in SettingsVersion.objects.all()] == [other]


def test_going_back_is_a_new_version(project):
    session = make_session(project, settings={"offset": 2, "last_n": 4})
    save(session, offset=None, max_runs=9)

    restored = restore_session_settings(session=session, to=1, now=LATER, actor="eve")

    assert restored.settings == Session.objects.get().settings == {"offset": 2, "last_n": 4}
    assert [number for number, *_ in versions(project, session)] == [1, 2, 3]
    newest = session.settings_versions.newest()
    assert (newest.settings, newest.actor, newest.note) == ({"offset": 2, "last_n": 4}, "eve", "Back to version 1.")


def test_one_can_go_back_to_before_the_first_save(project):
    session = make_session(project)
    save(session, offset=2)
    save_project_settings(project=project, changes={"offset": 2}, now=NOW)

    restore_session_settings(session=session, to=0, now=LATER)
    restore_project_settings(project=project, to=0, now=LATER, note="It was too much.")

    assert (Session.objects.get().settings, Project.objects.get().settings) == ({}, {})
    assert project.settings_versions.of(project, None).newest().note == "It was too much."


@pytest.mark.parametrize("to", [0, 2])
def test_one_cannot_go_back_to_what_never_was(project, to):
    session = make_session(project, settings={"offset": 2})
    make_session(project, "other", settings={"offset": 2})

    with pytest.raises(InvalidInput, match=f"no version {to}"):
        restore_session_settings(session=session, to=to, now=NOW)
    with pytest.raises(InvalidInput, match=f"no version {to}"):
        restore_project_settings(project=project, to=to, now=NOW)


def test_a_save_is_undone_only_while_it_is_the_newest(project):
    session = make_session(project)
    save(session, offset=2)
    save(session, offset=3)

    with pytest.raises(Conflict, match="others have saved since"):
        restore_session_settings(session=session, to=0, now=NOW, undoes=1)
    restore_session_settings(session=session, to=1, now=NOW, undoes=2)

    assert Session.objects.get().settings == {"offset": 2}


def test_a_turn_has_the_settings_that_were_in_force_when_its_run_was_made(project):
    session = make_session(project, runs=1)
    save(session, now=NOW + timedelta(minutes=1), strategy="buffer", last_n=1)
    save_project_settings(project=project, changes={"max_history": 3}, now=NOW + timedelta(minutes=2))
    append_turns(session, 3, now=NOW + timedelta(minutes=3))
    save(session, now=LATER, last_n=2)
    session.refresh_from_db()

    def found(at):
        of = settings_of_turn(session=session, at=at)
        return of.values.last_n, of.values.max_history, of.versions.project, of.versions.session

    assert (found(1), found(4)) == ((None, 5, 0, 0), (1, 3, 1, 1))
    then = session_prompt(session=session, at=4)
    today = session_prompt(session=session, at=4, as_saved=True)
    assert [(each.first, each.last, each.fate) for each in then.fates] == [(1, 2, "skipped"), (3, 3, "kept")]
    assert [(each.first, each.last, each.fate) for each in today.fates] == [(1, 1, "skipped"), (2, 3, "kept")]
    assert session_prompt(session=session, at=4, overrides={"last_n": 0}).unseen == 3
    assert (then.turn.versions, today.turn.versions) == (settings_of_turn(session=session, at=4).versions, None)


def test_a_shared_run_was_made_with_the_settings_of_the_session_that_made_it(project):
    parent = make_session(project, "parent", runs=2, settings={"last_n": 1})
    update_session(session=parent, changes={"settings": {"last_n": 5}}, now=LATER)
    parent.refresh_from_db()
    fork = fork_session(session=parent, at=2, now=LATER)
    append_turns(fork, 1, now=LATER)
    fork.refresh_from_db()

    values = {at: settings_of_turn(session=fork, at=at).values.last_n for at in (1, 2, 3)}

    assert values == {1: 1, 2: 1, 3: 5}


def test_what_a_shared_run_was_made_with_is_not_known_once_that_session_is_gone(project):
    parent = make_session(project, "parent", runs=2, settings={"last_n": 1})
    fork = fork_session(session=parent, at=2, now=LATER, public_id="fork")
    update_session(session=fork, changes={"settings": {"last_n": 3}}, now=LATER)
    delete_session(session=parent, now=LATER, children=Children.REPARENT)

    then = settings_of_turn(session=Session.objects.get(public_id="fork"), at=1)

    assert (then.values.last_n, then.versions.project, then.versions.session) == (3, 0, None)
