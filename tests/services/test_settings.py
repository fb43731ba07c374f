import pytest

from sessions_app.domain.errors import InvalidSettings, NotFound
from sessions_app.domain.memory_settings import Layer
from sessions_app.models import Project
from sessions_app.services.settings import project_settings, save_project_settings
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db


def test_it_merges_changes_into_the_defaults_and_takes_away_what_is_none():
    project = make_project(settings={"max_runs": 20, "offset": 3})
    save_project_settings(project=project, changes={"max_runs": None, "strategy": "buffer"}, now=NOW)
    project.refresh_from_db()
    assert project.settings == {"offset": 3, "strategy": "buffer"}


def test_it_refuses_bad_values_and_stores_nothing():
    project = make_project(settings={"offset": 3})
    with pytest.raises(InvalidSettings, match="offset must be a whole number"):
        save_project_settings(project=project, changes={"offset": -1, "max_runs": 5}, now=NOW)
    project.refresh_from_db()
    assert project.settings == {"offset": 3}


def test_a_projects_values_know_where_they_come_from():
    effective = project_settings(project=make_project(settings={"offset": 3}))
    assert effective.values.offset == 3
    assert (effective.origins["offset"], effective.origins["max_runs"]) == (Layer.PROJECT, Layer.BUILT_IN)


def test_the_built_in_value_is_no_default_of_the_projects_own(settings):
    project = make_project(settings={"last_n": 10, "offset": 3})

    save_project_settings(
        project=project, changes={"last_n": "unlimited", "model": settings.CONVOWEB_MODEL, "max_runs": 7}, now=NOW
    )

    assert Project.objects.get().settings == {"offset": 3, "max_runs": 7}


def test_a_project_that_was_deleted_meanwhile_is_not_found():
    project = make_project()
    Project.objects.all().delete()

    with pytest.raises(NotFound):
        save_project_settings(project=project, changes={"last_n": 1}, now=NOW)
