"""Conversations as lines of OpenAI messages, and what reading such a line again gives."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.domain.conversation_files import StoredConversation
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.export_formats.openai import write
from sessions_app.domain.file_formats.openai import conversation
from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall, Usage

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def line_of(*runs, **fields):
    return "".join(write(StoredConversation("s", lambda: iter(runs), **fields)))


def read_again(*runs, **fields):
    return conversation(json.loads(line_of(*runs, **fields)))


def calling(*calls):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}
            for call_id, arguments in calls
        ],
    }


def test_a_conversation_is_one_line_of_what_it_says():
    row = json.loads(line_of(simple_turn("Q", "A"), instructions="Be brief.", title="T", tags=("x",)))

    assert row == {
        "id": "s",
        "title": "T",
        "tags": ["x"],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Q"},
            {"role": "assistant", "content": "A"},
        ],
        "convoweb": {"runs": [{"messages": 2}]},
    }


def test_no_text_can_end_the_line():
    text = "a\nb\r\nc\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029d"

    line = line_of(simple_turn(text, text), instructions=text, title=text, metadata={text: text})

    assert line.splitlines(keepends=True) == [line]
    assert read_again(simple_turn(text, text)).runs == (simple_turn(text, text),)


def test_repeated_call_ids_come_back_as_they_were():
    messages = [
        {"role": "user", "content": "Q"},
        calling(("c", "{}"), ("c", "not json")),
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
        calling(("c", '{"b": 1, "a":2}')),
        {"role": "tool", "tool_call_id": "c", "content": "3"},
    ]
    run = turn(messages)

    assert json.loads(line_of(run))["messages"] == messages
    assert read_again(run).runs == (run,)


def test_what_messages_cannot_say_of_a_run_comes_back_too():
    run = NewRun(
        events=simple_turn("Q", None).events,
        status=RunStatus.FAILED,
        error="The stream broke.",
        model="gpt-4.1",
        usage=Usage(input=7, output=1),
        finish_reason="length",
        prompt_fingerprint="sha256:0",
        metadata={"trace": [1, None]},
        created_at=NOON,
    )

    assert read_again(run).runs == (run,)


def test_runs_are_parted_as_they_were_whoever_spoke():
    runs = (
        simple_turn("asked twice", None),
        simple_turn("and once more", "A"),
        NewRun(events=()),
        NewRun(events=(*simple_turn("Q", "A").events, Event(EventKind.MESSAGE, "And?", Role.USER))),
        NewRun(events=(Event(EventKind.MESSAGE, "a note in between", Role.SYSTEM),)),
    )

    assert read_again(*runs, instructions="Be brief.").runs == runs
    assert read_again(*runs, instructions="Be brief.").instructions == "Be brief."


def test_errors_of_calls_come_back_at_their_calls():
    asked = turn([{"role": "user", "content": "Q"}, calling(("a", "{}"), ("b", "{}"))])
    failed = ToolCall("b", "f", "{}", error="timeout")
    run = NewRun(events=(*asked.events[:-1], Event(EventKind.TOOL_CALL, tool=failed, parent=1)))

    assert read_again(run).runs == (run,)


def test_times_of_messages_that_differ_from_the_runs_come_back():
    question, answer = simple_turn("Q", "A").events
    later = Event(EventKind.MESSAGE, answer.text, Role.ASSISTANT, created_at=NOON.replace(minute=5))
    run = NewRun(events=(question, later), created_at=NOON)

    assert read_again(run).runs == (run,)


def test_an_open_run_comes_back_as_ended():
    run = NewRun(events=simple_turn("Q", None).events, status=RunStatus.RUNNING)

    assert json.loads(line_of(run))["convoweb"]["runs"][0]["status"] == "running"
    assert read_again(run).runs[0].status is RunStatus.COMPLETED


def test_a_session_without_runs_can_be_read_again():
    read = read_again(title="Empty")

    assert (read.title, read.runs, read.instructions) == ("Empty", (), "")


def test_instructions_in_several_messages_come_back_unless_they_were_changed():
    given_ = [{"role": "developer", "content": "One."}, {"role": "system", "content": "Two."}]
    first = conversation({"messages": [*given_, {"role": "user", "content": "Q"}]}).runs[0]

    assert json.loads(line_of(first, instructions="One.\n\nTwo."))["messages"][:2] == given_
    assert json.loads(line_of(first, instructions="Three."))["messages"][:2] == [
        {"role": "system", "content": "Three."},
        {"role": "user", "content": "Q"},
    ]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
CALLS = st.lists(st.tuples(st.sampled_from("abc"), TEXTS), min_size=1, max_size=3)
ANSWERS = st.builds(lambda text: {"role": "assistant", "content": text}, TEXTS)


@st.composite
def some_runs(draw):
    messages = [{"role": "user", "content": draw(TEXTS)}]
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            messages.append(draw(ANSWERS))
            continue
        calls = draw(CALLS)
        messages += [calling(*calls)]
        messages += [{"role": "tool", "tool_call_id": call_id, "content": draw(TEXTS)} for call_id, _ in calls]
    return turn(messages)


@given(st.lists(some_runs(), max_size=4), TEXTS)
def test_any_runs_come_back_as_they_were(runs, instructions):
    again = read_again(*runs, instructions=instructions)

    assert (again.runs, again.instructions) == (tuple(runs), instructions)


@pytest.mark.parametrize(
    ("told", "detail"),
    [
        ({}, r"must be a list"),
        ([1], "1 must be an object that says how many messages"),
        ([{"messages": -1}], "messages of its convoweb.runs 1 must be a whole number from 0"),
        ([{"messages": True}], "must be a whole number"),
        ([{"messages": 3}], "count more messages than it has"),
        ([{"messages": 2, "status": "lost"}], "must be one of pending"),
        ([{"messages": 2, "status": []}], "must be one of pending"),
        ([{"messages": 2, "usage": {"input": -1}}], "must be an object with whole numbers under cached"),
        ([{"messages": 2, "usage": {"other": 1}}], "must be an object with whole numbers under cached"),
        ([{"messages": 2, "metadata": []}], "must be an object"),
        ([{"messages": 2, "created_at": "soon"}], "must be a time"),
        ([{"messages": 2, "call_errors": {"0": 1}}], "must be an object with a text"),
        ([{"messages": 2, "x": 1}], "has 'x'; known are messages"),
    ],
)
def test_facts_that_cannot_be_are_refused(told, detail):
    row = json.loads(line_of(simple_turn("Q", "A"))) | {"convoweb": {"runs": told}}

    with pytest.raises(InvalidInput, match=detail):
        conversation(row)


def test_what_others_keep_under_that_name_is_kept_as_theirs():
    row = {"messages": [{"role": "user", "content": "Q"}], "convoweb": "theirs"}

    assert conversation(row).metadata == {"openai": {"convoweb": "theirs"}}
