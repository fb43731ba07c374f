"""What the list's filters read stays in step with the runs, the children and the metadata that it is made of."""

from dataclasses import replace

import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import MetadataEntry, Session
from sessions_app.models.metadata_entries import digests_of
from sessions_app.services.runs import append_runs, change_run
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import fork_session, update_session
from tests.factories import NOW, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db


def append_by(session, *models):
    session.refresh_from_db()
    append_runs(session=session, runs=[replace(simple_turn("q", "a"), model=model) for model in models], now=NOW)


def model_of(name):
    return Session.objects.get(public_id=name).newest_model


def parents():
    return set(Session.objects.filter(has_children=True).values_list("public_id", flat=True))


def test_a_session_knows_the_model_of_its_newest_own_run():
    trip = make_session(make_project(), "trip")
    assert model_of("trip") == ""
    append_by(trip, "gpt-4.1", "o3")
    assert model_of("trip") == "o3"
    append_runs(session=Session.objects.get(), runs=[], now=NOW)
    assert model_of("trip") == "o3"
    fork_session(session=Session.objects.get(), at=2, now=NOW, public_id="fork")
    assert model_of("fork") == ""


def test_a_model_that_is_told_when_the_run_ends_counts():
    run = make_open_run(make_session(make_project(), "trip"))
    change_run(run=run, status=RunStatus.COMPLETED, model="o\0 3", now=NOW)
    assert model_of("trip") == "o\N{REPLACEMENT CHARACTER} 3"


def test_forks_that_get_the_runs_of_what_is_deleted_get_their_models():
    trip = make_session(make_project(), "trip")
    append_by(trip, "a", "b", "c")
    for name, at in (("first", 1), ("second", 2), ("none", 0)):
        fork_session(session=Session.objects.get(public_id="trip"), at=at, now=NOW, public_id=name)
    append_by(Session.objects.get(public_id="second"), "d")

    delete_session(session=trip, now=NOW, children=Children.REPARENT)

    assert [model_of(name) for name in ("first", "second", "none")] == ["a", "d", ""]


def test_a_session_knows_whether_it_has_children():
    project = make_project()
    trip = make_session(project, "trip")
    assert parents() == set()
    hotel = make_session(project, "hotel", parent=trip)
    make_session(project, "visa", parent=trip)
    late = make_session(project, "late", parent=hotel)
    assert parents() == {"trip", "hotel"}
    delete_session(session=Session.objects.get(public_id="visa"), now=NOW)
    assert parents() == {"trip", "hotel"}
    delete_session(session=hotel, now=NOW, children=Children.REPARENT)
    assert parents() == {"trip"}
    delete_session(session=late, now=NOW)
    assert parents() == set()


def test_children_that_move_up_from_a_root_leave_no_parent_behind():
    project = make_project()
    trip = make_session(project, "trip")
    make_session(project, "late", parent=make_session(project, "hotel", parent=trip))
    delete_session(session=trip, now=NOW, children=Children.REPARENT)
    assert parents() == {"hotel"}


def test_the_values_of_metadata_are_kept_with_them_and_go_with_their_session():
    session = make_session(make_project(), metadata={"channel": "web", "level": 7, "deep": {"a": 1}, "none": None})

    def kept():
        return set(MetadataEntry.objects.values_list("digest", flat=True))

    assert kept() == set(digests_of({"channel": "web", "level": 7.0}))
    update_session(session=session, changes={"metadata": {"channel": "app", "level": None}}, now=NOW)
    assert kept() == set(digests_of({"channel": "app"}))
    update_session(session=session, changes={"title": "Trip"}, now=NOW)
    assert kept() == set(digests_of({"channel": "app"}))
    delete_session(session=session, now=NOW)
    assert kept() == set()


def test_a_text_a_number_and_a_flag_are_three_values():
    assert len({digest for value in ("1", 1, True) for digest in digests_of({"k": value})}) == 3
    assert digests_of({"k": 1}) == digests_of({"k": 1.0})
