"""What was picked out of the list, and what a question has to say of it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.errors import InvalidInput
from sessions_app.models import Session
from sessions_app.queries import selections
from sessions_app.queries.selections import all_matching, picked_sessions, selection_of
from sessions_app.queries.session_filters import SessionFilter, SessionSort
from tests.factories import make_project, make_session
from tests.queries.test_sessions import bulk_sessions

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    trip = make_session(project, "trip", title="B", tags=["red", "blue"])
    hotel = make_session(project, "hotel", parent=trip, title="C", tags=["red"])
    make_session(project, "late", parent=hotel, title="D")
    make_session(project, "visa", title="A")
    return project


def keys(*names):
    return [Session.objects.get(public_id=name).pk for name in names]


def names(pks):
    return [Session.objects.get(pk=pk).public_id for pk in pks]


def test_only_sessions_of_the_project_are_picked_each_once(project):
    theirs = make_session(make_project("other"), "theirs").pk
    hotel, trip = keys("hotel", "trip")

    assert picked_sessions(project=project, pks=[hotel, theirs, trip, hotel, 0, 10**17]) == [hotel, trip]


def test_all_that_match_are_what_the_list_shows_in_its_order(project):
    pks, more = all_matching(project=project, wanted=SessionFilter(sort=SessionSort.TITLE))
    assert (names(pks), more) == (["visa", "trip"], False)
    pks, more = all_matching(project=project, wanted=SessionFilter(tag="red", sort=SessionSort.TITLE))
    assert (names(pks), more) == (["trip", "hotel"], False)


@pytest.mark.parametrize(("most", "named", "more"), [(1, ["visa"], True), (2, ["visa", "trip"], False)])
def test_all_that_match_are_cut_at_a_limit_that_says_so(project, monkeypatch, most, named, more):
    monkeypatch.setattr(selections, "MOST_SELECTED", most)

    pks, is_cut = all_matching(project=project, wanted=SessionFilter(sort=SessionSort.TITLE))
    assert (names(pks), is_cut) == (named, more)


def test_more_than_the_limit_are_refused_where_they_are_named(project, monkeypatch):
    monkeypatch.setattr(selections, "MOST_SELECTED", 2)
    hotel, trip, visa = keys("hotel", "trip", "visa")

    assert picked_sessions(project=project, pks=[hotel, trip, hotel]) == [hotel, trip]
    with pytest.raises(InvalidInput, match="At most 2 sessions at once: 3 are picked"):
        picked_sessions(project=project, pks=[hotel, trip, visa])


def test_a_question_knows_what_stands_below_and_is_not_meant(project):
    found = selection_of(pks=keys("trip", "visa"))

    assert (found.count, found.parents, found.below.value) == (2, 1, 2)
    assert [str(session) for session in found.named] == ["B", "A"]
    assert found.tags == [("blue", 1), ("red", 1)]
    assert selection_of(pks=keys("hotel", "trip")).below.value == 1
    assert selection_of(pks=keys("hotel", "trip")).tags == [("red", 2), ("blue", 1)]
    assert selection_of(pks=keys("trip", "hotel", "late")).below.value == 0


def test_many_can_be_picked_at_the_cost_of_a_few_queries(project):
    bulk_sessions(project, 3_000)
    with CaptureQueriesContext(connection) as queries:
        found = selection_of(
            pks=picked_sessions(project=project, pks=all_matching(project=project, wanted=SessionFilter())[0])
        )

    assert found.count == 3_002
    assert len(queries) <= 6
