"""Conversations as Markdown: what a reader sees, and that no text becomes anything but itself."""

import json
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sessions_app.domain.conversation_files import StoredConversation
from sessions_app.domain.export_formats.markdown import write
from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall

C47 = json.loads((Path(__file__).parents[2] / "data" / "cases" / "C47-html-in-messages.json").read_text())
# As GitHub reads it, with tags of HTML let through.
READER = MarkdownIt("gfm-like", {"linkify": False, "html": True})
OURS = {"h1", "h2", "ul", "li", "p", "strong", "em", "blockquote", "br", "pre", "code"}


class Elements(HTMLParser):
    """The elements of a page, and the texts in quotations and code."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.inside = set(), [], []

    def handle_starttag(self, tag, attributes):
        assert not [name for name, _ in attributes if name != "class"]
        self.tags.add(tag)
        if tag in {"blockquote", "pre"}:
            self.texts.append("")
        self.inside.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        self.inside.remove(tag)

    def handle_data(self, data):
        if {"blockquote", "pre"} & set(self.inside):
            self.texts[-1] += data


def text_of(*runs, **fields):
    return "".join(write(StoredConversation(fields.pop("session_id", "s"), lambda: iter(runs), **fields)))


def shown(text):
    elements = Elements()
    elements.feed(READER.render(text))
    return elements


def test_a_conversation_reads_as_a_talk():
    asked = {"role": "user", "content": "Is my flight late?"}
    call = {"id": "c", "type": "function", "function": {"name": "find_flight", "arguments": '{"no": 7}'}}
    run = turn(
        [
            asked,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "late by 2 h"},
            {"role": "assistant", "content": "Yes, by two hours.\nSorry for that."},
        ]
    )
    timed = NewRun(events=run.events, model="gpt-4.1", created_at=datetime(2026, 5, 4, 12, tzinfo=UTC))

    assert text_of(timed, title="Late flight", user_id="u-17", tags=("delay",), instructions="Be brief.") == (
        "# Late flight\n\n- Session: s\n- User: u-17\n- Tags: delay\n\n**Instructions**\n\n> Be brief.\n"
        "\n## Run 1\n\n2026-05-04 12:00:00 UTC, gpt-4.1\n"
        "\n**User**\n\n> Is my flight late?\n"
        '\n**Tool call: find_flight**\n\n```text\n{"no": 7}\n```\n'
        "\n**Result**\n\n> late by 2 h\n"
        "\n**Assistant**\n\n> Yes, by two hours.\\\n> Sorry for that.\n\n"
    )


def test_failures_and_what_is_missing_are_said():
    call = Event(EventKind.TOOL_CALL, tool=ToolCall("c", "f", "", error="timeout"), parent=1)
    waiting = Event(EventKind.TOOL_CALL, tool=ToolCall("d", "g", ""), parent=1)
    picture = Event(EventKind.MESSAGE, role=Role.USER, content=({"type": "image_url"},))
    silent = Event(EventKind.MESSAGE, role=Role.ASSISTANT)
    events = (picture, silent, call, waiting, silent)
    text = text_of(NewRun(events=events, status=RunStatus.FAILED, error="The stream broke."))

    assert "\n## Run 1\n\nfailed\n" in text
    assert "*Not text: image_url*" in text
    assert "*Nothing was said.*" in text
    assert "**Error of the tool**\n\n> timeout" in text
    assert "*No result.*" in text
    assert "**Error**\n\n> The stream broke." in text


@pytest.mark.parametrize("payload", C47["input"]["payloads"])
def test_case_47_html_stays_text(payload):
    call = Event(EventKind.TOOL_CALL, tool=ToolCall(payload, payload, payload, result=payload), parent=0)
    run = NewRun(events=(*simple_turn(payload, payload).events, call), status=RunStatus.FAILED, error=payload)
    fields = {"title": payload, "user_id": payload, "tags": (payload,), "instructions": payload}

    elements = shown(text_of(run, session_id="s", **fields))

    assert elements.tags <= OURS


MARKS = st.sampled_from(
    ["# ", "> ", "- ", "1. ", "```", "~~~", "[a](b)", "![a](b)", "<b>", "&amp;", "**", "_", "| a |\n|-|"]
)
TEXTS = st.lists(st.one_of(MARKS, st.text(max_size=6), st.sampled_from(["\n", "word", "  ", "\t", "\\"])), max_size=8)


@given(TEXTS.map("".join))
def test_any_text_is_shown_as_itself_and_as_nothing_else(text):
    elements = shown(text_of(simple_turn(text, "end"), title=text))

    assert elements.tags <= OURS
    if text.isprintable() and text:
        assert elements.texts[0].strip("\n") == text


@given(st.lists(st.from_regex(r"[A-Za-z][a-z]{0,5}[.,!?]?", fullmatch=True), min_size=1, max_size=5))
def test_plain_prose_is_a_quotation_line_by_line(lines):
    text = text_of(simple_turn("\n".join(lines), None))

    assert "```" not in text
    assert shown(text).texts[0].strip("\n") == "\n".join(lines)


def test_signs_that_steer_a_terminal_are_taken_out():
    assert "\x1b" not in text_of(simple_turn("\x1b[2J", "\x9b2J"), title="\x1b]0;x\x07")
