"""chuk's sessions: which files they are, and a session's conversation."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats import detect_format
from sessions_app.domain.file_formats.chuk import CHUK, conversation
from sessions_app.domain.transcript import EventKind, RunStatus, Usage

SAMPLE = Path(__file__).parents[4] / "shared" / "formats" / "chuk" / "chuk_small.json"


def event(message, source="llm", kind="message", **more):
    return {"message": message, "source": source, "type": kind, **more}


def session(*events, **more):
    return {"id": "s", "metadata": {}, "parent_id": None, "child_ids": [], "events": list(events), **more}


def read(value):
    [found] = CHUK.rows(io.BytesIO(json.dumps(value).encode()), "x")
    assert not found.error
    return conversation(found.value)


def said(run):
    return [(str(each.role or each.kind), each.text) for each in run.events]


@pytest.mark.skipif(not SAMPLE.exists(), reason=f"NOT RUN: {SAMPLE.name} does not lie in ../shared/formats")
def test_a_stored_session_is_read_with_times_tokens_and_model():
    data = SAMPLE.read_bytes()
    assert detect_format(data, "x").name == "chuk"
    read_session = read(json.loads(data))
    [run] = read_session.runs
    assert said(run) == [("user", "What is a sextant?"), ("assistant", "A tool that measures angles at sea.")]
    assert [each.created_at for each in run.events] == [
        datetime(2026, 11, 1, 10, 0, 0, tzinfo=UTC),
        datetime(2026, 11, 1, 10, 0, 5, tzinfo=UTC),
    ]
    assert (run.usage, run.model) == (Usage(input=6, output=9), "gpt-4o-mini")
    assert (read_session.given_id, read_session.source_id, read_session.parent_source_id) == ("ch-1", "ch-1", "")
    assert read_session.created_at == datetime(2026, 11, 1, 10, tzinfo=UTC)


def test_a_list_of_sessions_is_recognized_and_read_one_by_one():
    data = json.dumps([session(event("Hello", "user")), session(id="t")]).encode()
    assert detect_format(data, "x").name == "chuk"
    assert [found.value["id"] for found in CHUK.rows(io.BytesIO(data), "x")] == ["s", "t"]


def test_each_user_message_behind_anything_else_begins_a_run_and_leading_system_messages_are_the_instructions():
    read_session = read(
        session(
            event("Be brief.", "system"),
            event("One", "user"),
            event("and two", "user"),
            event("Yes"),
            event("Mind the gap", "system"),
            event("Three", "user"),
        )
    )
    assert read_session.instructions == "Be brief."
    assert [said(run) for run in read_session.runs] == [
        [("user", "One"), ("user", "and two"), ("assistant", "Yes"), ("system", "Mind the gap")],
        [("user", "Three")],
    ]


def test_calls_stand_under_the_message_that_made_them_and_others_under_an_empty_one():
    call = {"tool_name": "find", "arguments": {"to": "sea"}, "result": {"at": "22:10"}}
    read_session = read(
        session(
            event("A train?", "user", id="u"),
            event("Let me see.", id="a"),
            event(call, "system", "tool_call", id="c1", metadata={"parent_event_id": "a", "call_id": "x"}),
            event({"tool": "weigh", "error": "broken"}, "system", "tool_call", id="c2"),
            event({"tool": "weigh", "arguments": "23", "result": "kg"}, "system", "tool_call", id="c3"),
        )
    )
    _, answer, found, empty, broken, weighed = read_session.runs[0].events
    assert (found.parent, broken.parent, weighed.parent) == (1, 3, 3)
    assert (answer.text, empty.text, str(empty.role)) == ("Let me see.", "", "assistant")
    assert (found.tool.call_id, found.tool.name) == ("x", "find")
    assert (found.tool.arguments, found.tool.result) == ('{"to": "sea"}', '{"at": "22:10"}')
    assert (found.tool.arguments_were_text, found.tool.result_was_text) == (False, False)
    assert (broken.tool.call_id, broken.tool.result, broken.tool.error) == ("c2", None, "broken")
    assert (weighed.tool.arguments, weighed.tool.result, weighed.tool.result_was_text) == ("23", "kg", True)


def test_summaries_and_references_are_notes_of_the_message_that_they_name():
    read_session = read(
        session(
            event("Hello", "user", id="u"),
            event("Hi", id="a"),
            event({"note": "greeted"}, "system", "summary", metadata={"parent_event_id": "a"}),
            event("doc 5", "system", "reference"),
        )
    )
    summary, reference = read_session.runs[0].events[2:]
    assert (summary.kind, summary.text, summary.parent) == (EventKind.NOTE, "greeted", 1)
    assert (reference.content, reference.text, reference.parent) == (({"type": "reference"},), "doc 5", None)


def test_runs_that_failed_there_are_failed_here_and_open_ones_are_completed():
    runs = [{"id": "f", "status": "failed"}, {"id": "o", "status": "running"}]
    read_session = read(
        session(event("a", "user", task_id="f"), event("b"), event("c", "user", task_id="o"), runs=runs)
    )
    assert [run.status for run in read_session.runs] == [RunStatus.FAILED, RunStatus.COMPLETED]
    assert read_session.metadata == {"chuk": {"runs": runs}}


def test_properties_are_the_metadata_and_what_is_more_is_kept_beside_them():
    read_session = read(session(parent_id="p", metadata={"properties": {"channel": "web"}}, state={"x": 1}))
    assert read_session.metadata == {"channel": "web", "chuk": {"parent_id": "p", "state": {"x": 1}}}
    assert (read_session.parent_source_id, read_session.runs) == ("p", ())


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([], "It must be a session: an object with an id and events."),
        ({"id": "s"}, "It has no events: a list of them is needed."),
        (session(event("a"), 5), "Event 2 must be an object with a message, a source and a type."),
        (session(event("a", [])), "Event 1: its source must be one of user, llm, system."),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(row, reason):
    with pytest.raises(InvalidInput) as refusal:
        conversation(row)
    assert refusal.value.detail == reason


def test_hostile_sessions_are_read():
    read_session = read(
        session(
            event("a\0\ud800", "user", timestamp="never", token_usage={"prompt_tokens": 2**40, "model": []}),
            event({"content": None}, metadata="x", token_usage={"prompt_tokens": True}),
            event([1], "system", "tool_call", metadata=[]),
            event("x", "system", ["odd"]),
            metadata="x",
            runs=[5, {"status": {}}],
        )
    )
    [run] = read_session.runs
    assert [each.text for each in run.events] == ["a\ufffd\ufffd", "", "", "", "x"]
    assert (run.usage, run.model, run.events[3].tool.result) == (Usage(), "", "[1]")
    assert read_session.notes == ("Characters that cannot be stored, replaced by U+FFFD: 2.",)
