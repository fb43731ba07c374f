"""A small real TranscriptReader over runs in memory; it records what it was asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.run_tokens import run_tokens
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.tokens import event_tokens
from sessions_app.domain.transcript import (
    Event,
    EventKind,
    LikeRuns,
    MessagePlace,
    ParentContext,
    Role,
    Run,
    RunInput,
    RunStatus,
    SummaryEntry,
    ToolCall,
    WeighedRuns,
)


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


def other_kinds(each: Run) -> frozenset[EventKind]:
    return frozenset(event.kind for event in each.events if event.kind in {EventKind.NOTE, EventKind.REASONING})


def is_peculiar(runs: LikeRuns) -> bool:
    return runs.status is not RunStatus.COMPLETED or bool(runs.other_kinds)


@dataclass
class InMemoryTranscript:
    """Runs in order; the last one may be open. `fetched` are the positions read, `fetches` how often, `weighed` too.

    `made_before` says before which run a summary, by its id, or a parent's, by its title, was made; else at once.
    """

    runs: Sequence[Run] = ()
    instructions: str = ""
    summaries: Sequence[SummaryEntry] = ()
    parents: Sequence[ParentContext] = ()
    made_before: Mapping[str, int] = field(default_factory=dict)
    fetched: list[int] = field(default_factory=list)
    fetches: int = 0
    weighed: int = 0

    def __post_init__(self) -> None:
        self.runs = [replace(each, position=position) for position, each in enumerate(self.runs, 1)]

    @property
    def finished_through(self) -> int:
        return len(self.runs) - (self.open_run() is not None)

    def open_run(self) -> Run | None:
        return self.runs[-1] if self.runs and self.runs[-1].status.is_open else None

    def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[Run]:
        newest = []
        for each in reversed(self.runs[not_below - 1 : position - 1]):
            newest.append(each)
            tokens -= each.tokens
            if tokens < 0:
                break
        self.fetches += 1
        self.fetched += [each.position for each in newest]
        return newest

    def weigh(self, *, not_below: int, tokens: int) -> WeighedRuns:
        self.weighed += 1
        first, needs, first_out = self.finished_through + 1, 0, None
        for each in reversed(self.runs[not_below - 1 : self.finished_through]):
            if needs + each.tokens > tokens:
                first_out = each.tokens
                break
            first, needs = each.position, needs + each.tokens
        alike = [LikeRuns(each.position, each.position, each.status, other_kinds(each)) for each in self.runs]
        peculiar = [each for each in alike[first - 1 : self.finished_through] if is_peculiar(each)]
        return WeighedRuns(first, needs, first_out, tuple(peculiar))

    def tokens_between(self, first: int, last: int) -> int:
        return sum(each.tokens for each in self.runs[first - 1 : last])

    def newest_answered(self, *, not_below: int) -> Run | None:
        finished = self.runs[not_below - 1 : self.finished_through]
        return next((each for each in reversed(finished) if _says(each, Role.ASSISTANT)), None)

    def first_input(self, *, not_below: int) -> RunInput | None:
        finished = self.runs[not_below - 1 : self.finished_through]
        first = next((each for each in finished if _says(each, Role.USER)), None)
        if first is None:
            return None
        asked = tuple(event for event in first.events if event.role is Role.USER)
        return RunInput(replace(first, events=asked), len(asked) == len(first.events))

    def oldest_question(self, *, among: int, not_below: int) -> MessagePlace | None:
        finished = self.runs[not_below - 1 : self.finished_through]
        messages = [(each, event) for each in finished for event in each.events if event.kind is EventKind.MESSAGE]
        newest = messages[-among:]
        while newest and newest[0][1].role is not Role.USER:
            newest.pop(0)
        inside = [event for each, event in newest if each.position == newest[0][0].position]
        return MessagePlace(newest[0][0].position, len(inside)) if newest else None

    def newest_summary(self, covers_at_most: int) -> SummaryEntry | None:
        usable = [entry for entry in self.summaries if entry.covers_through <= covers_at_most]
        return max(usable, key=lambda entry: entry.covers_through, default=None)

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        return list(self.parents[-depth:])

    def as_of(self, turn: int) -> "InMemoryTranscript":
        run = self.runs[turn - 1]
        asked = tuple(event for event in run.events if event.role is Role.USER)
        made = [entry for entry in self.summaries if self.made_before.get(entry.summary_id, 0) <= turn]
        parents = [each for each in self.parents if self.made_before.get(each.title, 0) <= turn]
        question = replace(run, events=asked, status=RunStatus.RUNNING, error="")
        return replace(self, runs=[*self.runs[: turn - 1], question], summaries=made, parents=parents)


def _says(each: Run, role: Role) -> bool:
    return any(event.role is role for event in each.events)


def settings(**overrides: Any) -> EffectiveSettings:
    session: Mapping[str, Any] = {"model": "gpt-4.1-mini"} | overrides
    return resolve_settings(default_model="gpt-4.1-mini", project={}, session=session, request={})
