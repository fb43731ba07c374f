"""The engine that is judged: asked with plain data, it answers with plain data. Only this file knows the product."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from typing import Any

import pytest
import tiktoken

from sessions_app.domain import tokens
from sessions_app.domain.base_messages import Base
from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import BudgetTooSmall, ConvowebError
from sessions_app.domain.plan import Prompt
from sessions_app.domain.run_tokens import run_tokens
from sessions_app.domain.setting_values import check_settings, resolve_settings
from sessions_app.domain.tokens import event_tokens
from sessions_app.domain.transcript import (
    Event,
    EventKind,
    ParentContext,
    Role,
    Run,
    RunStatus,
    SummaryEntry,
    ToolCall,
    TranscriptReader,
)
from tests.domain.fakes.transcripts import InMemoryTranscript
from tests.properties.conversations import Plain

KINDS = {"message": EventKind.MESSAGE, "call": EventKind.TOOL_CALL, "reasoning": EventKind.REASONING}
REQUEST = ("query", "context", "tools", "instructions", "shorten", "at")
MOST_COUNTS = 500_000

Engine = Callable[[Mapping[str, Any]], Plain]
"""Answers a request, always about the same conversation."""


def engine_over(reader: TranscriptReader) -> Engine:
    """Return an engine that builds the prompts of a conversation."""

    def answer(asked: Mapping[str, Any]) -> Plain:
        settings = resolve_settings(default_model="", project={}, session=check_settings(asked["settings"]), request={})
        base = None if asked["base"] is None else Base(**asked["base"])
        try:
            prompt = build_prompt(
                reader=reader, settings=settings, base=base, **{name: asked[name] for name in REQUEST}
            )
        except ConvowebError as refusal:
            return refused(refusal)
        return built(prompt)

    return answer


def in_memory(conversation: Mapping[str, Any]) -> InMemoryTranscript:
    """Return a reader of the conversation that holds it all."""
    summaries = [
        SummaryEntry(str(each["number"]), each["number"], each["covers_through"], each["text"])
        for each in conversation["summaries"]
    ]
    parents = [ParentContext(each["title"], each["text"]) for each in conversation["parents"]]
    runs = [_run(position, run) for position, run in enumerate(conversation["runs"], 1)]
    return InMemoryTranscript(runs, conversation["instructions"], summaries, parents)


def built(prompt: Prompt) -> Plain:
    """Return all of an answer that is judged."""
    return {
        "refusal": None,
        "messages": None if prompt.messages is None else [dict(message) for message in prompt.messages],
        "text": prompt.text,
        "system": prompt.system,
        "encoding": prompt.encoding,
        "margin": prompt.margin,
        "budget": prompt.budget,
        "tokens": asdict(prompt.tokens) | {"total": prompt.tokens.total},
        "fates": [asdict(each) | {"fate": each.fate.value} for each in prompt.fates],
        "unseen": prompt.unseen,
        "warnings": [{"code": each.code.value, "detail": each.detail} for each in prompt.warnings],
        "covers_through": prompt.covers_through,
        "extract": prompt.extract,
        "cut": None if prompt.cut is None else asdict(prompt.cut),
        "fingerprint": prompt.fingerprint,
    }


def refused(refusal: ConvowebError) -> Plain:
    """Return a refusal and what it says."""
    return {
        "refusal": type(refusal).__name__,
        "detail": refusal.detail,
        "pointers": [error.pointer for error in refusal.errors],
        "needs": refusal.needs if isinstance(refusal, BudgetTooSmall) else {},
    }


class _Remembering:
    """A vocabulary that encodes each text once and then knows how many tokens it has."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding
        self.counts: dict[tuple[int, int], int] = {}

    def encode_ordinary(self, text: str) -> Sequence[int]:
        key = (len(text), hash(text))
        if key not in self.counts:
            if len(self.counts) > MOST_COUNTS:
                self.counts.clear()
            self.counts[key] = len(self.encoding.encode_ordinary(text))
        return range(self.counts[key])


@contextmanager
def remembered_counts() -> Iterator[None]:
    """Let the engine count each text once: texts come again and again, and some are very long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_encoding", cache(lambda name: _Remembering(tiktoken.get_encoding(name))))
        yield


def _run(position: int, run: Mapping[str, Any]) -> Run:
    events = tuple(map(event_value, run["events"]))
    value = Run(position, RunStatus(run["status"]), events, run["error"])
    return Run(position, value.status, events, run["error"], run_tokens(value))


def event_value(event: Mapping[str, Any]) -> Event:
    """Return an event as the product has it, weighed."""
    call = event["call"]
    value: dict[str, Any] = {
        "kind": KINDS.get(event["kind"], EventKind.NOTE),
        "text": event["text"],
        "role": event["role"] and Role(event["role"]),
        "content": event["content"] and tuple(event["content"]),
        "tool": call and ToolCall(call["id"], call["name"], call["arguments"], call["result"], call["error"]),
        "parent": event["parent"],
    }
    return Event(**value, tokens=event_tokens(Event(**value)))
