"""Messages in, runs out, messages back."""

import json
from datetime import UTC, datetime

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.openai_messages import conversation, simple_turn, turn
from sessions_app.domain.openai_writing import to_messages
from sessions_app.domain.transcript import EventKind, Role, RunStatus

SYSTEM = {"role": "system", "content": "Be brief."}


def user(text="Hello"):
    return {"role": "user", "content": text}


def answer(text="Hi", **fields):
    return {"role": "assistant", "content": text, **fields}


def call(call_id="c1", name="look_up", arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls, content=None, **fields):
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **fields}


def result(call_id="c1", content="found", **fields):
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


def events(run):
    return [(event.kind, event.role, event.text) for event in run.events]


def tools(run):
    return [event.tool for event in run.events if event.tool]


def round_trip(messages):
    instructions, runs = conversation(messages)
    return to_messages(runs, instructions=instructions)


def test_leading_system_messages_become_the_instructions():
    instructions, runs = conversation([SYSTEM, {"role": "developer", "content": "In German."}, user(), answer()])
    assert instructions == "Be brief.\n\nIn German."
    assert len(runs) == 1


def test_a_user_message_behind_anything_else_opens_a_run():
    _, runs = conversation([user("a"), user("b"), answer("c"), user("d"), answer("e"), answer("f"), user("g")])
    assert [[event.text for event in run.events] for run in runs] == [["a", "b", "c"], ["d", "e", "f"], ["g"]]


def test_what_comes_before_the_first_user_message_is_a_run_without_input():
    _, runs = conversation([SYSTEM, answer("Welcome"), user(), answer()])
    assert events(runs[0]) == [(EventKind.MESSAGE, Role.ASSISTANT, "Welcome")]
    assert len(runs) == 2


def test_runs_are_completed_even_if_a_call_waits_for_its_result():
    _, runs = conversation([user(), calling(call())])
    assert runs[0].status is RunStatus.COMPLETED
    assert tools(runs[0])[0].result is None


def test_text_and_parallel_calls_become_one_message_and_its_children():
    _, runs = conversation(
        [user(), calling(call("x"), call("y"), content="Looking."), result("y", "2"), result("x", "1")]
    )
    message, first, second = runs[0].events[1:]
    assert message.text == "Looking."
    assert (first.parent, second.parent) == (1, 1)
    assert [tool.result for tool in tools(runs[0])] == ["1", "2"]


def test_arguments_and_results_stay_the_very_text_that_came_in():
    odd = '{ "b":1,\n"a": "cut off he'
    _, runs = conversation([user(), calling(call(arguments=odd)), result(content=" [1 ] ")])
    assert (tools(runs[0])[0].arguments, tools(runs[0])[0].result) == (odd, " [1 ] ")


def test_arguments_and_results_that_are_no_text_become_json_and_say_so():
    messages = [user(), calling(call(arguments={"b": 1, "a": "ü"})), result(content=[{"type": "text", "text": "r"}])]
    [tool] = tools(conversation(messages)[1][0])
    assert (tool.arguments, tool.arguments_were_text) == ('{"b": 1, "a": "ü"}', False)
    assert (json.loads(tool.result), tool.result_was_text) == ([{"type": "text", "text": "r"}], False)
    assert round_trip(messages) == messages


def test_a_result_joins_the_nearest_earlier_unanswered_call_of_its_id():
    _, runs = conversation(
        [user(), calling(call(arguments="1")), result(content="a"), calling(call(arguments="2")), result(content="b")]
    )
    assert [(tool.arguments, tool.result) for tool in tools(runs[0])] == [("1", "a"), ("2", "b")]


def test_results_of_calls_of_one_message_that_share_an_id_are_joined_in_order():
    _, runs = conversation(
        [user(), calling(call(arguments="1"), call(arguments="2")), result("c1", "a"), result("c1", "b")]
    )
    assert [(tool.arguments, tool.result) for tool in tools(runs[0])] == [("1", "a"), ("2", "b")]


def test_a_late_result_joins_its_call_in_an_earlier_run():
    _, runs = conversation([user(), calling(call()), user("Still there?"), result(), answer()])
    assert tools(runs[0])[0].result == "found"
    assert [event.text for event in runs[1].events] == ["Still there?", "Hi"]


def test_a_result_without_a_call_is_kept_under_an_empty_message_and_comes_back():
    messages = [user(), answer("Done."), result("gone", "orphan", name="look_up"), answer()]
    run = conversation(messages)[1][0]
    assert [(tool.call_id, tool.name, tool.result) for tool in tools(run)] == [("gone", "look_up", "orphan")]
    assert run.events[3].parent == 2
    assert run.events[2].text == ""
    assert to_messages([run]) == [user(), answer("Done."), result("gone", "orphan"), answer()]


def test_empty_and_missing_contents_are_told_apart():
    messages = [user(""), answer(None), user(), answer(""), calling(call(), content=""), result(content="")]
    assert round_trip(messages) == messages


def test_content_in_parts_is_kept_and_its_text_derived():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "What"}, picture, {"type": "text", "text": "is it?"}]}
    ]
    event = conversation(messages)[1][0].events[0]
    assert event.text == "What\nis it?"
    assert picture in (event.content or ())
    assert round_trip(messages) == messages


def test_a_refusal_is_what_the_assistant_said():
    messages = [user(), {"role": "assistant", "content": None, "refusal": "I cannot."}]
    event = conversation(messages)[1][0].events[1]
    assert (event.text, event.content) == ("I cannot.", ({"type": "refusal", "refusal": "I cannot."},))
    assert round_trip(messages) == messages


def test_nothing_a_message_says_is_lost():
    custom = {"id": "k", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}, "index": 3}
    messages = [
        {"role": "developer", "content": "Be brief.", "name": "boss"},
        {"role": "user", "content": "Hello", "name": "ann"},
        calling(custom, call("f") | {"function": {"name": "g", "arguments": "", "strict": True}}, weight=0),
        result("k", "files", name="other"),
        result("f", "x", cost=0.5),
        {"role": "system", "content": "Hurry."},
        answer(reasoning_content="hm", audio={"id": "a1"}),
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "legacy"},
    ]
    assert round_trip(messages) == messages


def test_nulls_and_empty_lists_say_nothing():
    messages = [user(), answer(refusal=None, tool_calls=[], annotations=[], function_call=None)]
    assert round_trip(messages) == [user(), answer()]


@pytest.mark.parametrize("given", ["2026-01-05T10:00:00Z", "2026-01-05T11:00:00+01:00", 1767607200, 1767607200.0])
def test_times_of_messages_are_read(given):
    _, runs = conversation([user() | {"created_at": given}, answer()])
    assert runs[0].created_at == runs[0].events[0].created_at == datetime(2026, 1, 5, 10, tzinfo=UTC)
    assert runs[0].metadata == {}


@pytest.mark.parametrize("given", ["yesterday", 1e300, -1, True, {"at": 1}])
def test_times_that_cannot_be_read_stay_as_they_are(given):
    messages = [user() | {"created_at": given}]
    assert conversation(messages)[1][0].created_at is None
    assert round_trip(messages) == messages


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Hi", "Message 2: it must be an object with a role and a content."),
        ({"content": "Hi"}, "Message 2: it has no role."),
        ({"role": "bot", "content": "Hi"}, 'Message 2: the role "bot" is not one of system, developer, user,'),
        ({"role": ["user"], "content": "Hi"}, 'Message 2: the role ["user"] is not one of'),
        ({"role": "user", "content": 7}, "Message 2: its content must be a text, a list of parts or null."),
        ({"role": "user", "content": ["x"]}, "Message 2: part 1 of its content must be an object with a type."),
        ({"role": "user", "content": [{"type": "text"}]}, "Message 2: part 1 of its content has no text."),
        (calling("c1"), "Message 2: tool call 1 must be an object with a function or a custom tool and its type."),
        (calling(call(), call(name=7)), "Message 2: tool call 2 needs a text as its name."),
        (answer(tool_calls={}), "Message 2: its tool_calls must be a list."),
        (answer(function_call="f"), "Message 2: tool call 1 must be an object"),
        ({"role": "tool", "content": "x"}, "Message 2: it needs a text as its tool_call_id."),
        (result(name=3), "Message 2: it needs a text as its name."),
    ],
)
def test_it_refuses_a_bad_message_by_number_and_reason(message, reason):
    with pytest.raises(InvalidInput) as caught:
        conversation([user(), message])
    assert caught.value.detail.startswith(reason)
    assert caught.value.errors[0].pointer.startswith("/messages/1")


def test_a_turn_is_one_run():
    run = turn([user("a"), user("b"), calling(call()), result(), answer()])
    assert len(run.events) == 5


def test_a_turn_may_begin_with_the_answer():
    assert events(turn([answer("Hi")])) == [(EventKind.MESSAGE, Role.ASSISTANT, "Hi")]


@pytest.mark.parametrize(
    ("messages", "pointer"),
    [([], "/messages"), ([SYSTEM, user()], "/messages/0/role"), ([user(), answer(), user()], "/messages/2/role")],
)
def test_it_refuses_what_is_not_one_turn(messages, pointer):
    with pytest.raises(InvalidInput) as caught:
        turn(messages)
    assert caught.value.errors[0].pointer == pointer


def test_a_simple_turn_is_a_question_and_its_answer():
    assert [event.text for event in simple_turn("Q", "A").events] == ["Q", "A"]
    assert [event.text for event in simple_turn("", None).events] == [""]


def test_a_simple_turn_needs_one_of_both():
    with pytest.raises(InvalidInput):
        simple_turn(None, None)


def test_a_conversation_of_nothing_has_no_runs():
    assert conversation([]) == ("", [])


@pytest.mark.parametrize("kind", [[], {}, [[]], 5, True, None, "tool"])
def test_a_call_of_a_type_that_is_none_is_refused(kind):
    with pytest.raises(InvalidInput, match="Message 2: tool call 1 must be an object with a function or a custom tool"):
        turn([user(), calling({"id": "c", "type": kind, "function": {"name": "f", "arguments": "{}"}})])


def test_what_messages_say_beyond_events_is_no_metadata():
    run = turn([user(), answer(name="helper")])

    assert (run.metadata, run.extras) == ({}, {"1": {"name": "helper"}})
