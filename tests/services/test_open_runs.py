"""What happens to a run between its question and its end."""

from datetime import timedelta

import pytest

from sessions_app.domain.errors import Conflict, InvalidInput, RunHasEnded
from sessions_app.domain.open_runs import given_messages
from sessions_app.domain.transcript import Event, EventKind, Role, RunStatus, ToolCall, Usage
from sessions_app.services.runs import add_events, change_run, set_result
from tests.factories import NOW, append_turns, make_open_run, make_session
from tests.sums import assert_sums

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1)


def call(call_id="c", name="fetch", arguments="{}", **fields):
    return Event(EventKind.TOOL_CALL, tool=ToolCall(call_id, name, arguments, **fields))


def said(text):
    return Event(EventKind.MESSAGE, text=text, role=Role.ASSISTANT)


def stored(run):
    return list(run.events.order_by("index"))


def check_sums(run):
    run.refresh_from_db()
    run.session.refresh_from_db()
    assert_sums(run.session)


@pytest.fixture
def run():
    return make_open_run(make_session(runs=1))


def test_events_come_behind_those_that_are_there(run):
    add_events(run=run, events=[said("one")], now=LATER)
    add_events(run=run, events=[said("two")], now=LATER)

    assert [(event.index, event.text) for event in stored(run)] == [(0, "question"), (1, "one"), (2, "two")]
    check_sums(run)
    assert run.touched_at == LATER


def test_a_call_goes_under_the_newest_assistant_message(run):
    add_events(run=run, events=[said("one"), said("two"), call()], now=NOW)

    events = stored(run)
    assert events[3].parent == events[2]
    check_sums(run)


def test_a_call_without_an_assistant_message_gets_an_empty_one(run):
    rows = add_events(run=run, events=[call("a"), call("b")], now=NOW)

    events = stored(run)
    assert [(event.kind, event.text) for event in events[1:]] == [("message", ""), ("tool_call", ""), ("tool_call", "")]
    assert [row.parent_id for row in rows] == [events[1].pk, events[1].pk]
    check_sums(run)


def test_a_call_goes_under_the_message_that_is_named(run):
    add_events(run=run, events=[said("one"), said("two")], now=NOW)

    (row,) = add_events(run=run, events=[call()], now=NOW, under={0: 1})

    assert row.parent == stored(run)[1]


def test_a_call_cannot_go_under_a_users_message(run):
    with pytest.raises(InvalidInput):
        add_events(run=run, events=[call()], now=NOW, under={0: 0})


def test_a_providers_messages_are_taken_as_they_come(run):
    calls = [{"id": i, "type": "function", "function": {"name": "fetch", "arguments": "{}"}} for i in "ab"]
    asked = given_messages([{"role": "assistant", "content": None, "tool_calls": calls}])
    answered = given_messages([{"role": "tool", "tool_call_id": i, "content": f"result {i}"} for i in "ba"])

    add_events(run=run, events=asked.events, now=NOW)
    rows = add_events(run=run, events=answered.events, now=NOW)

    assert [row.call_id for row in rows] == ["b", "a"]
    assert [event.result for event in stored(run)] == [None, None, "result a", "result b"]
    check_sums(run)


def test_a_result_joins_the_first_waiting_call_of_its_id_under_the_nearest_message(run):
    for message in (said("one"), said("two")):
        add_events(run=run, events=[message, call("same"), call("same")], now=NOW)

    add_events(
        run=run, events=given_messages([{"role": "tool", "tool_call_id": "same", "content": "r"}]).events, now=NOW
    )

    assert [event.result for event in stored(run)] == [None, None, None, None, None, "r", None]


def test_a_result_without_a_waiting_call_is_refused(run):
    with pytest.raises(InvalidInput, match="'c'"):
        add_events(
            run=run, events=given_messages([{"role": "tool", "tool_call_id": "c", "content": "r"}]).events, now=NOW
        )


def test_a_user_message_behind_an_answer_is_refused(run):
    add_events(run=run, events=[Event(EventKind.MESSAGE, text="and this", role=Role.USER), said("one")], now=NOW)

    with pytest.raises(InvalidInput):
        add_events(run=run, events=[Event(EventKind.MESSAGE, text="next", role=Role.USER)], now=NOW)


def test_a_result_can_be_set_later_but_once(run):
    (row,) = add_events(run=run, events=[call()], now=NOW)

    set_result(event=row, result="42", now=LATER)

    assert stored(run)[2].result == "42"
    check_sums(run)
    with pytest.raises(Conflict):
        set_result(event=row, result="43", now=LATER)


def test_only_a_call_has_a_result(run):
    with pytest.raises(InvalidInput):
        set_result(event=stored(run)[0], result="42", now=NOW)


def test_it_is_completed_with_its_output(run):
    finished = change_run(
        run=run, status=RunStatus.COMPLETED, output="answer", usage=Usage(input=5), model="m", now=LATER
    )

    assert (finished.status, finished.completed_at, finished.model) == ("completed", LATER, "m")
    assert finished.usage == {"input": 5, "cached": 0, "output": 0, "reasoning": 0}
    assert [event.text for event in stored(run)] == ["question", "answer"]
    check_sums(run)
    assert run.session.summary_wanted_at == LATER


def test_an_output_that_goes_on_from_the_half_text_takes_its_place(run):
    add_events(run=run, events=[said("Once upon a ti")], now=NOW)

    change_run(run=run, status=RunStatus.COMPLETED, output="Once upon a time.", now=NOW)

    assert [event.text for event in stored(run)] == ["question", "Once upon a time."]
    check_sums(run)


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED])
def test_what_was_said_so_far_is_kept_when_it_ends_badly(run, status):
    add_events(run=run, events=[said("Once upon a ti"), call()], now=NOW)

    finished = change_run(run=run, status=status, error="gone", now=NOW)

    assert (finished.status, finished.error) == (status, "gone")
    assert [event.text for event in stored(run)] == ["question", "Once upon a ti", ""]
    check_sums(run)


def test_a_pending_run_may_start_running(run):
    finished = change_run(run=run, status=RunStatus.RUNNING, now=LATER)

    assert (finished.status, finished.completed_at) == ("running", None)


def test_a_late_finish_is_refused_and_changes_nothing(run):
    change_run(run=run, status=RunStatus.COMPLETED, output="the whole answer", now=NOW)

    with pytest.raises(RunHasEnded, match="fork with at = 1"):
        change_run(run=run, status=RunStatus.COMPLETED, output="the whole", now=NOW)

    assert [event.text for event in stored(run)] == ["question", "the whole answer"]


def test_nothing_is_added_to_a_finished_run(run):
    (row,) = add_events(run=run, events=[call()], now=NOW)
    change_run(run=run, status=RunStatus.CANCELLED, now=NOW)

    with pytest.raises(RunHasEnded):
        add_events(run=run, events=[said("late")], now=NOW)
    with pytest.raises(RunHasEnded):
        set_result(event=row, result="late", now=NOW)


def test_the_next_run_follows_once_it_has_ended(run):
    change_run(run=run, status=RunStatus.COMPLETED, output="answer", now=NOW)

    (after,) = append_turns(run.session)

    run.refresh_from_db()
    assert after.position == 3
    assert after.tokens_before_o200k == run.tokens_before_o200k + run.tokens_o200k
