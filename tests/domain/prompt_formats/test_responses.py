import pytest

from sessions_app.domain.prompt_formats import responses
from sessions_app.domain.transcript import Event, EventKind
from tests.domain.fakes.transcripts import assistant, call, exchange, run, user
from tests.domain.prompt_formats.conversations import (
    PHOTO,
    PICTURE,
    SYSTEM_TEXT,
    TAIL_TEXT,
    built,
    full,
    open_with_an_answered_call,
    pictures,
    reasoning,
    sent,
    system_behind_a_result,
    two_calls_in_a_row,
)

SUMMARY = [{"type": "summary_text", "text": "They want both."}]
REASONING = {"type": "reasoning", "id": "rs_1", "summary": SUMMARY, "encrypted_content": "gAAAAABo"}
SENT_REASONING = {"type": "reasoning", "summary": SUMMARY, "encrypted_content": "gAAAAABo"}


def asked(call_id: str, name: str = "look_up", arguments: str = "{}") -> dict[str, str]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def answered(call_id: str, output: str = "found") -> dict[str, str]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def test_everything_in_its_place():
    prompt = full("responses")
    assert prompt.system is None
    assert list(prompt.messages or ()) == [
        {"role": "system", "content": SYSTEM_TEXT},
        {"role": "user", "content": "Both?"},
        {"role": "assistant", "content": "I look."},
        asked("1", "a", '{"x": 1}'),
        asked("1-2", "b", '{"_raw": "not json"}'),
        answered("1", "first"),
        answered("1-2", "[error] down"),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": TAIL_TEXT},
    ]


def test_the_tokens_are_those_of_the_texts_and_the_frames():
    assert built("responses", exchange("Hi", "Hello")).tokens.total == 3 + 5 + 5 + 7
    # A call is 3 + "look_up" 2 + "{}" 1 + 8, an output 3 + "found" 1; then "[no answer]" and the query.
    silent = run(user("Hi"), assistant(), call(parent=1))
    assert built("responses", silent).tokens.total == 3 + 5 + 14 + 4 + 8 + 7


def test_a_call_without_a_text_is_an_item_alone():
    assert sent("responses", two_calls_in_a_row(), query=None) == [
        {"role": "user", "content": "q"},
        asked("call_1", "a"),
        answered("call_1"),
        asked("call_1-2", "b"),
        answered("call_1-2"),
        {"role": "assistant", "content": "[no answer]"},
    ]


def test_a_system_message_behind_a_result_is_marked_user_text():
    items = sent("responses", system_behind_a_result())
    assert items[2:4] == [answered("call_1"), {"role": "user", "content": "[system message]\nBe brief."}]


def test_images_are_parts_of_the_users_message():
    assert sent("responses", pictures())[0]["content"] == [
        {"type": "input_text", "text": "Before."},
        {"type": "input_image", "image_url": PICTURE},
        {"type": "input_image", "image_url": PHOTO, "detail": "low"},
        {"type": "input_image", "image_url": "file:///etc/passwd"},
        {"type": "input_text", "text": "After."},
    ]


def test_the_open_run_ends_with_the_outputs_that_there_are():
    items = sent("responses", open_with_an_answered_call(), query=None)
    assert items[1:] == [asked("1", "a"), answered("1")]


def test_reasoning_goes_back_without_its_id_before_the_item_that_it_led_to():
    thought = run(
        user("q"),
        reasoning("responses", REASONING),
        assistant(),
        call(parent=2),
        reasoning("responses", REASONING),
        assistant("a"),
    )
    assert sent("responses", thought)[1:] == [
        SENT_REASONING,
        asked("call_1"),
        answered("call_1"),
        SENT_REASONING,
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "Go on."},
    ]


def test_of_two_in_a_row_the_second_is_sent():
    first = REASONING | {"encrypted_content": "gBBB"}
    thought = run(user("q"), reasoning("responses", first, REASONING), assistant("a"))
    assert sent("responses", thought)[1:3] == [SENT_REASONING, {"role": "assistant", "content": "a"}]


@pytest.mark.parametrize(
    "part", [{"type": "reasoning", "id": "rs_1", "summary": []}, {"type": "message", "encrypted_content": "x"}, {}]
)
def test_reasoning_that_cannot_be_read_again_is_not_sent(part: dict[str, object]):
    thought = run(user("q"), reasoning("responses", part), assistant("a"))
    assert sent("responses", thought)[1] == {"role": "assistant", "content": "a"}


@pytest.mark.parametrize("format", ["openai", "anthropic", "gemini"])
def test_reasoning_is_sent_in_no_other_format(format: str):
    thought = run(user("q"), reasoning("responses", REASONING), assistant("a"))
    assert "They want both." not in str(sent(format, thought))


def test_reasoning_is_shown_by_its_summary():
    thought = run(user("q"), reasoning("responses", REASONING), assistant("a"))
    shown = [(segment.role, segment.text) for segment in built("responses", thought).segments]
    assert shown[1] == ("reasoning", "They want both.")


def test_a_run_of_many_steps_of_reasoning_is_looked_through_once():
    class Incomparable(Event):
        def __eq__(self, other: object) -> bool:
            raise AssertionError("Comparing each with each takes ever longer.")

        __hash__ = None  # type: ignore[assignment]

    steps = [
        Incomparable(EventKind.REASONING),
        Incomparable(EventKind.REASONING, content=reasoning("responses", REASONING).content),
    ]
    assert responses.left_out(run(user("q"), *steps, assistant("a"))) == "without its reasoning"
    assert responses.left_out(run(user("q"), steps[1], assistant("a"))) == ""
