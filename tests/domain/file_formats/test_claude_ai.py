"""Claude's export: which file it is, and the runs of a conversation on each of its paths."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats import detect_format
from sessions_app.domain.file_formats.claude_ai import conversation

SAMPLE = Path(__file__).parents[4] / "shared" / "formats" / "claude_ai" / "claude_small.json"
CASES = Path(__file__).parents[2] / "data" / "cases"


def message(name, sender, text="", **more):
    return {"uuid": name, "sender": sender, "text": text, **more}


def talk(*messages, **more):
    return {"uuid": "k", "name": "Knots", "chat_messages": list(messages), **more}


def said(read_talk):
    return [[(str(event.role or event.kind), event.text) for event in run.events] for run in read_talk.runs]


@pytest.mark.skipif(not SAMPLE.exists(), reason=f"NOT RUN: {SAMPLE.name} does not lie in ../shared/formats")
def test_an_export_is_recognized_and_read_with_its_times():
    data = SAMPLE.read_bytes()
    assert detect_format(data, "x").name == "claude_ai"
    read_talk = conversation(json.loads(data)[0])
    assert said(read_talk) == [
        [("user", "Which knot for a mooring ring?"), ("assistant", "A round turn and two half hitches.")]
    ]
    assert (read_talk.title, read_talk.given_id) == ("Knots", "k-1")
    assert read_talk.runs[0].events[1].created_at == datetime(2026, 10, 1, 8, 0, 5, 900000, tzinfo=UTC)


def test_c31_messages_of_attachments_alone_are_kept_in_their_place():
    clock, only_file, empty = json.loads((CASES / "C31-conversations.json").read_text())
    assert said(conversation(clock)) == [
        [
            ("user", "[notes.txt]\nGate code idea: use the year the clock was built."),
            ("assistant", "I would not use a year."),
        ],
        [("user", "[clock.png not in the file]"), ("assistant", "A handsome clock.")],
        [
            ("user", "Compare both.\n\n[paste.txt]\nsecond pasted passage\n\n[empty.bin]"),
            ("assistant", "They differ in length."),
        ],
    ]
    assert len(conversation(only_file).runs) == 1
    with pytest.raises(InvalidInput, match="It has no messages"):
        conversation(empty)


def test_messages_that_name_their_parents_are_a_tree_and_the_last_is_on_the_first_path():
    read_talk = conversation(
        talk(
            message("q", "human", "One?", parent_message_uuid="00000000-0000-4000-8000-000000000000"),
            message("a", "assistant", "1", parent_message_uuid="q"),
            message("b", "assistant", "one", parent_message_uuid="q"),
        )
    )
    assert [path.messages for path in read_talk.paths] == [(("q", "b"),), (("q", "a"),)]
    assert said(read_talk) == [[("user", "One?"), ("assistant", "one")]]


def test_thoughts_calls_and_results_are_what_they_are():
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "id": "t", "name": "find", "input": {"to": "sea"}},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "22:10"}]},
        {"type": "tool_result", "tool_use_id": "gone", "content": "x"},
        {"type": "text", "text": "At 22:10."},
    ]
    [run] = conversation(talk(message("q", "human", "When?"), message("a", "assistant", content=parts))).runs
    assert [str(event.kind) for event in run.events] == ["message", "reasoning", "message", "tool_call", "message"]
    tool = run.events[3].tool
    assert (tool.name, tool.arguments, tool.result) == ("find", '{"to": "sea"}', '[{"type": "text", "text": "22:10"}]')
    assert (run.events[3].parent, run.events[4].text) == (2, "At 22:10.")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (5, "It must be a conversation: an object with chat_messages."),
        ({}, "It has no chat_messages: a list of them is needed."),
        (talk(5), "Message 1 must be an object with a sender and a text."),
        (talk(message("a", [])), "Message 1: its sender must be one of human, assistant."),
        (talk(message("a", "human"), message("a", "human")), "Two of its messages have the same uuid."),
        (
            talk(message("a", "human", parent_message_uuid="gone")),
            "Message a names a parent that is not in the file: gone.",
        ),
        (
            talk(message("a", "human", parent_message_uuid="a")),
            "The parents of its messages go round in a circle, at message a.",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(row, reason):
    with pytest.raises(InvalidInput) as refusal:
        conversation(row)
    assert refusal.value.detail == reason


def test_hostile_conversations_are_read():
    odd = message([], "human", "a\0\ud800", content=[5, {"type": []}], attachments=[5, {}], files=[{}], created_at=[])
    read_talk = conversation(talk(odd, name=5, created_at=10**290))
    assert said(read_talk) == [[("user", "a\ufffd\ufffd\n\n[attachment]\n\n[file not in the file]")]]
    assert read_talk.notes == ("Characters that cannot be stored, replaced by U+FFFD: 2.",)
