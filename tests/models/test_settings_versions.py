"""What is known of the settings that were in force at a moment."""

from datetime import timedelta

import pytest

from sessions_app.models import InForce, Project, Session, SettingsVersion, settings_at
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db


def hours(count):
    return NOW + timedelta(hours=count)


@pytest.fixture
def project():
    """Return a project that is there since NOW."""
    project = make_project()
    Project.objects.update(created_at=NOW)
    project.refresh_from_db()
    return project


def keep(project, session=None, *, number, settings, hour, origin="saved"):
    SettingsVersion.objects.create(
        project=project, session=session, number=number, settings=settings, saved_at=hours(hour), origin=origin
    )


def test_the_newest_version_before_the_moment_was_in_force(project):
    session = make_session(project)
    for number in (1, 2, 3):
        keep(project, number=number, settings={"last_n": number}, hour=number)
    keep(project, session, number=1, settings={"offset": 2}, hour=2)

    assert settings_at(session=session, moment=hours(2)) == (InForce(2, {"last_n": 2}), InForce(1, {"offset": 2}))
    assert settings_at(session=session, moment=hours(9)) == (InForce(3, {"last_n": 3}), InForce(1, {"offset": 2}))


def test_of_two_that_were_saved_at_once_it_is_the_later_one(project):
    session = make_session(project)
    keep(project, number=1, settings={"last_n": 1}, hour=1)
    keep(project, number=2, settings={"last_n": 2}, hour=1)

    assert settings_at(session=session, moment=hours(1))[0].number == 2


def test_before_the_first_save_nothing_was_set(project):
    session = make_session(project)
    keep(project, number=1, settings={"last_n": 1}, hour=2)
    keep(project, session, number=1, settings={"offset": 2}, hour=2)

    assert settings_at(session=session, moment=hours(1)) == (InForce(0, {}), InForce(0, {}))


def test_what_was_never_saved_is_as_it_was(project):
    session = make_session(project)

    assert settings_at(session=session, moment=NOW) == (InForce(0, {}), InForce(0, {}))


def test_before_the_project_was_there_nothing_is_known(project):
    session = make_session(project)
    keep(project, session, number=1, settings={"offset": 2}, hour=-5)

    assert settings_at(session=session, moment=hours(-6)) == (None, None)
    assert settings_at(session=session, moment=hours(-4)) == (None, InForce(1, {"offset": 2}))


def test_before_versions_began_to_be_kept_nothing_is_known(project):
    session, bare = make_session(project), make_session(project, "bare")
    keep(project, number=1, settings={"last_n": 1}, hour=3, origin="found")
    keep(project, session, number=1, settings={"offset": 2}, hour=3, origin="found")

    assert settings_at(session=session, moment=hours(2)) == (None, None)
    assert settings_at(session=bare, moment=hours(2)) == (None, None)
    assert settings_at(session=bare, moment=hours(3)) == (InForce(1, {"last_n": 1}), InForce(0, {}))


def test_before_a_session_was_created_with_its_settings_its_own_are_not_known(project):
    session = make_session(project, settings={"offset": 2}, now=hours(4))

    assert settings_at(session=session, moment=hours(3)) == (InForce(0, {}), None)
    assert settings_at(session=session, moment=hours(4)) == (InForce(0, {}), InForce(1, {"offset": 2}))


def test_how_many_versions_there_are_costs_nothing(project, django_assert_num_queries):
    session = make_session(project)
    for number in range(1, 200):
        keep(project, number=number, settings={"last_n": number}, hour=number)
    session = Session.objects.select_related("project").get()

    with django_assert_num_queries(4):
        settings_at(session=session, moment=hours(100))
