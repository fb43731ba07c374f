"""Building a prompt under a strategy, and what of it the tests compare."""

from typing import Any

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.plan import Prompt
from sessions_app.domain.transcript import Run, RunStatus
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user


def build(runs: list[Run], query: str | None = "Go on.", **overrides: Any) -> Prompt:
    reader = overrides.pop("reader", None) or InMemoryTranscript(runs)
    return build_prompt(reader=reader, settings=settings(**overrides), query=query)


def sent(prompt: Prompt) -> list[tuple[str, Any]]:
    assert prompt.messages is not None
    return [(message["role"], message["content"]) for message in prompt.messages]


def fates(prompt: Prompt) -> list[tuple[int, int, str, str]]:
    return [(each.first, each.last, each.fate.value, each.reason) for each in prompt.fates]


def numbered(count: int) -> list[Run]:
    """Runs q1/a1, q2/a2 and so on."""
    return [exchange(f"q{n}", f"a{n}") for n in range(1, count + 1)]


def failed(question: str, error: str = "no model") -> Run:
    return run(user(question), status=RunStatus.FAILED, error=error)


def with_call(question: str, answer: str, **fields: Any) -> Run:
    return run(user(question), assistant(), call(parent=1, **fields), assistant(answer))
