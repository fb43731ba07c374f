"""What is read of sessions that are exported, and how much of it at a time."""

import json
from copy import copy
from itertools import islice

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.export_formats import EXPORT_FORMATS
from sessions_app.domain.export_formats.openai import OPENAI
from sessions_app.domain.transcript import Event as EventValue
from sessions_app.domain.transcript import EventKind
from sessions_app.models import Event, Run, Session
from sessions_app.queries.exports import exported
from sessions_app.services.runs import add_events
from sessions_app.services.session_deletion import delete_session
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def rows_of(*sessions):
    text = "".join(exported(session_pks=[session.pk for session in sessions], file_format=OPENAI))
    return [json.loads(line) for line in text.splitlines()]


def said(row):
    return [message["content"] for message in row["messages"]]


def test_a_session_is_exported_with_all_it_says_of_itself(project):
    fields = {"title": "T", "user_id": "u", "tags": ["b", "a"], "metadata": {"k": [1]}, "instructions": "Be brief."}
    (row,) = rows_of(make_session(project, "s", runs=1, **fields))

    assert {name: row[name] for name in ("id", "title", "user_id", "tags", "metadata")} == {
        "id": "s",
        "title": "T",
        "user_id": "u",
        "tags": ["a", "b"],
        "metadata": {"k": [1]},
    }
    assert said(row) == ["Be brief.", "question 1", "answer 1"]
    assert row["convoweb"]["runs"] == [{"messages": 2, "created_at": "2026-05-04T12:00:00+00:00"}]


def test_a_fork_is_exported_with_the_runs_that_it_shares(project):
    trip = make_session(project, "trip", runs=3, instructions="Old.")
    hotel = make_session(project, "hotel", parent=trip, forked_at=2, instructions="New.")
    append_turns(hotel)
    late = make_session(project, "late", parent=hotel, forked_at=1)
    beside = make_session(project, "beside", parent=trip, runs=1)

    assert [said(row) for row in rows_of(hotel, late, beside)] == [
        ["New.", "question 1", "answer 1", "question 2", "answer 2", "question 3", "answer 3"],
        ["question 1", "answer 1"],
        ["question 1", "answer 1"],
    ]


def test_an_open_run_is_exported_as_far_as_it_has_come(project):
    session = make_session(project)
    run = make_open_run(session)
    add_events(run=run, events=[EventValue(EventKind.REASONING, "Hm.")], now=NOW)

    (row,) = rows_of(session)

    assert said(row) == ["question"]
    assert row["convoweb"]["runs"][0]["status"] == "running"


def test_sessions_that_were_deleted_meanwhile_are_left_out(project):
    first, second = make_session(project, "a"), make_session(project, "b")
    gone = copy(second)
    delete_session(session=second, now=NOW)

    assert [row["id"] for row in rows_of(gone, first)] == ["a"]


def test_markdown_numbers_the_runs_of_the_lineage(project):
    trip = make_session(project, "trip", runs=1)
    hotel = make_session(project, "hotel", parent=trip, forked_at=1, title="Hotel")
    append_turns(hotel)

    text = "".join(exported(session_pks=[trip.pk, hotel.pk], file_format=EXPORT_FORMATS["markdown"]))

    assert text.count("# trip") == 1
    assert "# Hotel" in text
    assert text.count("## Run 1") == 2
    assert text.count("## Run 2") == 1


def bulk_runs(session, count):
    """Give a session many short runs without weighing them."""
    runs = Run.objects.bulk_create(
        Run(
            project=session.project,
            session=session,
            position=position,
            status="completed",
            tokens_before_o200k=0,
            created_at=NOW,
            touched_at=NOW,
        )
        for position in range(1, count + 1)
    )
    Event.objects.bulk_create(
        Event(run=run, index=0, kind="message", role="user", text=f"question {run.position}", created_at=NOW)
        for run in runs
    )
    Session.objects.filter(pk=session.pk).update(last_position=count)
    session.refresh_from_db()


def test_a_long_session_is_read_little_by_little(project):
    long, short = make_session(project, "long"), make_session(project, "short")
    bulk_runs(long, 5_000)
    bulk_runs(short, 150)

    def beginning(session):
        with CaptureQueriesContext(connection) as queries:
            pieces = list(islice(exported(session_pks=[session.pk], file_format=OPENAI), 100))
        return len(queries), len(pieces)

    assert beginning(long) == beginning(short)
    (row,) = rows_of(long)
    assert said(row) == [f"question {n}" for n in range(1, 5_001)]
    assert len(row["convoweb"]["runs"]) == 5_000
