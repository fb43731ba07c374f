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

DUMMY = "skip_thought_signature_validator"
THOUGHT = {"thought": True, "text": "They want both."}
SIGNATURE = {"thoughtSignature": "CiQBVKhc"}
FOUND = {"functionResponse": {"name": "look_up", "response": {"output": "found"}}}


def turn(role: str, *texts: str) -> dict[str, object]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


def test_everything_in_its_place():
    prompt = full("gemini")
    assert prompt.system == SYSTEM_TEXT
    assert list(prompt.messages or ()) == [
        turn("user", "Both?"),
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "a", "args": {"x": 1}}, "thoughtSignature": DUMMY},
                {"functionCall": {"name": "b", "args": {"_raw": "not json"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "a", "response": {"output": "first"}}},
                {"functionResponse": {"name": "b", "response": {"error": "[error] down"}}},
            ],
        },
        turn("model", "Done."),
        turn("user", TAIL_TEXT),
    ]


def test_the_tokens_are_those_of_the_texts_and_the_frames():
    # Three for the prompt; 3 + 1 + the text for each content, "user" and "model" being one token.
    assert built("gemini", exchange("Hi", "Hello")).tokens.total == 3 + 5 + 5 + 7


def test_segments_show_the_model_as_the_assistant():
    roles = ["user", "assistant", "tool", "tool", "assistant", "user", "user"]
    assert [segment.role for segment in full("gemini").segments][3:] == roles


def test_thoughts_are_shown_and_signatures_are_not():
    thought = run(user("q"), reasoning("gemini", THOUGHT), reasoning("gemini", SIGNATURE), assistant("a"))
    shown = [(segment.role, segment.text) for segment in built("gemini", thought).segments]
    assert shown[:3] == [("user", "q"), ("reasoning", "They want both."), ("assistant", "a")]


def test_text_behind_responses_is_in_their_content_behind_them():
    assert sent("gemini", system_behind_a_result())[2] == {
        "role": "user",
        "parts": [FOUND, {"text": "[system message]\nBe brief."}],
    }


def test_calls_in_a_row_each_have_their_responses_between():
    contents = sent("gemini", two_calls_in_a_row(), query=None)
    assert [content["role"] for content in contents] == ["user", "model", "user", "model", "user", "model"]
    assert contents[-1] == turn("model", "[no answer]")


def test_images_are_sent_as_data_or_by_their_address_and_others_named():
    assert sent("gemini", pictures())[0]["parts"] == [
        {"text": "Before."},
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
        {"fileData": {"fileUri": PHOTO, "mimeType": "image/jpeg"}},
        {"text": "[image_url not sent]"},
        {"text": "After."},
    ]


def test_the_open_run_ends_with_the_responses_that_there_are():
    contents = sent("gemini", open_with_an_answered_call(), query=None)
    assert [part["functionCall"]["name"] for part in contents[1]["parts"]] == ["a"]
    assert contents[2] == {
        "role": "user",
        "parts": [{"functionResponse": {"name": "a", "response": {"output": "found"}}}],
    }


def test_a_signature_goes_into_the_call_behind_it_and_a_thought_is_a_part():
    thought = run(
        user("q"),
        reasoning("gemini", THOUGHT),
        assistant("I look."),
        reasoning("gemini", SIGNATURE),
        call(parent=2),
        call(parent=2),
        assistant("a"),
    )
    assert sent("gemini", thought)[1]["parts"] == [
        THOUGHT,
        {"text": "I look."},
        {"functionCall": {"name": "look_up", "args": {}}, **SIGNATURE},
        {"functionCall": {"name": "look_up", "args": {}}},
    ]


def test_a_signature_in_front_of_a_text_goes_into_the_text():
    thought = run(user("q"), reasoning("gemini", SIGNATURE), assistant("a"))
    assert sent("gemini", thought)[1]["parts"] == [{"text": "a", **SIGNATURE}]


def test_the_signature_of_a_call_that_waits_is_not_sent():
    steps = [user("q"), assistant(), reasoning("gemini", SIGNATURE), call(result=None, parent=1), call(parent=1)]
    contents = sent("gemini", run(*steps, status=RunStatus.RUNNING), query=None)
    assert contents[1]["parts"] == [{"functionCall": {"name": "look_up", "args": {}}, "thoughtSignature": DUMMY}]


@pytest.mark.parametrize(
    "part",
    [
        {"text": "SECRET"},
        {"thought": True, "text": " "},
        {"thoughtSignature": ""},
        {"functionCall": {"name": "x", "args": {}}},
        SIGNATURE | {"text": "SECRET"},
        THOUGHT | {"thoughtSignature": {"SECRET": 1}},
        THOUGHT | {"thoughtSignature": " "},
    ],
)
def test_parts_that_are_neither_thoughts_nor_signatures_are_not_sent(part: dict[str, object]):
    thought = run(user("q"), reasoning("gemini", part), assistant("a"))
    assert sent("gemini", thought)[1]["parts"] == [{"text": "a"}]


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic"])
def test_thoughts_are_sent_in_no_other_format(format: str):
    thought = run(user("q"), reasoning("gemini", THOUGHT), assistant("a"))
    assert "They want both." not in str(sent(format, thought))
