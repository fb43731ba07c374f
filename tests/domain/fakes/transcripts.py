"""Short words for runs, and conversations that record what they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.domain import in_memory
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.run_tokens import run_tokens
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.tokens import event_tokens
from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus, ToolCall, WeighedRuns


def user(text: str, **fields: Any) -> Event:
    return Event(EventKind.MESSAGE, text, Role.USER, **fields)


def assistant(text: str = "", **fields: Any) -> Event:
    return Event(EventKind.MESSAGE, text, Role.ASSISTANT, **fields)


def system(text: str) -> Event:
    return Event(EventKind.MESSAGE, text, Role.SYSTEM)


def call(
    name: str = "look_up",
    arguments: str = "{}",
    result: str | None = "found",
    *,
    call_id: str = "call_1",
    parent: int | None = None,
    error: str | None = None,
) -> Event:
    return Event(EventKind.TOOL_CALL, tool=ToolCall(call_id, name, arguments, result, error), parent=parent)


def run(*events: Event, status: RunStatus = RunStatus.COMPLETED, error: str = "") -> Run:
    weighed = tuple(replace(event, tokens=event_tokens(event)) for event in events)
    value = Run(0, status, weighed, error)
    return replace(value, tokens=run_tokens(value))


def exchange(question: str, answer: str) -> Run:
    return run(user(question), assistant(answer))


@dataclass
class InMemoryTranscript(in_memory.InMemoryTranscript):
    """Records what it is asked for: `fetched` are the positions read, `fetches` how often, `weighed` too."""

    fetched: list[int] = field(default_factory=list)
    fetches: int = 0
    weighed: int = 0

    def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[Run]:
        newest = super().newest_before(position, not_below=not_below, tokens=tokens)
        self.fetches += 1
        self.fetched += [each.position for each in newest]
        return newest

    def weigh(self, *, not_below: int, tokens: int) -> WeighedRuns:
        self.weighed += 1
        return super().weigh(not_below=not_below, tokens=tokens)


# How projects may introduce a summary; {summary} in front, a slash, spaces and lines around it.
SUMMARY_TEMPLATES = ["Before:\n\n{summary}", "{summary}", "/* {summary} */", " \n<memory>{summary}</memory>\n\n"]


def settings(**overrides: Any) -> EffectiveSettings:
    """Return effective settings; beside those of the memory, `summary_template` may be given."""
    summary_template = overrides.pop("summary_template", "")
    session: Mapping[str, Any] = {"model": "gpt-4.1-mini"} | overrides
    resolved = resolve_settings(default_model="gpt-4.1-mini", project={}, session=session, request={})
    return replace(resolved, summary_template=summary_template)
