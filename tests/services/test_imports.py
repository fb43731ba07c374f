"""Conversations into rows: once each, only what is new, nothing of a changed history."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import F

from sessions_app.domain.errors import HistoryChanged
from sessions_app.domain.file_formats.openai import OPENAI
from sessions_app.domain.json_streams import Found
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.openai_writing import to_messages
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Event, ImportOutcome, Run, Session, Summary, SummaryStatus
from sessions_app.services.conversation_imports import import_conversation
from sessions_app.services.imports import import_row, prepare_row
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session, fork_session, update_session
from tests.factories import NOW, make_project
from tests.sums import assert_sums

REAL = Path(__file__).parents[3] / "shared" / "data" / "airline-support.jsonl"
CASES = Path(__file__).parents[1] / "data" / "cases"
LATER = datetime(2026, 6, 1, tzinfo=UTC)


def user(text="Q"):
    return {"role": "user", "content": text}


def answer(text="A", **fields):
    return {"role": "assistant", "content": text, **fields}


def calling(call_id="c"):
    return answer(None, tool_calls=[{"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}])


def result(content="r", call_id="c"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def bring_in(project, messages, *, now=NOW, **fields):
    row = {"id": "talk", "messages": messages, **fields}
    return import_conversation(project=project, source="openai", conversation=prepared(row), now=now)


def prepared(row):
    """Return the conversation of a row, weighed."""
    return prepare_row(file_format=OPENAI, found=Found(1, row)).conversation


def try_row(project, row, place=1):
    read = prepare_row(file_format=OPENAI, found=Found(place, row))
    return import_row(project=project, file_format=OPENAI, row=read, now=NOW)


def stored_messages(session):
    session = Session.objects.get(pk=session.pk)
    runs = Run.objects.with_events().filter(session=session).order_by("position")
    messages = to_messages([run.to_new_value() for run in runs], instructions=session.instructions)
    return [{name: value for name, value in message.items() if name != "created_at"} for message in messages]


TALK = [{"role": "system", "content": "Be brief."}, user("1"), calling(), result(), answer("a"), user("2"), answer("b")]


@pytest.fixture
def project(db):
    return make_project()


def test_a_conversation_becomes_a_session_of_finished_runs(project):
    imported = bring_in(project, TALK, title="T", user_id="ann", tags=["x", "y"], metadata={"k": 1})
    session = Session.objects.get()
    assert (imported.outcome, imported.new_runs, imported.new_calls) == (ImportOutcome.IMPORTED, 2, 1)
    assert (session.public_id, session.title, session.user_id) == ("talk", "T", "ann")
    assert session.metadata == {"k": 1}
    assert sorted(session.tags.values_list("name", flat=True)) == ["x", "y"]
    assert (session.source, session.source_id, session.instructions) == ("openai", "talk", "Be brief.")
    assert set(session.runs.values_list("status", flat=True)) == {"completed"}
    assert session.summary_wanted_at == NOW
    assert stored_messages(session) == TALK
    assert_sums(session)


def test_importing_twice_changes_nothing(project):
    bring_in(project, TALK)
    before = list(Session.objects.values()), list(Run.objects.values()), list(Event.objects.values())
    imported = bring_in(project, TALK, now=LATER)
    assert (imported.outcome, imported.new_runs) == (ImportOutcome.UNCHANGED, 0)
    assert before == (list(Session.objects.values()), list(Run.objects.values()), list(Event.objects.values()))


@pytest.mark.parametrize("length", range(2, len(TALK)))
def test_a_conversation_that_grew_gets_only_what_is_new(project, length):
    first = bring_in(project, TALK[:length])
    kept = list(Event.objects.values_list("pk", flat=True))
    imported = bring_in(project, TALK, now=LATER)
    assert imported.outcome == ImportOutcome.EXTENDED
    assert first.new_runs + imported.new_runs == 2
    assert first.new_calls + imported.new_calls == 1
    assert set(kept) <= set(Event.objects.values_list("pk", flat=True))
    session = Session.objects.get()
    assert stored_messages(session) == TALK
    assert session.summary_wanted_at == LATER
    assert list(Event.objects.filter(kind="tool_call").values_list("parent__index", flat=True)) == [1]
    assert_sums(session)
    assert bring_in(project, TALK).outcome == ImportOutcome.UNCHANGED


def test_an_older_file_changes_and_removes_nothing(project):
    bring_in(project, TALK)
    for length in range(2, len(TALK)):
        assert bring_in(project, TALK[:length]).outcome == ImportOutcome.UNCHANGED
    assert stored_messages(Session.objects.get()) == TALK


def test_a_changed_history_is_reported_and_writes_nothing(project):
    bring_in(project, TALK)
    before = list(Session.objects.values()), list(Event.objects.values())
    with pytest.raises(HistoryChanged, match="Run 1 differs at its message 4"):
        bring_in(project, [*TALK[:4], answer("other"), *TALK[5:], user("new")])
    assert before == (list(Session.objects.values()), list(Event.objects.values()))


def test_what_people_changed_here_is_kept(project):
    imported = bring_in(project, TALK, title="Theirs", tags=["x"])
    changes = {"title": "Mine", "tags": ["y"], "instructions": "Be long."}
    update_session(session=imported.session, changes=changes, now=NOW)
    extended = bring_in(project, [*TALK, user("3")], title="New", tags=["z"])
    session = Session.objects.get()
    assert (session.title, session.instructions) == ("Mine", "Be long.")
    assert list(session.tags.values_list("name", flat=True)) == ["y"]
    assert extended.detail == "The instructions differ from the stored ones, which stay."


def test_runs_appended_here_stay_when_the_same_file_comes_again(project):
    imported = bring_in(project, TALK)
    append_runs(session=imported.session, runs=[simple_turn("here", "yes")], now=NOW)
    assert bring_in(project, TALK).outcome == ImportOutcome.UNCHANGED
    with pytest.raises(HistoryChanged, match="Run 3 differs at its message 1"):
        bring_in(project, [*TALK, user("elsewhere")])
    with pytest.raises(HistoryChanged, match="Run 2: the file has more"):
        bring_in(project, [*TALK, answer("and more")])


def test_a_run_that_is_being_answered_here_does_not_grow(project):
    imported = bring_in(project, TALK[:2])
    Run.objects.update(status="running")
    with pytest.raises(HistoryChanged, match=r"Run 1 .*, but it is still being answered here"):
        bring_in(project, TALK)
    assert Run.objects.get(session=imported.session).events.count() == 1


def test_a_failed_run_grows_and_keeps_its_mark_in_the_sums(project):
    imported = bring_in(project, TALK[:5])
    failed = replace(simple_turn("2", None), status=RunStatus.FAILED, error="down")
    append_runs(session=imported.session, runs=[failed], now=NOW)
    assert bring_in(project, TALK).outcome == ImportOutcome.EXTENDED
    assert list(Run.objects.order_by("position").values_list("error", flat=True)) == ["", "down"]
    assert_sums(imported.session)


def test_a_run_that_a_fork_shares_does_not_grow(project):
    imported = bring_in(project, TALK[:2])
    fork_session(session=imported.session, at=1, now=NOW)
    with pytest.raises(HistoryChanged, match="a fork shares it as it is"):
        bring_in(project, TALK)


def test_a_run_that_a_summary_covers_does_not_grow(project):
    imported = bring_in(project, TALK[:2])
    Summary.objects.create(
        session=imported.session,
        number=1,
        covers_through=1,
        status=SummaryStatus.COMPLETED,
        summarizer="extractive",
        created_at=NOW,
    )
    with pytest.raises(HistoryChanged, match="a summary covers it as it is"):
        bring_in(project, TALK)


def test_an_id_that_is_taken_or_illegal_stays_the_identity_but_is_not_the_address(project):
    create_session(project=project, public_id="talk", now=NOW)
    for name in ("talk", "no/path", "..", "x" * 201):
        imported = bring_in(project, TALK, id=name)
        assert imported.outcome == ImportOutcome.IMPORTED
        assert imported.session.public_id.startswith("ses_")
        assert imported.session.source_id == name
        assert bring_in(project, TALK, id=name).outcome == ImportOutcome.UNCHANGED


def test_a_row_without_id_is_known_again_by_what_it_says(project):
    imported = bring_in(project, TALK, id=None)
    assert imported.outcome == ImportOutcome.IMPORTED
    assert imported.session.public_id.startswith("ses_")
    assert bring_in(project, TALK, id=None).outcome == ImportOutcome.UNCHANGED
    assert bring_in(project, [*TALK, user("3")], id=None).outcome == ImportOutcome.IMPORTED


def test_projects_do_not_see_each_others_imports(project):
    assert bring_in(project, TALK).outcome == ImportOutcome.IMPORTED
    assert bring_in(make_project("other"), TALK).outcome == ImportOutcome.IMPORTED


def test_original_times_are_kept_and_the_order_is_by_position(project):
    times = [1_700_000_100, 1_700_000_000]
    bring_in(project, [user("1") | {"created_at": times[0]}, answer(), user("2") | {"created_at": times[1]}])
    session = Session.objects.get()
    runs = session.runs.order_by("position")
    assert [run.created_at.timestamp() for run in runs] == times
    assert session.created_at.timestamp() == times[0]
    assert session.updated_at == NOW


def test_times_that_are_missing_are_those_of_the_import(project):
    bring_in(project, TALK)
    assert set(Event.objects.values_list("created_at", flat=True)) == {NOW}


def test_bad_rows_are_invalid_with_their_reason(project):
    bad = try_row(project, {"id": "x", "messages": [user(), {"content": "y"}]})
    assert (bad.outcome, bad.title, bad.detail) == (ImportOutcome.INVALID, "x", "Message 2: it has no role.")
    assert try_row(project, 7).outcome == ImportOutcome.INVALID
    long_tag = try_row(project, {"messages": TALK, "tags": ["t" * 101]})
    assert (long_tag.outcome, long_tag.detail) == (ImportOutcome.INVALID, "A tag has 1 to 100 characters.")
    assert not Session.objects.exists()


def test_a_changed_history_is_a_row_of_the_report(project):
    try_row(project, {"id": "x", "messages": TALK})
    changed = try_row(project, {"id": "x", "messages": [user("?")]})
    assert changed.outcome == ImportOutcome.CHANGED
    assert changed.detail.startswith("Run 1 differs at its message 1.")


def test_case_37_nul_characters_never_fail_an_import(project):
    row = json.loads((CASES / "C37-messages.jsonl").read_text())
    imported = try_row(project, row)
    assert imported.outcome == ImportOutcome.IMPORTED
    assert "replaced by U+FFFD: 4." in imported.detail
    assert Event.objects.get(kind="tool_call").result == "head\ufffd\ufffdtail\x01\x1f\x7f"
    assert try_row(project, row).outcome == ImportOutcome.UNCHANGED


def test_case_38_empty_texts_are_stored_as_they_are(project):
    case = json.loads((CASES / "C38-empty-texts.json").read_text())
    messages = [message for run in case["input"]["runs"] for message in case_messages(run)]
    assert try_row(project, {"id": "c38", "messages": messages}).outcome == ImportOutcome.IMPORTED
    session = Session.objects.get()
    assert session.last_position == 5
    assert stored_messages(session) == messages


def case_messages(run):
    """Return the messages of a case's run."""
    yield {"role": "user", "content": run["input"]}
    for call in run["tool_calls"]:
        function = {"name": call["name"], "arguments": call["arguments"]}
        yield answer(None, tool_calls=[{"id": call["id"], "type": "function", "function": function}])
        yield result(call["result"], call["id"])
    extra = {"reasoning_content": run["reasoning"]} if "reasoning" in run else {}
    yield answer(run["output"], **extra)


@pytest.mark.django_db(transaction=True)
def test_imports_at_the_same_time_make_no_duplicates():
    project = make_project()
    outcomes = []
    rows = [prepared({"id": f"talk-{number}", "messages": TALK}) for number in range(10)]

    def bring_all_in():
        for row in rows:
            done = import_conversation(project=project, source="openai", conversation=row, now=NOW)
            outcomes.append(done.outcome)
        connection.close()

    threads = [threading.Thread(target=bring_all_in) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [ImportOutcome.IMPORTED] * 10 + [ImportOutcome.UNCHANGED] * 30
    assert Session.objects.count() == 10
    assert Run.objects.count() == 20


@pytest.mark.django_db(transaction=True)
def test_a_conversation_extended_at_the_same_time_has_each_run_once():
    project = make_project()
    bring_in(project, TALK[:3])
    longer = prepared({"id": "talk", "messages": TALK})
    outcomes = []

    def extend():
        done = import_conversation(project=project, source="openai", conversation=longer, now=LATER)
        outcomes.append(done.outcome)
        connection.close()

    threads = [threading.Thread(target=extend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [ImportOutcome.EXTENDED] + [ImportOutcome.UNCHANGED] * 3
    assert stored_messages(Session.objects.get()) == TALK


@pytest.mark.skipif(not REAL.exists(), reason=f"NOT RUN: {REAL.name} does not lie in ../shared/data")
@pytest.mark.django_db
def test_nothing_of_a_real_file_is_lost():
    project = make_project()
    given = {row["id"]: row for row in map(json.loads, REAL.read_text().split("\n")[:-1])}
    for row in given.values():
        assert try_row(project, row).outcome == ImportOutcome.IMPORTED
    assert Session.objects.count() == 100
    assert Run.objects.count() == 757
    assert Event.objects.filter(kind="tool_call").count() == 572
    for session in Session.objects.all():
        row = given[session.public_id]
        assert stored_messages(session) == [without_name_of_call(message) for message in row["messages"]]
        assert session.metadata == row["metadata"]
        assert_sums(session)
    assert given_names(given.values()) == stored_names()
    text_and_calls = Event.objects.filter(kind="message", role="assistant", calls__isnull=False).exclude(text="")
    assert text_and_calls.distinct().count() == 42
    newest = Run.objects.filter(position=F("session__last_position"))
    last_kinds = [run.events.order_by("index").values_list("kind", flat=True).last() for run in newest]
    assert last_kinds.count("tool_call") == 24


def without_name_of_call(message):
    return {name: value for name, value in message.items() if message["role"] != "tool" or name != "name"}


def given_names(rows):
    """Return how often each tool answered, in the file."""
    names = [message["name"] for row in rows for message in row["messages"] if message["role"] == "tool"]
    return sorted(names)


def stored_names():
    return sorted(Event.objects.filter(kind="tool_call").values_list("tool_name", flat=True))
