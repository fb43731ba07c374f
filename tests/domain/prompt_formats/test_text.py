from typing import Any

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.prompt_formats.text import left_out
from sessions_app.domain.transcript import Event, EventKind, ParentContext, RunStatus, SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user


def text(reader: InMemoryTranscript, query: str | None = None, context: Any = (), **overrides: Any) -> str | None:
    given = settings(format="text", **overrides)
    prompt = build_prompt(reader=reader, settings=given, query=query, context=context)
    assert prompt.messages is None
    return prompt.text


def test_it_is_griptapes_string():
    reader = InMemoryTranscript([exchange("foo1", "bar1"), exchange("foo2", "bar2")], "fizz")
    assert text(reader, "foo") == (
        "fizz\n\nUser: foo1\n\nAssistant: bar1\n\nUser: foo2\n\nAssistant: bar2\n\nUser: foo\n\nAssistant:"
    )


def test_the_summary_is_said_by_the_user_first():
    reader = InMemoryTranscript(
        [exchange("foo1", "bar1"), exchange("foo2", "bar2")], summaries=[SummaryEntry("s1", 1, 1, "foobar \n")]
    )
    assert text(reader, offset=1) == (
        "User: Summary of the conversation so far: foobar\n\nUser: foo2\n\nAssistant: bar2\n\nAssistant:"
    )


def test_an_empty_session_is_the_last_line_alone():
    assert text(InMemoryTranscript()) == "Assistant:"


def test_empty_texts_stay_empty():
    assert text(InMemoryTranscript([exchange("", " ")])) == "User: \n\nAssistant:  \n\nAssistant:"


def test_tool_calls_are_not_part_of_it():
    reader = InMemoryTranscript([run(user("q"), assistant(), call(parent=1), assistant("a"))])
    assert text(reader) == "User: q\n\nAssistant: a\n\nAssistant:"


def warned(reader: InMemoryTranscript, **overrides: Any) -> list[str]:
    prompt = build_prompt(reader=reader, settings=settings(**overrides), query=None)
    return [warning.detail for warning in prompt.warnings if warning.code == "tool_calls_left_out"]


def test_it_warns_that_tool_calls_are_not_part_of_it():
    called = run(user("q"), assistant(), call(parent=1), assistant("a"))
    sent_without = "The format text carries no tool calls: {} sent without calls and results."
    one, two = [called, exchange("q", "a")], [called, exchange("q", "a"), called]

    assert warned(InMemoryTranscript(one), format="text") == [sent_without.format("a run in the prompt is")]
    assert warned(InMemoryTranscript(two), format="text") == [sent_without.format("2 runs in the prompt are")]
    assert warned(InMemoryTranscript(two), format="text", last_n=0) == []
    assert warned(InMemoryTranscript(two), format="openai") == []


def test_parent_context_and_context_blocks_are_sent_too():
    reader = InMemoryTranscript(instructions="fizz", parents=[ParentContext("Root", "Top.")])
    assert text(reader, "foo", ["A fact."], include_parent_context=True) == (
        "# Instructions\nfizz\n\n# Parent conversation\n## Root\nTop.\n\n"
        "User: [context]\nA fact.\n\nUser: foo\n\nAssistant:"
    )


def test_of_the_open_run_the_input_is_sent():
    reader = InMemoryTranscript([run(user("Now?"), assistant("Hel"), status=RunStatus.RUNNING)])
    assert text(reader) == "User: Now?\n\nAssistant:"


def test_what_is_not_sent_of_a_run_is_named():
    events = [user("q"), Event(EventKind.NOTE, "VIP"), assistant("Hel"), call(parent=2)]
    assert left_out(run(user("q"), assistant("a"))) == ""
    assert left_out(run(*events)) == "without its tool calls and notes"
    assert left_out(run(*events, status=RunStatus.RUNNING)) == "without its answer so far, tool calls and notes"
    assert left_out(run(user("q"), status=RunStatus.RUNNING)) == ""
