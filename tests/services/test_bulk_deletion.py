"""Many sessions deleted: each wholly or not at all, and a report that is true."""

import pytest

from sessions_app.models import Session
from sessions_app.services.bulk_deletion import Deleted, delete_sessions
from sessions_app.services.session_deletion import Children
from tests.factories import NOW, make_project, make_session
from tests.sums import assert_sums

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    """trip ─┬─ hotel ── late, and beside it: visa."""
    project = make_project()
    trip = make_session(project, "trip", runs=2)
    hotel = make_session(project, "hotel", parent=trip, forked_at=1)
    make_session(project, "late", parent=hotel, forked_at=1)
    make_session(project, "visa", runs=1)
    return project


def delete(project, *names, children=Children.REFUSE, goes_on=lambda: True):
    pks = list(Session.objects.filter(public_id__in=names).values_list("pk", flat=True))
    return delete_sessions(project=project, session_pks=pks, children=children, now=NOW, goes_on=goes_on)


def left():
    return set(Session.objects.values_list("public_id", flat=True))


def test_those_with_children_stay_unless_the_children_go_too(project):
    assert delete(project, "trip", "visa") == Deleted(deleted=1, below=0, kept=1, left=[])
    assert left() == {"trip", "hotel", "late"}
    assert delete(project, "trip", "hotel", "late") == Deleted(deleted=3, below=0, kept=0, left=[])
    assert left() == set()


def test_what_goes_with_them_is_counted_apart(project):
    done = delete(project, "trip", "late", children=Children.DELETE)

    assert done == Deleted(deleted=2, below=1, kept=0, left=[])
    assert left() == {"visa"}


def test_children_that_move_up_keep_what_they_share(project):
    done = delete(project, "trip", "hotel", children=Children.REPARENT)

    assert done == Deleted(deleted=2, below=0, kept=0, left=[])
    late = Session.objects.get(public_id="late")
    assert (late.parent, late.last_position) == (None, 1)
    assert_sums(late)


def test_when_the_time_is_up_the_rest_is_as_it_was(project):
    asked = iter([True, True, False])

    done = delete(project, "trip", "hotel", "late", "visa", goes_on=lambda: next(asked))

    assert (done.deleted, done.below, done.kept) == (2, 0, 0)
    assert set(done.left) == set(Session.objects.filter(public_id__in=["trip", "visa"]).values_list("pk", flat=True))
    assert left() == {"trip", "visa"}


def test_sessions_of_others_are_left_alone(project):
    make_session(make_project("other"), "theirs")

    assert delete(project, "theirs") == Deleted(0, 0, 0, [])
    assert "theirs" in left()
