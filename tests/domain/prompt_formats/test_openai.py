from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.prompt_formats.openai import left_out
from sessions_app.domain.transcript import Event, EventKind, Run, RunStatus
from sessions_app.domain.validity import validate
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, system, user


def messages(*runs: Run, query: str | None = "Go on.") -> list[Any]:
    reader = InMemoryTranscript(runs)
    prompt = build_prompt(reader=reader, settings=settings(), query=query)
    assert prompt.messages is not None
    follows = query is None and reader.open_run() is None
    assert validate(prompt.messages, PromptFormat.OPENAI, query_follows=follows) == []
    return list(prompt.messages)


def told(*runs: Run, query: str | None = None) -> list[tuple[str, Any]]:
    return [(message["role"], message["content"]) for message in messages(*runs, query=query)]


def test_parallel_calls_share_their_message_and_results_follow_in_its_order():
    sent = messages(
        run(
            user("Both?"),
            assistant("I look."),
            call("a", call_id="1", result="first", parent=1),
            call("b", '{"x": 1}', call_id="2", result="second", parent=1),
            assistant("Done."),
        )
    )
    assert sent[1] == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}},
            {"id": "2", "type": "function", "function": {"name": "b", "arguments": '{"x": 1}'}},
        ],
    }
    assert sent[2:4] == [
        {"role": "tool", "tool_call_id": "1", "content": "first"},
        {"role": "tool", "tool_call_id": "2", "content": "second"},
    ]
    assert sent[4] == {"role": "assistant", "content": "Done."}


def test_a_late_call_joins_the_message_that_made_it():
    events = [user("q"), assistant("x"), call(call_id="1", parent=1), assistant("y"), call(call_id="2", parent=1)]
    assert [len(message.get("tool_calls", ())) for message in messages(run(*events))] == [0, 2, 0, 0, 0, 0]


def test_repeated_call_ids_become_unique_on_both_sides():
    events = [user("q"), assistant(), call(parent=1), assistant(), call(parent=3), assistant("a")]
    sent = messages(run(*events))
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == ["call_1", "call_1-2"]


def test_a_call_without_its_message_gets_one():
    assert told(run(user("q"), call(), assistant("a"))) == [
        ("user", "q"),
        ("assistant", None),
        ("tool", "found"),
        ("assistant", "a"),
    ]


def test_several_user_messages_are_one_input_and_neighbouring_answers_one():
    events = [user("One."), user(""), user("Two."), assistant("a"), assistant(" "), assistant("b")]
    assert told(run(*events)) == [("user", "One.\n\nTwo."), ("assistant", "a\n\nb")]


def test_a_text_before_a_call_joins_the_call():
    events = [user("q"), assistant("I look."), assistant(), call(parent=2), assistant("a")]
    assert told(run(*events))[1] == ("assistant", "I look.")
    assert len(told(run(*events))) == 4


def test_a_run_that_ends_without_a_text_of_the_assistant_never_takes_the_next_ones_answer():
    ended_in_a_result = run(user("q"), assistant(), call(parent=1))
    unanswered = run(user("Think."), Event(EventKind.REASONING, "inner text"))
    assert told(ended_in_a_result, unanswered, exchange("one", "two"))[2:] == [
        ("tool", "found"),
        ("assistant", "[no answer]"),
        ("user", "Think."),
        ("assistant", "[no answer]"),
        ("user", "one"),
        ("assistant", "two"),
    ]


def test_a_run_without_input_starts_with_a_placeholder():
    assert told(run(assistant("Welcome."))) == [("user", "[empty message]"), ("assistant", "Welcome.")]
    assert told(run()) == [("user", "[empty message]"), ("assistant", "[no answer]")]


def test_reasoning_and_notes_are_never_sent():
    events = [user("q"), Event(EventKind.REASONING, "secret"), Event(EventKind.NOTE, "note"), assistant("a")]
    assert told(run(*events)) == [("user", "q"), ("assistant", "a")]


def test_a_system_message_inside_a_run_is_marked_user_text():
    assert told(run(user("q"), assistant("a"), system("Be brief."), assistant("b"))) == [
        ("user", "q"),
        ("assistant", "a"),
        ("user", "[system message]\nBe brief."),
        ("assistant", "b"),
    ]
    assert told(run(system("Be brief."), user("q"), assistant("a")))[0] == ("user", "[system message]\nBe brief.\n\nq")


def test_failed_and_cancelled_runs_end_in_a_mark():
    half = [user("q"), assistant("Once upon")]
    assert told(run(*half, status=RunStatus.CANCELLED))[-1] == ("assistant", "Once upon\n\n[interrupted]")
    failed = run(user("q"), status=RunStatus.FAILED, error=" no model ")
    assert told(failed)[-1] == ("assistant", "[failed: no model]")


def test_images_are_sent_in_place_among_the_texts():
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    content = ({"type": "text", "text": "Before."}, image, {"type": "text", "text": " "})
    (first, *_) = messages(run(user("Before.", content=content), assistant("a")))
    assert first["content"] == [{"type": "text", "text": "Before."}, image]


def test_of_the_open_run_finished_steps_are_sent_and_a_waiting_call_is_not():
    steps = [user("Both?"), assistant("I look."), call("a", call_id="1", parent=1)]
    waiting = [assistant("Then:"), call("b", result=None, parent=3)]
    assert told(run(*steps, status=RunStatus.RUNNING))[-1] == ("tool", "found")
    assert told(run(*steps, *waiting, status=RunStatus.RUNNING))[-1] == ("tool", "found")
    parallel = [user("Both?"), assistant(), call("a", parent=1), call("b", result=None, parent=1)]
    sent = messages(run(*parallel, status=RunStatus.RUNNING), query=None)
    assert [each["function"]["name"] for each in sent[1]["tool_calls"]] == ["a"]


@pytest.mark.parametrize("events", [[], [assistant("Hel")], [call(result=None)]])
def test_an_open_run_without_an_input_is_asked_all_the_same(events: list[Event]):
    assert told(exchange("one", "two"), run(*events, status=RunStatus.RUNNING)) == [
        ("user", "one"),
        ("assistant", "two"),
        ("user", "[empty message]"),
    ]


def test_what_is_not_sent_of_a_run_is_named():
    note, reasoning = Event(EventKind.NOTE, "VIP"), Event(EventKind.REASONING, "hm")
    waiting = [assistant("Then:"), call(result=None, parent=1)]
    assert left_out(run(user("q"), assistant("a"), call(parent=1))) == ""
    assert left_out(run(user("q"), note, assistant("a"))) == "without its notes"
    assert left_out(run(user("q"), reasoning, note, assistant("a"))) == "without its notes and reasoning"
    assert left_out(run(user("q"), call(), assistant("Hel"), status=RunStatus.RUNNING)) == "without its last words"
    assert left_out(run(user("q"), *waiting, reasoning, status=RunStatus.RUNNING)) == (
        "without its unanswered calls, last words and reasoning"
    )
    assert left_out(run(user("q"), assistant(), call(parent=1), status=RunStatus.PENDING)) == ""
