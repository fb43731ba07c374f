import pytest

from sessions_app.domain.transcript import RunStatus
from tests.domain.fakes.transcripts import assistant, call, exchange, run, user
from tests.domain.prompt_formats.conversations import (
    PHOTO,
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

THINKING = {"type": "thinking", "thinking": "They want both.", "signature": "Er8CCkYIBxgC"}
REDACTED = {"type": "redacted_thinking", "data": "EmwKAhgBEgy3"}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def used(call_id: str) -> dict[str, str]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "found"}


def test_everything_in_its_place():
    prompt = full("anthropic")
    assert prompt.system == SYSTEM_TEXT
    assert list(prompt.messages or ()) == [
        {"role": "user", "content": [text("Both?")]},
        {
            "role": "assistant",
            "content": [
                text("I look."),
                {"type": "tool_use", "id": "1", "name": "a", "input": {"x": 1}},
                {"type": "tool_use", "id": "1-2", "name": "b", "input": {"_raw": "not json"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "first"},
                {"type": "tool_result", "tool_use_id": "1-2", "content": "[error] down", "is_error": True},
            ],
        },
        {"role": "assistant", "content": [text("Done.")]},
        {"role": "user", "content": [text(TAIL_TEXT)]},
    ]


def test_the_tokens_are_those_of_the_texts_and_the_frames():
    # Three for the prompt; 3 + 1 + the text for each message: "Hi", "Hello", "Go on." are 1, 1 and 3 tokens.
    assert built("anthropic", exchange("Hi", "Hello")).tokens.total == 3 + 5 + 5 + 7


def test_segments_show_results_and_texts_by_themselves():
    shown = [(segment.role, segment.text, segment.calls) for segment in full("anthropic").segments]
    assert shown[3:] == [
        ("user", "Both?", ()),
        ("assistant", "I look.", (("a", '{"x": 1}'), ("b", '{"_raw": "not json"}'))),
        ("tool", "first", ()),
        ("tool", "[error] down", ()),
        ("assistant", "Done.", ()),
        ("user", "[context]\nA fact.", ()),
        ("user", "Go on.", ()),
    ]


def test_without_anything_to_say_to_the_system_there_is_no_system_text():
    assert built("anthropic", exchange("Hi", "Hello")).system is None


def test_text_behind_results_is_in_their_message_behind_them():
    assert sent("anthropic", system_behind_a_result())[2] == {
        "role": "user",
        "content": [used("call_1"), text("[system message]\nBe brief.")],
    }


def test_calls_in_a_row_each_have_their_results_between():
    messages = sent("anthropic", two_calls_in_a_row(), query=None)
    assert [[block["type"] for block in message["content"]] for message in messages] == [
        ["text"],
        ["tool_use"],
        ["tool_result"],
        ["tool_use"],
        ["tool_result"],
        ["text"],
    ]
    assert messages[-1] == {"role": "assistant", "content": [text("[no answer]")]}


def test_images_are_sent_as_data_or_by_their_address_and_others_named():
    assert sent("anthropic", pictures())[0]["content"] == [
        text("Before."),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"type": "image", "source": {"type": "url", "url": PHOTO}},
        text("[image_url not sent]"),
        text("After."),
    ]


def test_the_open_run_ends_with_the_results_that_there_are():
    messages = sent("anthropic", open_with_an_answered_call(), query=None)
    assert [block["name"] for block in messages[1]["content"]] == ["a"]
    assert messages[2] == {"role": "user", "content": [used("1")]}
    assert len(messages) == 3


@pytest.mark.parametrize("part", [THINKING, REDACTED])
def test_thinking_goes_back_unchanged_before_the_call_that_it_led_to(part: dict[str, str]):
    thought = run(user("q"), reasoning("anthropic", part), assistant("I look."), call(parent=2), assistant("a"))
    (_, asked, *_) = sent("anthropic", thought)
    assert asked["content"][:2] == [part, text("I look.")]
    assert asked["content"][2]["type"] == "tool_use"


def test_thinking_that_led_to_nothing_is_not_sent():
    behind = run(user("q"), assistant("a"), reasoning("anthropic", THINKING))
    before_the_user = run(user("q"), reasoning("anthropic", THINKING), user("more"), assistant("a"))
    before_silence = run(user("q"), reasoning("anthropic", THINKING), assistant(""))
    for each in (behind, before_the_user, before_silence):
        assert "thinking" not in str(sent("anthropic", each))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "thinking", "thinking": "Hm.", "signature": " "},
        {"type": "redacted_thinking"},
        {"type": "text", "text": "SECRET"},
        THINKING | {"more": "x"},
    ],
)
def test_thinking_that_anthropic_would_refuse_is_not_sent(part: dict[str, str]):
    thought = run(user("q"), reasoning("anthropic", part), assistant("a"))
    assert sent("anthropic", thought)[1]["content"] == [text("a")]


@pytest.mark.parametrize("format", ["openai", "responses", "gemini"])
def test_thinking_is_sent_in_no_other_format(format: str):
    thought = run(user("q"), reasoning("anthropic", THINKING), assistant("a"))
    assert "They want both." not in str(sent(format, thought))


def test_a_failed_run_ends_in_its_error():
    failed = run(user("q"), status=RunStatus.FAILED, error="no model")
    assert sent("anthropic", failed)[1] == {"role": "assistant", "content": [text("[failed: no model]")]}


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"a": 1.5, "b": [null]}', {"a": 1.5, "b": [None]}),
        ("[1]", {"_raw": "[1]"}),
        ("", {"_raw": ""}),
        ('{"a": NaN}', {"_raw": '{"a": NaN}'}),
        ('{"a": 1e999}', {"_raw": '{"a": 1e999}'}),
        ("[" * 3000, {"_raw": "[" * 3000}),
        ('{"a":' * 70 + "1" + "}" * 70, {"_raw": '{"a":' * 70 + "1" + "}" * 70}),
    ],
)
def test_arguments_are_objects(arguments: str, given: object):
    asked = run(user("q"), assistant(), call("look_up", arguments, parent=1), assistant("a"))
    assert sent("anthropic", asked)[1]["content"][0]["input"] == given
