"""ChatGPT's export: which file it is, and the runs of a conversation on each of its paths."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sessions_app.domain import message_trees
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats import detect_format
from sessions_app.domain.file_formats.chatgpt import CHATGPT, conversation
from sessions_app.domain.transcript import EventKind

SAMPLE = Path(__file__).parents[4] / "shared" / "formats" / "chatgpt" / "chatgpt_small.json"
CASES = Path(__file__).parents[2] / "data" / "cases"


def message(role, *parts, content=None, **more):
    return {
        "author": {"role": role},
        "content": content or {"content_type": "text", "parts": list(parts)},
        **more,
    }


def chain(*messages, **more):
    """Return a conversation whose messages follow each other."""
    mapping = {
        f"m{n}": {"message": each, "parent": f"m{n - 1}" if n else None, "children": [f"m{n + 1}"]}
        for n, each in enumerate(messages)
    }
    return {"id": "c", "title": "T", "mapping": mapping, **more}


def read(value):
    [found] = CHATGPT.rows(io.BytesIO(json.dumps([value]).encode()), "x")
    assert not found.error
    return conversation(found.value)


def said(path):
    return [[(str(event.role or event.kind), event.text) for event in run.events] for run in path.runs]


@pytest.mark.skipif(not SAMPLE.exists(), reason=f"NOT RUN: {SAMPLE.name} does not lie in ../shared/formats")
def test_an_export_is_recognized_and_read_with_times_and_models():
    data = SAMPLE.read_bytes()
    assert detect_format(data, "x").name == "chatgpt"
    assert detect_format(data[:600], "x").name == "chatgpt"
    read_talk = read(json.loads(data)[0])
    assert said(read_talk) == [
        [("user", "How often do I feed a sourdough starter?"), ("assistant", "Once a day at room temperature.")],
        [("user", "And in the fridge?"), ("assistant", "Once a week is enough.")],
    ]
    assert (read_talk.title, read_talk.given_id, read_talk.notes) == ("Sourdough starter", "c-small", ())
    # 1790000001.5 seconds since 1970.
    assert read_talk.runs[0].created_at == datetime(2026, 9, 21, 14, 13, 21, 500000, tzinfo=UTC)
    assert read_talk.runs[0].model == "gpt-5-t-mini"


def test_c24_hidden_messages_make_no_break_and_tools_and_thoughts_are_what_they_are():
    read_talk = read(json.loads((CASES / "C24-conversations.json").read_text())[0])
    assert len(read_talk.paths) == 1
    first, second = read_talk.runs
    assert [event.text for event in first.events] == ["Name a tall plant.", "Bamboo."]
    assert [event.kind for event in second.events] == [
        EventKind.MESSAGE,
        EventKind.REASONING,
        EventKind.MESSAGE,
        EventKind.TOOL_CALL,
        EventKind.MESSAGE,
    ]
    assert second.events[3].tool.result == '{"plants": ["moss"]}'
    assert read_talk.notes == ("Hidden messages left out: 1.",)


def test_c26_a_thread_as_deep_as_it_is_long_is_read():
    texts = [(("user", f"q{n}"), ("assistant", f"a{n}")) for n in range(1300)]
    runs = conversation(chain(*(message(*said) for pair in texts for said in pair))).runs
    assert len(runs) == 1300
    assert [event.text for event in runs[-1].events] == ["q1299", "a1299"]


def test_c28_the_newest_path_comes_first_and_the_others_keep_their_order():
    read_talk = read(json.loads((CASES / "C28-conversations.json").read_text())[0])
    assert [path.runs[-1].events[-1].text for path in read_talk.paths] == [
        "Soup, pear tart.",
        "Soup, bread.",
        "Bread, pear tart.",
        "Without tart, please.",
    ]
    assert read_talk.paths[2].runs[0] is read_talk.runs[0]


def test_a_call_gets_its_result_and_one_without_stays_open():
    code = {"content_type": "code", "text": "1 + 1"}
    read_talk = read(
        chain(
            message("user", "Sum?"),
            message("assistant", content=code, recipient="python"),
            message("tool", content={"content_type": "execution_output", "text": "2"}),
            message("assistant", content=code, recipient="python"),
        )
    )
    calls = [event.tool for event in read_talk.runs[0].events if event.tool]
    assert [(call.name, call.arguments, call.result) for call in calls] == [
        ("python", "1 + 1", "2"),
        ("python", "1 + 1", None),
    ]


def test_what_the_export_does_not_hold_leaves_a_marked_place():
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    read_talk = read(chain(message("user", picture, "What is it?")))
    assert read_talk.runs[0].events[0].text == "[image_asset_pointer not in the file]\nWhat is it?"
    assert read_talk.notes == ("Images and files that the export does not hold leave a marked place: 1.",)


def broken(**nodes):
    return {"id": "c", "mapping": {name: {"message": message("user", name), **node} for name, node in nodes.items()}}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (5, "It must be a conversation: an object with a mapping of messages."),
        ({"mapping": []}, "It has no mapping: an object with its messages is needed."),
        ({"mapping": {"a": 1}}, "Message a must be an object with a message, a parent and children."),
        ({"mapping": {"a": {"message": None, "parent": None}}}, "It has no messages."),
        (chain(message("user", "a"), message("bot", "b")), "Message m1: its author must have a role of user, "),
        (chain({"author": None, "content": None}), "Message m0: its author must have a role of user, "),
        (broken(a={"parent": "gone"}), "Message a names a parent that is not in the file: gone."),
        (
            broken(r={"parent": None}, a={"parent": "b"}, b={"parent": "a"}),
            "The parents of its messages go round in a circle, at message a.",
        ),
        (broken(a={"parent": "a"}), "The parents of its messages go round in a circle, at message a."),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(row, reason):
    with pytest.raises(InvalidInput) as refusal:
        conversation(row)
    assert refusal.value.detail.startswith(reason)


def test_branches_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(message_trees, "MOST_ON_PATHS", 5)
    nodes = {"r": {"parent": None}, **{f"n{n}": {"parent": "r"} for n in range(3)}}
    with pytest.raises(InvalidInput, match="Its branches have more than 5 messages together"):
        conversation(broken(**nodes))


def test_hostile_conversations_are_read():
    given = chain(
        message("user", "a\0\ud800", 5, None, {"text": "t"}, create_time=10**290, metadata=[]),
        message("assistant", "b", create_time=True, recipient=[], metadata={"model_slug": {}}),
        title=["x"],
        create_time="never",
        current_node={"a": 1},
    )
    given["mapping"]["m0"]["children"] = ["m1", "m1", "gone", 7]
    read_talk = read(given)
    assert said(read_talk) == [[("user", "a\ufffd\ufffd\n5\nnull\nt"), ("assistant", "b")]]
    assert (read_talk.title, read_talk.created_at) == ("a\ufffd\ufffd 5 null t", None)
