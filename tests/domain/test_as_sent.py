import json

import pytest

from sessions_app.domain.as_sent import arguments_as_sent, message_parts, result_as_sent, tool_name_as_sent
from sessions_app.domain.transcript import Event, EventKind, Role, ToolCall
from tests.domain.fakes.transcripts import assistant, system, user

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


@pytest.mark.parametrize("arguments", ["{}", '{"a":  1}', "[1]", '"text"', "1e999", '{"n": ' + "9" * 5_000 + "}"])
def test_arguments_that_are_json_go_byte_for_byte(arguments: str):
    assert arguments_as_sent(arguments) == arguments


@pytest.mark.parametrize("arguments", ["", "plain", '{"a": 1', "{'a': 1}", "NaN", '{"a": Infinity}', "[" * 100_000])
def test_arguments_that_are_not_json_go_as_raw_text_in_json(arguments: str):
    assert json.loads(arguments_as_sent(arguments)) == {"_raw": arguments}


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("look_up-2", "look_up-2"),
        ("functions.get weather", "functions_get_weather"),
        ("", "tool"),
        ("ü" * 70, "_" * 64),
    ],
)
def test_a_tool_name_is_made_legal(name: str, legal: str):
    assert tool_name_as_sent(name) == legal


@pytest.mark.parametrize(
    ("result", "error", "sent"),
    [
        ("found", None, "found"),
        ("", None, "[no result]"),
        (" \n", None, "[no result]"),
        (None, None, "[no result]"),
        (None, "timed out", "[error] timed out"),
        ("half", "timed out", "half\n[error] timed out"),
    ],
)
def test_a_result_is_never_empty_and_an_error_is_marked(result: str | None, error: str | None, sent: str):
    assert result_as_sent(ToolCall("id", "name", "{}", result, error)) == sent


def test_images_of_the_user_are_sent_and_other_parts_are_named():
    parts = message_parts(user("See.", content=({"type": "text", "text": "See."}, IMAGE, {"type": "file"})))
    assert parts == ["See.", IMAGE, "[file not sent]"]


def test_images_of_the_assistant_are_only_named_and_its_refusal_is_text():
    content = (IMAGE, {"type": "refusal", "refusal": "I will not."})
    assert message_parts(assistant(content=content)) == ["[image_url not sent]", "I will not."]


def test_a_broken_image_is_only_named():
    broken = ({"type": "image_url", "image_url": {}}, {"type": "image_url"})
    assert message_parts(user("", content=broken)) == ["[image_url not sent]", "[image_url not sent]"]


def test_a_system_message_inside_a_run_is_marked():
    assert message_parts(system("Be brief.")) == ["[system message]\nBe brief."]


def test_a_system_message_in_parts_is_marked_whatever_parts_it_has():
    content = ({"type": "text", "text": "Be brief."}, IMAGE, {"type": "text", "text": " "})
    event = Event(EventKind.MESSAGE, "Be brief.", Role.SYSTEM, content=content)
    assert message_parts(event) == ["[system message]\nBe brief.", "[system message]\n[image_url not sent]", " "]
