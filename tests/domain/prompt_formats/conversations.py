"""One conversation that has everything a format must place, and the prompt that it gives."""

from collections.abc import Sequence
from typing import Any

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.plan import Prompt
from sessions_app.domain.transcript import Event, EventKind, ParentContext, Run, RunStatus, SummaryEntry
from sessions_app.domain.validity import validate
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, system, user
from tests.domain.recount import count_prompt
from tests.provider_rules import broken_rules

PICTURE = "data:image/png;base64,iVBORw0KGgo="
PHOTO = "https://example.org/a/photo.jpg"


def built(
    format: str,
    *runs: Run,
    query: str | None = "Go on.",
    context: Sequence[str] = (),
    reader: InMemoryTranscript | None = None,
    **overrides: Any,
) -> Prompt:
    """Build a prompt and judge it by the product's rules, by those of the tests, and by an independent count."""
    prompt = build_prompt(
        reader=reader or InMemoryTranscript(runs),
        settings=settings(format=format, **overrides),
        query=query,
        context=context,
    )
    assert prompt.messages is not None
    follows = query is None and not context and not (runs and runs[-1].status.is_open)
    assert validate(prompt.messages, PromptFormat(format), query_follows=follows) == []
    assert broken_rules(prompt.messages, last_is_history=follows, format=format, system=prompt.system) == []
    tenths = round(prompt.margin * 10)
    assert count_prompt(format, prompt.messages, prompt.system, prompt.encoding, tenths) == prompt.tokens.total
    assert sum(segment.tokens for segment in prompt.segments) + prompt.tokens.overhead == prompt.tokens.total
    return prompt


def sent(format: str, *runs: Run, query: str | None = "Go on.", **fields: Any) -> list[Any]:
    return list(built(format, *runs, query=query, **fields).messages or ())


def full(format: str, **overrides: Any) -> Prompt:
    """The prompt with instructions, parents, summary, parallel calls, context and query."""
    reader = InMemoryTranscript(
        [exchange("old", "gone"), parallel_calls()],
        "Be kind.",
        [SummaryEntry("s1", 1, 1, "They met.")],
        [ParentContext("Root", "Top.")],
    )
    given = {"offset": 1, "include_parent_context": True, **overrides}
    return built(format, reader=reader, context=["A fact."], **given)


def parallel_calls() -> Run:
    return run(
        user("Both?"),
        assistant("I look."),
        call("a", '{"x": 1}', "first", call_id="1", parent=1),
        call("b", "not json", None, call_id="1", parent=1, error="down"),
        assistant("Done."),
    )


def system_behind_a_result() -> Run:
    return run(user("q"), assistant(), call(parent=1), system("Be brief."), assistant("a"))


def two_calls_in_a_row() -> Run:
    return run(user("q"), assistant(), call("a", parent=1), assistant(), call("b", parent=3))


def pictures() -> Run:
    parts = [
        {"type": "text", "text": "Before."},
        {"type": "image_url", "image_url": {"url": PICTURE}},
        {"type": "image_url", "image_url": {"url": PHOTO, "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
        {"type": "text", "text": "After."},
    ]
    return run(user("Before.\nAfter.", content=tuple(parts)), assistant("a"))


def open_with_an_answered_call() -> Run:
    steps = [user("Both?"), assistant(), call("a", call_id="1", parent=1), call("b", result=None, parent=1)]
    return run(*steps, status=RunStatus.RUNNING)


def reasoning(format: str, *parts: dict[str, Any]) -> Event:
    content = tuple({"type": "opaque", "format": format, "part": part} for part in parts)
    return Event(EventKind.REASONING, content=content)


SYSTEM_TEXT = "# Instructions\nBe kind.\n\n# Parent conversation\n## Root\nTop.\n\n# Summary of runs 1-1\nThey met."
TAIL_TEXT = "[context]\nA fact.\n\nGo on."
