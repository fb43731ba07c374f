"""Whatever may alter a next prompt or what is to be summarized leaves a wish in the rows and asks for the work."""

from datetime import timedelta

import pytest

from sessions_app import tasks
from sessions_app.clients import Work
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.transcript import Event, EventKind, Role, RunStatus, ToolCall
from sessions_app.models import Session
from sessions_app.services import summaries
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import add_events, append_runs, change_run, close_interrupted_runs, set_result
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import create_session, fork_session, update_session
from sessions_app.services.settings import save_project_settings
from sessions_app.services.summaries import Outcome, advance, due_sessions
from sessions_app.services.wishes import many_wishes
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = pytest.mark.django_db

LATER = NOW + timedelta(minutes=1)


def let_rest():
    Session.objects.update(summary_wanted_at=None)


def waiting():
    return {session.public_id for session in Session.objects.exclude(summary_wanted_at=None)}


def change_instructions(session, run, call):
    update_session(session=session, changes={"instructions": "Be brief."}, now=LATER)


def change_settings(session, run, call):
    update_session(session=session, changes={"settings": {"last_n": 3}}, now=LATER)


def add_what_was_said(session, run, call):
    add_events(run=run, events=[Event(EventKind.MESSAGE, "words", Role.ASSISTANT)], now=LATER)


def answer_a_call(session, run, call):
    set_result(event=call, result="found", now=LATER)


def finish(session, run, call):
    change_run(run=run, status=RunStatus.COMPLETED, now=LATER)


def leave_open_for_too_long(session, run, call):
    close_interrupted_runs(now=NOW + timedelta(days=1))


def append(session, run, call):
    change_run(run=run, status=RunStatus.COMPLETED, now=LATER)
    let_rest()
    append_runs(session=session, runs=[simple_turn("q", "a")], now=LATER)


@pytest.mark.parametrize(
    "change",
    [
        change_instructions,
        change_settings,
        add_what_was_said,
        answer_a_call,
        finish,
        leave_open_for_too_long,
        append,
    ],
)
def test_each_change_of_a_session_leaves_a_wish_and_asks_for_the_work(
    change, published, django_capture_on_commit_callbacks
):
    session = make_session(runs=1)
    make_session(session.project, "other", runs=1)
    run = make_open_run(session)
    (call,) = add_events(run=run, events=[Event(EventKind.TOOL_CALL, tool=ToolCall("c", "find", "{}"))], now=NOW)
    let_rest()

    with django_capture_on_commit_callbacks(execute=True):
        change(session, run, call)

    assert waiting() == {"s"}
    assert set(published) == {(Work.SUMMARIZE, (session.pk,))}


def test_a_new_session_and_a_fork_wish_for_it(published, django_capture_on_commit_callbacks):
    parent = make_session(runs=3)
    let_rest()

    with django_capture_on_commit_callbacks(execute=True):
        child = create_session(project=parent.project, parent=parent, now=LATER)
        fork = fork_session(session=parent, at=3, now=LATER)

    assert waiting() == {child.public_id, fork.public_id}
    assert published == [(Work.SUMMARIZE, (child.pk,)), (Work.SUMMARIZE, (fork.pk,))]


def test_changed_project_settings_leave_a_wish_in_all_its_sessions(published, django_capture_on_commit_callbacks):
    project = make_project()
    make_session(project, "a", runs=1)
    make_session(project, "b")
    make_session(make_project("q"), "theirs", runs=1)
    let_rest()

    with django_capture_on_commit_callbacks(execute=True):
        save_project_settings(project=project, changes={"summarize_at": 0}, now=LATER)

    assert waiting() == {"a", "b"}
    assert published == [(Work.SWEEP, ())]


def test_project_settings_that_are_so_already_wish_for_nothing():
    project = make_project(settings={"offset": 3})
    make_session(project, runs=1)
    let_rest()

    save_project_settings(project=project, changes={"offset": 3}, now=LATER)

    assert waiting() == set()


def test_what_moves_up_when_its_parent_is_deleted_wishes_for_it(published, django_capture_on_commit_callbacks):
    root = make_session(public_id="root", runs=2)
    middle = create_session(project=root.project, public_id="middle", parent=root, now=NOW)
    child = create_session(project=root.project, public_id="child", parent=middle, now=NOW)
    create_session(project=root.project, public_id="grandchild", parent=child, now=NOW)
    let_rest()

    with django_capture_on_commit_callbacks(execute=True):
        delete_session(session=middle, now=LATER, children=Children.REPARENT)

    assert waiting() == {"child", "grandchild"}
    assert (Work.SWEEP, ()) in published


@pytest.mark.parametrize("setting_of", ["session", "project"])
@pytest.mark.parametrize(
    ("hears", "deaf"),
    [
        ({"include_parent_context": True}, {"include_parent_context": False}),
        ({"strategy": "hierarchical"}, {"strategy": "summary"}),
    ],
)
def test_who_hears_a_parent_wishes_for_it_when_the_parents_summary_or_title_changes(scripted, setting_of, hears, deaf):
    scripted()
    project = make_project(settings=hears if setting_of == "project" else {})
    parent = make_session(project, "parent", runs=3, settings=AT_ONCE | {"offset": 1} | deaf)
    create_session(
        project=project, public_id="hears", parent=parent, now=NOW, settings=hears if setting_of == "session" else {}
    )
    create_session(project=project, public_id="deaf", parent=parent, now=NOW, settings=deaf)
    let_rest()
    Session.objects.filter(pk=parent.pk).update(summary_wanted_at=NOW)

    assert advance(session_pk=parent.pk, now=LATER) is Outcome.ADVANCED
    assert waiting() == {"parent", "hears"}

    let_rest()
    update_session(session=parent, changes={"title": "New"}, now=LATER)
    assert waiting() == {"parent", "hears"}


def test_the_wish_stands_until_the_figures_of_the_next_prompt_are_stored(monkeypatch):
    session = make_session(runs=1)

    def be_killed(*, session):
        raise SystemExit

    monkeypatch.setattr(summaries, "refresh_snapshot", be_killed)
    with pytest.raises(SystemExit):
        tasks.summarize(session.pk)
    assert due_sessions(now=LATER) == [session.pk]

    monkeypatch.undo()
    tasks.summarize(session.pk)
    session.refresh_from_db()
    assert (session.prompt_snapshot["position"], session.summary_wanted_at) == (1, None)


def test_the_figures_are_stored_also_while_summarizing_fails_and_waits(scripted):
    scripted(*[RuntimeError("down")] * 9)
    session = make_session(runs=3, settings=AT_ONCE | {"offset": 1})
    tasks.summarize(session.pk)
    session.refresh_from_db()
    assert session.prompt_snapshot["position"] == 3

    append_turns(session, now=LATER)
    tasks.summarize(session.pk)
    session.refresh_from_db()
    assert session.prompt_snapshot["position"] == 4
    assert session.summary_wanted_at is not None


def test_a_fork_of_a_long_conversation_loses_nothing(scripted):
    scripted()
    parent = make_session(runs=40, settings={"max_input_tokens": 200})
    advance_all(parent)
    fork = fork_session(session=parent, at=40, now=LATER)

    tasks.summarize(fork.pk)

    fork.refresh_from_db()
    assert fork.summary.covers_through == parent.summary.covers_through
    assert session_prompt(session=fork).unseen == 0


def test_many_wishes_are_hurried_by_one_sweep(published, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True), many_wishes():
        sessions = [make_session(make_project(), runs=1), make_session(make_project("q"), runs=1)]

    assert published == [(Work.SWEEP, ())]
    assert due_sessions(now=LATER) == [session.pk for session in sessions]
