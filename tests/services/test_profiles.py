"""Profiles are named copies of settings."""

import pytest

from sessions_app.domain.errors import Conflict, IdTaken, InvalidInput, InvalidSettings, NotFound
from sessions_app.models import Profile, Project, Session
from sessions_app.queries.profiles import profile_rows, profiles_of
from sessions_app.services import profiles
from sessions_app.services.profiles import rename_profile, save_new_profile
from sessions_app.services.settings import project_settings
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db


def save(project, name, **settings):
    return save_new_profile(project=project, name=name, settings=settings, actor="ada", now=NOW)


def test_it_keeps_settings_under_a_name_and_changes_nothing_else():
    session = make_session()
    saved = save(session.project, " short\tmemory ", last_n=3)

    stored = Profile.objects.get()
    assert stored == saved
    assert (stored.name, stored.settings, stored.actor, stored.saved_at) == ("short memory", {"last_n": 3}, "ada", NOW)
    assert (Session.objects.get().settings, Project.objects.get().settings) == ({}, {})


@pytest.mark.parametrize("name", ["", " \n", "n" * 101])
def test_it_needs_a_name(name):
    profile = save(make_project(), "one", last_n=3)

    for attempt in (lambda: save(profile.project, name), lambda: rename_profile(profile=profile, name=name)):
        with pytest.raises(InvalidInput, match="1 to 100 characters"):
            attempt()


def test_a_name_is_given_once_in_a_project():
    project = make_project()
    save(project, "one", last_n=3)
    other = save(project, "other", last_n=4)
    save(make_project("q"), "one", last_n=5)

    for attempt in (lambda: save(project, "one", last_n=9), lambda: rename_profile(profile=other, name="one")):
        with pytest.raises(IdTaken, match="There is a profile one already"):
            attempt()
    assert [(row.name, row.settings) for row in profiles_of(project)] == [
        ("one", {"last_n": 3}),
        ("other", {"last_n": 4}),
    ]


def test_bad_settings_are_refused():
    with pytest.raises(InvalidSettings):
        save(make_project(), "one", last_n=-1)
    assert not Profile.objects.exists()


def test_a_project_has_only_so_many(monkeypatch):
    monkeypatch.setattr(profiles, "MOST_PROFILES", 2)
    project = make_project()
    save(project, "one")
    save(project, "two")

    with pytest.raises(Conflict, match="at most 2 profiles"):
        save(project, "three")


def test_what_is_gone_is_not_renamed_nor_saved():
    profile = save(make_project(), "one")
    Profile.objects.all().delete()

    with pytest.raises(NotFound):
        rename_profile(profile=profile, name="two")
    Project.objects.all().delete()
    with pytest.raises(NotFound):
        save(profile.project, "two")
    assert not Profile.objects.exists()


def test_each_is_listed_with_what_it_has_otherwise(django_assert_num_queries):
    project = make_project(settings={"offset": 2})
    for number in range(20):
        save(project, f"profile {number:02}", last_n=number, offset=2)

    with django_assert_num_queries(1):
        rows = profile_rows(project=project, beside=project_settings(project=project))

    assert [(each.name, each.now, each.new) for each in rows[7].changes] == [("last_n", "unlimited", 7)]
    assert rows[7].texts == {"last_n": "7"}
