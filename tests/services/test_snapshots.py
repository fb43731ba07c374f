"""The stored measures of a session's next prompt."""

from datetime import timedelta

import pytest

from sessions_app.domain.memory_settings import settings_hash
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, ToolCall
from sessions_app.models import Session
from sessions_app.services import snapshots
from sessions_app.services.prompts import effective_settings, session_plan, session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import update_session
from sessions_app.services.snapshots import refresh_snapshot
from sessions_app.services.summaries import advance
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=1)


def snapshot_of(session):
    refresh_snapshot(session=session)
    session.refresh_from_db()
    return session.prompt_snapshot


def test_it_has_the_measures_of_the_next_prompt():
    session = make_session(runs=20, settings={"max_input_tokens": 100, "strategy": "buffer"})
    prompt = session_prompt(session=session)
    parts = {"instructions", "tools", "parent_context", "summary", "runs", "context", "query", "overhead"}
    snapshot = snapshot_of(session)
    assert set(snapshot["parts"]) == parts
    assert sum(snapshot["parts"].values()) == snapshot["total"] == prompt.tokens.total <= 100
    # A turn needs 14 tokens and the prompt 3: six fit into 100 (with 2 and more digits they need no more).
    assert (snapshot["position"], snapshot["budget"], snapshot["unseen"], snapshot["lost"]) == (20, 100, 14, 0)
    assert (snapshot["summary"], snapshot["reserve"], snapshot["error"]) == (None, 0, None)


def test_it_counts_what_is_lost():
    session = make_session(runs=20, settings={"max_input_tokens": 100, "offset": 19, "on_gap": "warn"})
    assert snapshot_of(session)["lost"] == 14


@pytest.mark.parametrize(
    ("own", "cut"),
    [
        ({}, 0),
        ({"tool_result_max_tokens": 10}, 2),
        ({"keep_tool_results": 1}, 2),
        ({"keep_tool_results": 1, "tool_result_max_tokens": 10}, 3),
        ({"tool_result_max_tokens": 10, "last_n": 1}, 1),
        ({"max_input_tokens": 1, "tool_result_max_tokens": 10, "autoprune": False}, 0),
    ],
)
def test_it_counts_the_tool_results_that_are_cut_or_left_out(own, cut):
    session = make_session(settings=own)
    long, short = "word " * 50, "ok"
    # The last prompt, which nothing fits into, cannot be built.
    append_runs(session=session, runs=[turn_with_results(long, short), turn_with_results(long)], now=NOW)
    snapshot_of(session)
    assert session.cut_results == session.prompt_snapshot.get("cut", 0) == cut


def test_figures_of_before_it_counted_them_are_worked_out_again():
    session = make_session(settings={"keep_tool_results": 0})
    append_runs(session=session, runs=[turn_with_results("ok")], now=NOW)
    earlier = {name: value for name, value in snapshot_of(session).items() if name != "cut"}
    Session.objects.update(prompt_snapshot=earlier, cut_results=0)
    session.refresh_from_db()
    snapshot_of(session)
    assert session.cut_results == 1


def turn_with_results(*results):
    asked = Event(EventKind.MESSAGE, text="look", role=Role.USER)
    calls = [
        Event(EventKind.TOOL_CALL, tool=ToolCall(f"c{place}", "look", "{}", result=result))
        for place, result in enumerate(results)
    ]
    return NewRun((asked, *calls, Event(EventKind.MESSAGE, text="done", role=Role.ASSISTANT)))


def test_it_names_the_cover_of_the_summary():
    session = make_session(runs=8, settings={"summarize_at": 0, "offset": 3})
    advance(session_pk=session.pk, now=NOW)
    session.refresh_from_db()
    assert snapshot_of(session)["summary"] == 5


def test_it_has_the_reserve_only_where_the_window_binds():
    session = make_session(runs=1, settings={"model": "gpt-4"})
    snapshot = snapshot_of(session)
    # The window of gpt-4 is 8,192.
    assert (snapshot["budget"], snapshot["reserve"]) == (8192 - 1024, 1024)
    update_session(session=session, changes={"settings": {"max_input_tokens": 7000}}, now=NOW)
    session.refresh_from_db()
    assert snapshot_of(session)["reserve"] == 0


def test_it_is_not_worked_out_again_while_nothing_has_changed(monkeypatch):
    session = make_session(runs=8, settings={"summarize_at": 0, "offset": 3})
    planned = []

    def plan(**asked):
        planned.append(1)
        return session_plan(**asked)

    monkeypatch.setattr(snapshots, "session_plan", plan)
    changes = [
        lambda: update_session(session=session, changes={"instructions": "Be brief."}, now=LATER),
        lambda: update_session(session=session, changes={"settings": {"offset": 2}}, now=LATER),
        lambda: append_turns(session, now=LATER),
        lambda: advance(session_pk=session.pk, now=LATER + timedelta(seconds=1)),
    ]
    for number, change in enumerate(changes, 1):
        snapshot_of(session)
        first = snapshot_of(session)
        assert len(planned) == number
        change()
        session.refresh_from_db()
        assert session.prompt_snapshot == first
    snapshot_of(session)
    assert len(planned) == len(changes) + 1


@pytest.mark.parametrize("heard", [{"include_parent_context": True}, {"strategy": "hierarchical"}])
def test_with_the_parents_context_it_always_is(heard):
    parent = make_session(public_id="parent", runs=3, settings={"summarize_at": 0, "offset": 0})
    child = make_session(parent.project, parent=parent, settings=heard)
    assert snapshot_of(child)["parts"]["parent_context"] == 0
    advance(session_pk=parent.pk, now=NOW)
    assert snapshot_of(child)["parts"]["parent_context"] > 0


def test_it_tells_the_newest_run_that_is_lost():
    session = make_session(runs=20, settings={"max_input_tokens": 100, "offset": 19, "on_gap": "warn"})
    assert refresh_snapshot(session=session) == 14
    assert refresh_snapshot(session=session) == 14
    session.settings = session.settings | {"on_gap": "stopgap"}
    session.save()
    # An extract of the lost runs takes the room of one more.
    assert refresh_snapshot(session=session) == 15
    session.delete()
    assert refresh_snapshot(session=session) == 0


def test_it_says_why_there_is_no_prompt():
    session = make_session(runs=1, instructions="word " * 50, settings={"max_input_tokens": 20})
    snapshot = snapshot_of(session)
    assert set(snapshot) == {"position", "settings", "window", "template", "changed", "entry", "wish", "error"}
    assert "20" in snapshot["error"]


def test_it_is_known_to_be_stale_by_its_position_and_settings():
    session = make_session(runs=1)
    snapshot = snapshot_of(session)
    append_turns(session)
    session.refresh_from_db()
    assert session.prompt_snapshot["position"] != session.last_position
    changed = effective_settings(session=session, overrides={"offset": 5}).values
    assert settings_hash(changed) != snapshot["settings"]
    assert settings_hash(effective_settings(session=session).values) == snapshot["settings"]
