from sessions_app.domain.transcript import Event, EventKind
from tests.domain.fakes.transcripts import assistant, call, exchange, run, user
from tests.domain.strategies.prompts import build, failed, fates, numbered, sent


def test_it_sends_the_first_input_the_newest_answered_run_and_a_newer_input():
    prompt = build([*numbered(5), failed("q6")], strategy="task")
    assert sent(prompt) == [
        ("user", "q1"),
        ("assistant", "[answer not shown]\n\n[3 runs not shown]"),
        ("user", "q5"),
        ("assistant", "a5"),
        ("user", "q6"),
        ("assistant", "[failed: no model]"),
        ("user", "Go on."),
    ]
    assert [each[:3] for each in fates(prompt)] == [(1, 1, "kept"), (2, 4, "skipped"), (5, 5, "kept"), (6, 6, "kept")]


def test_an_answered_newest_run_is_its_own_input():
    assert sent(build(numbered(3), strategy="task"))[2:] == [("user", "q3"), ("assistant", "a3"), ("user", "Go on.")]


def test_failed_calls_are_left_out_and_good_ones_stay_paired():
    calls = [
        call("search", result="found", call_id="good", parent=1),
        call("search", result=None, error="boom", call_id="bad", parent=1),
        call("search", result='{"status": "error", "why": "down"}', call_id="worse", parent=1),
        call("search", result='{"status": "ok"}', call_id="fine", parent=1),
        call("search", result="status: error", call_id="words", parent=1),
    ]
    prompt = build([run(user("q1"), assistant(), *calls, assistant("a1"))], strategy="task")
    assert prompt.messages is not None
    assert [each["id"] for each in prompt.messages[1]["tool_calls"]] == ["good", "fine", "words"]
    assert [content for role, content in sent(prompt) if role == "tool"] == [
        "found",
        '{"status": "ok"}',
        "status: error",
    ]
    assert fates(prompt) == [(1, 1, "kept", "without its 2 failed calls")]


def test_of_an_assistant_that_only_made_a_failed_call_nothing_blank_is_sent():
    bad = call(result=None, error="boom", parent=1)
    prompt = build([run(user("q1"), assistant(), bad, assistant("a1"))], strategy="task")
    assert sent(prompt) == [("user", "q1"), ("assistant", "a1"), ("user", "Go on.")]
    assert fates(prompt) == [(1, 1, "kept", "without its 1 failed call")]


def test_reasoning_that_led_to_a_failed_call_alone_goes_with_it():
    def thought(content: str) -> Event:
        part = {"type": "reasoning", "summary": [], "encrypted_content": content}
        return Event(EventKind.REASONING, content=({"type": "opaque", "format": "responses", "part": part},))

    bad, good = call(parent=1, error="boom", result=None), call(parent=1)
    spoken = [user("q"), assistant()]

    def reasoning(*steps: Event) -> list[str]:
        prompt = build([run(*spoken, *steps, assistant("done"))], strategy="task", format="responses")
        return [item["encrypted_content"] for item in prompt.messages or () if item.get("type") == "reasoning"]

    assert reasoning(thought("A"), bad) == []
    assert reasoning(thought("A"), thought("B"), bad) == []
    assert reasoning(thought("A"), bad, good) == ["A"]
    assert reasoning(thought("A"), bad, thought("B"), good) == ["B"]
    assert reasoning(thought("A"), bad, thought("B")) == ["B"]
    assert reasoning(thought("A"), good) == ["A"]


def test_calls_keep_their_messages_when_others_go():
    events = [
        user("q1"),
        assistant("first"),
        call(result=None, error="boom", call_id="bad", parent=1),
        assistant("second"),
        call(call_id="good", parent=3),
        assistant("a1"),
    ]
    prompt = build([run(*events)], strategy="task")
    assert [role for role, _ in sent(prompt)] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent(prompt)[1] == ("assistant", "first\n\nsecond")


def test_one_run_is_sent_once():
    assert sent(build([exchange("q1", "a1")], strategy="task")) == [
        ("user", "q1"), ("assistant", "a1"), ("user", "Go on."),
    ]  # fmt: skip
