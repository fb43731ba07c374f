"""Views of the list: names that are given once in a project, and a limit."""

import pytest

from sessions_app.domain.errors import Conflict, IdTaken, InvalidInput, NotFound
from sessions_app.models import SavedView
from sessions_app.services import saved_views
from sessions_app.services.saved_views import rename_view, save_new_view
from tests.factories import NOW, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def save(project, name="Lost", **query):
    return save_new_view(project=project, name=name, query=query or {"lost": "1"}, actor="ann", now=NOW)


def test_a_view_keeps_a_filter_under_a_name(project):
    view = save(project, "  Lost \n runs ", q="a & b", sort="title")

    assert (view.name, view.query_string, view.actor) == ("Lost runs", "q=a+%26+b&sort=title", "ann")
    assert list(project.saved_views.all()) == [view]


def test_a_name_is_given_once_in_a_project(project):
    save(project)
    other = save(project, "Other")

    with pytest.raises(IdTaken, match="There is a view Lost already"):
        save(project)
    with pytest.raises(IdTaken, match="There is a view Lost already"):
        rename_view(view=other, name="Lost")
    assert save(make_project("other")).name == "Lost"


@pytest.mark.parametrize("name", ["", " ", "x" * 101])
def test_a_name_has_a_length(project, name):
    with pytest.raises(InvalidInput, match="A view has a name of 1 to 100 characters"):
        save(project, name)


def test_the_whole_list_is_no_view(project):
    with pytest.raises(InvalidInput, match="this is the whole list"):
        save_new_view(project=project, name="All", query={}, actor="", now=NOW)


def test_there_are_only_so_many(project, monkeypatch):
    monkeypatch.setattr(saved_views, "MOST_VIEWS", 1)
    save(project)

    with pytest.raises(Conflict, match="at most 1 views"):
        save(project, "Second")


def test_a_view_that_is_gone_cannot_be_renamed(project):
    view = save(project)
    SavedView.objects.all().delete()

    with pytest.raises(NotFound):
        rename_view(view=view, name="Other")
