"""Appending: positions, token sums, and what is refused."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.errors import IdTaken, InvalidInput, RunIsOpen
from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Event, Run, Session
from sessions_app.services.runs import append_runs, close_interrupted_runs
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session
from tests.sums import assert_sums

pytestmark = pytest.mark.django_db


def test_it_numbers_runs_along_the_lineage():
    session = make_session(runs=3)
    fork = make_session(session.project, "f", parent=session, forked_at=2, runs=2)

    assert list(fork.runs.order_by("position").values_list("position", flat=True)) == [3, 4]
    assert (fork.last_position, fork.own_run_count) == (4, 2)


def test_it_keeps_prefix_sums_of_tokens_along_the_lineage():
    session = make_session(runs=3)
    fork = make_session(session.project, "f", parent=session, forked_at=2, runs=2)

    first, second = session.runs.order_by("position")[:2]
    assert first.tokens_before_o200k == 0
    assert second.tokens_before_o200k == first.tokens_o200k > 0
    assert fork.runs.get(position=3).tokens_before_o200k == first.tokens_o200k + second.tokens_o200k
    assert fork.lineage_tokens == sum(run.tokens_o200k for run in [first, second, *fork.runs.all()])


def test_it_weighs_a_turn_by_the_counter_of_prompts():
    # Two messages: each 3 + 1 for its role + 2 for "question 1" or "answer 1" in o200k_base (word, blank and digit: 3).
    session = make_session(runs=1)

    assert session.tokens_o200k == session.runs.get().tokens_o200k == 2 * (3 + 1 + 3)


def test_it_stores_calls_under_the_message_that_made_them():
    calls = [{"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "ab"]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "one"},
        {"role": "tool", "tool_call_id": "c", "content": "two"},
        {"role": "assistant", "content": "done"},
    ]
    session = make_session()

    append_runs(session=session, runs=[turn(messages)], now=NOW)

    events = list(Event.objects.order_by("index"))
    assert [event.parent_id for event in events] == [None, None, events[1].pk, events[1].pk, None]
    assert [event.result for event in events] == [None, None, "one", "two", None]


def test_it_asks_for_a_summary_in_its_transaction():
    session = make_session(runs=1, now=NOW)

    assert session.summary_wanted_at == NOW


def test_it_replaces_what_no_database_can_hold():
    session = make_session()

    append_runs(session=session, runs=[simple_turn("a\0b", "\udfff")], now=NOW)

    assert [event.text for event in Event.objects.order_by("index")] == ["a\ufffdb", "\ufffd"]


def test_it_keeps_a_clients_run_id_and_refuses_it_a_second_time_in_the_project():
    session = make_session()
    other = make_session(session.project, "other")
    run = replace(simple_turn("q", "a"), run_id="mine")
    append_runs(session=session, runs=[run], now=NOW)

    with pytest.raises(IdTaken):
        append_runs(session=other, runs=[simple_turn("q", "a"), run], now=NOW)

    other.refresh_from_db()
    assert (other.last_position, other.runs.count(), other.tokens_o200k) == (0, 0, 0)


def test_projects_do_not_share_run_ids():
    run = replace(simple_turn("q", "a"), run_id="mine")
    append_runs(session=make_session(), runs=[run], now=NOW)

    assert append_runs(session=make_session(make_project("q")), runs=[run], now=NOW)[0].public_id == "mine"


def test_it_refuses_the_same_id_twice_in_one_batch():
    run = replace(simple_turn("q", "a"), run_id="mine")

    with pytest.raises(IdTaken):
        append_runs(session=make_session(), runs=[run, run], now=NOW)


def test_it_refuses_to_append_behind_an_open_run_and_names_it():
    session = make_session(runs=1)
    run = make_open_run(session)

    with pytest.raises(RunIsOpen, match=run.public_id):
        append_turns(session)

    session.refresh_from_db()
    assert session.last_position == 2


def test_only_the_last_of_a_batch_may_be_open():
    pending = replace(simple_turn("q", None), status=RunStatus.PENDING)

    with pytest.raises(InvalidInput):
        append_runs(session=make_session(), runs=[pending, simple_turn("q", "a")], now=NOW)


def test_its_work_does_not_grow_with_the_session():
    session = make_session(runs=1)
    with CaptureQueriesContext(
        connection,
    ) as few:
        append_turns(session)
    append_turns(session, 200)
    with CaptureQueriesContext(connection) as many:
        append_turns(session)

    assert len(many) == len(few)


def test_a_run_untouched_for_an_hour_becomes_failed(settings):
    settings.CONVOWEB_RUN_TIMEOUT = 3600
    session = make_session()
    run = make_open_run(session)

    assert close_interrupted_runs(now=NOW + timedelta(minutes=59)) == 0
    assert close_interrupted_runs(now=NOW + timedelta(minutes=61)) == 1

    run.refresh_from_db()
    assert (run.status, run.error, run.completed_at) == (
        RunStatus.FAILED,
        "interrupted",
        NOW + timedelta(minutes=61),
    )
    assert_sums(session)


def test_an_append_closes_a_run_that_nobody_touched_for_too_long(settings):
    settings.CONVOWEB_RUN_TIMEOUT = 3600
    session = make_session()
    make_open_run(session)

    append_turns(session, now=NOW + timedelta(hours=2))

    assert list(Run.objects.order_by("position").values_list("status", flat=True)) == ["failed", "completed"]
    assert_sums(session)


def test_times_of_the_past_do_not_change_the_order():
    session = make_session()
    turns = [
        replace(simple_turn(f"Ping {n}", f"Pong {n}"), created_at=NOW - timedelta(seconds=n // 2)) for n in range(6)
    ]

    append_runs(session=session, runs=turns, now=NOW)

    texts = Event.objects.filter(run__session=session, index=0).order_by("run__position").values_list("text", flat=True)
    assert list(texts) == [f"Ping {n}" for n in range(6)]
    assert Session.objects.get().last_position == 6


def test_an_error_that_is_not_about_ids_is_not_told_as_one(monkeypatch):
    def fail(rows):
        raise IntegrityError("another constraint")

    monkeypatch.setattr(Run.objects, "bulk_create", fail)
    with pytest.raises(IntegrityError, match="another constraint"):
        append_runs(session=make_session(), runs=[simple_turn("q", "a")], now=NOW)
