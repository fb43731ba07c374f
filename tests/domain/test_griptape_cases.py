"""The cases of Griptape's own tests that are about what we do too, with the values that it documents."""

from dataclasses import dataclass
from typing import Any

import pytest

from sessions_app.domain import tokens
from sessions_app.domain.base_messages import Base
from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import BudgetTooSmall
from sessions_app.domain.plan import Part, Prompt
from sessions_app.domain.summaries import Standing, next_step
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, settings

FOO_BAR = [{"role": "user", "content": "foo"}, {"role": "assistant", "content": "bar"}]
FIZZ = [{"role": "system", "content": "fizz"}, *FOO_BAR]
FIVE = [(f"foo{n}", f"bar{n}") for n in range(1, 6)]
AGENT = [("q", "mock output")] * 2


@dataclass(frozen=True, slots=True)
class OneTokenACharacter:
    """Stands for a tokenizer, as in Griptape's tests."""

    name: str

    def encode_ordinary(self, text: str) -> list[str]:
        return list(text)


@pytest.fixture
def _one_token_a_character(monkeypatch):
    monkeypatch.setattr(tokens, "_encoding", OneTokenACharacter)


def build(*runs: tuple[str, str], base: Base | None = None, query: str | None = None, **overrides: Any) -> Prompt:
    fields: dict[str, Any] = {name: overrides.pop(name) for name in ("instructions", "summaries") if name in overrides}
    values = {"format": "text", "strategy": "buffer", "on_gap": "warn"} | overrides
    reader = InMemoryTranscript([exchange(*each) for each in runs], **fields)
    more: dict[str, Any] = {} if base is None else {"base": base}
    return build_prompt(reader=reader, settings=settings(**values), query=query, **more)


def texts(prompt: Prompt) -> list[str]:
    return [segment.text for segment in prompt.segments]


def test_to_prompt_stack():
    assert texts(build(("foo", "bar"))) == ["foo", "bar"]


def test_buffering():
    assert texts(build(*[(f"run{n}", "a") for n in range(1, 6)], max_runs=2)) == ["run4", "a", "run5", "a"]


def test_add_to_prompt_stack_with_autopruning_disabled():
    assert len(texts(build(*FIVE, base=Base(FOO_BAR), autoprune=False))) == 12


@pytest.mark.usefixtures("_one_token_a_character")
@pytest.mark.parametrize(
    ("lowest", "highest", "messages"),
    [(44, 72, 3), (73, 101, 5), (102, 130, 7), (131, 159, 9), (160, 188, 11), (189, 1000, 13)],
)
def test_add_to_prompt_stack_with_autopruning_enabled(lowest: int, highest: int, messages: int):
    """Griptape leaves one token of its limit free."""
    for limit in (lowest, highest):
        sent = texts(build(*FIVE, base=Base(FIZZ, 1), max_input_tokens=limit - 1))
        kept = [text for each in FIVE[len(FIVE) - (messages - 3) // 2 :] for text in each]
        assert sent == ["fizz", *kept, "foo", "bar"]


@pytest.mark.usefixtures("_one_token_a_character")
def test_add_to_prompt_stack_at_a_limit_below_the_base_is_refused_instead():
    with pytest.raises(BudgetTooSmall):
        build(*FIVE, base=Base(FIZZ, 1), max_input_tokens=42)


def test_unsummarized_subtasks_and_after_run():
    """With offset 1, four turns leave one run word for word, and the index is 3."""
    index = 0
    for finished in range(1, 5):
        standing = Standing(finished, index, fixed_tokens=0, waiting_tokens=finished - index, budget=None)
        values = settings(offset=1, summarize_at=0).values
        index = next_step(standing=standing, settings=values, waiting=[1] * 4, batch_tokens=100) or index
    assert index == 3
    summaries = [SummaryEntry("s", 1, index, "mock output")]
    prompt = build(*FIVE[:4], strategy="summary", offset=1, summaries=summaries)
    assert texts(prompt) == ["Summary of the conversation so far: mock output", "foo4", "bar4"]


def test_summary_to_prompt_stack():
    summaries = [SummaryEntry("s", 1, 1, "foobar")]
    summary, *run = build(("q", "a"), ("foo", "bar"), strategy="summary", offset=1, summaries=summaries).segments
    assert (summary.part, summary.role) == (Part.SUMMARY, "user")
    assert summary.text.endswith("foobar")
    assert [segment.text for segment in run] == ["foo", "bar"]


def test_conversation_memory_of_a_prompt_task():
    assert len(texts(build(*AGENT, instructions="rules", query="q"))) == 6
    assert len(texts(build(*AGENT, instructions="rules", query="q", last_n=0))) == 2


def test_prompt_stack_empty_system_content():
    assert texts(build(("foo", "bar"), query="test value")) == ["foo", "bar", "test value"]


@pytest.mark.parametrize(("turns", "messages"), [(0, 2), (1, 4), (2, 6)])
def test_prompt_stack_with_memory(turns: int, messages: int):
    """Griptape documents 2, 5 and 7: after a run it shows the turn and, behind the memory, its answer once more."""
    assert len(texts(build(*AGENT[:turns], instructions="rules", query="q"))) == messages


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
def test_token_count(encoding: str):
    counter = TokenCounter(encoding)
    assert counter.text("foo bar huzzah") == 5
    talk = [("system", "foobar baz"), ("user", "how foobar am I?")]
    assert sum(counter.message(role, [text]) for role, text in talk) + tokens.PROMPT_FRAME == 19
