from typing import Any

import pytest

from sessions_app.domain.base_messages import Base
from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import BudgetTooSmall, InvalidInput
from sessions_app.domain.plan import Prompt
from sessions_app.domain.transcript import SummaryEntry
from sessions_app.domain.validity import validate
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user
from tests.domain.recount import count_messages, count_text

FIZZ = [
    {"role": "system", "content": "fizz"},
    {"role": "user", "content": "foo"},
    {"role": "assistant", "content": "bar"},
]


def build(base: Base, runs: int | InMemoryTranscript = 5, query: str | None = None, **overrides: Any) -> Prompt:
    reader = (
        InMemoryTranscript([exchange(f"foo{n}", f"bar{n}") for n in range(1, runs + 1)])
        if isinstance(runs, int)
        else runs
    )
    values = {"strategy": "buffer"} | overrides
    return build_prompt(reader=reader, settings=settings(**values), query=query, base=base)


def contents(prompt: Prompt) -> list[Any]:
    return [message["content"] for message in prompt.messages or ()]


def test_memory_goes_in_before_the_index_and_the_base_stays_as_it_is():
    assert contents(build(Base(FIZZ, 1), 2)) == ["fizz", "foo1", "bar1", "foo2", "bar2", "foo", "bar"]
    prompt = build(Base(FIZZ, 1), 2)
    assert [message for message in prompt.messages or () if message in FIZZ] == FIZZ


@pytest.mark.parametrize(("index", "place"), [(None, 3), (0, 0), (1, 1), (3, 3), (99, 3), (-1, 2), (-3, 0), (-99, 0)])
def test_an_index_counts_as_that_of_a_list(index: int | None, place: int):
    assert contents(build(Base(FIZZ, index), 1))[place] == "foo1"


def test_runs_are_dropped_from_the_oldest_on_and_the_base_never():
    # The prompt 3; the base 6, 5 and 5; each run 6 and 6.
    for budget in range(19, 90):
        prompt = build(Base(FIZZ, 1), max_input_tokens=budget)
        assert prompt.messages is not None
        assert count_messages(prompt.messages, "o200k_base") == prompt.tokens.total <= budget
        kept = min(5, (budget - 19) // 12)
        assert contents(prompt)[1:-2] == [text for n in range(6 - kept, 6) for text in (f"foo{n}", f"bar{n}")]


def test_a_base_over_the_budget_is_an_error_that_names_it():
    with pytest.raises(BudgetTooSmall) as refused:
        build(Base(FIZZ), max_input_tokens=17)
    assert refused.value.needs == {"base": 16, "overhead": 3}


def test_griptapes_own_case_in_its_own_string():
    # The string for 4 of 5 runs, counted as the package does: one token must be left of its limit.
    prompt = build(Base(FIZZ, 1), format="text")
    assert prompt.text == "".join(
        [
            "fizz\n\n",
            *(f"User: foo{n}\n\nAssistant: bar{n}\n\n" for n in range(1, 6)),
            "User: foo\n\nAssistant: bar\n\nAssistant:",
        ]
    )
    assert count_text(prompt.text, "o200k_base") == prompt.tokens.total
    shorter = build(Base(FIZZ, 1), format="text", max_input_tokens=prompt.tokens.total - 1)
    assert shorter.text == prompt.text.replace("User: foo1\n\nAssistant: bar1\n\n", "")


@pytest.mark.parametrize(
    "messages",
    [
        [("system", "\t\n"), ("system", "\n ")],
        [("user", " \u3000"), ("system", "\n\r\n\t")],
        [("system", " .\u3000"), ("system", "\n\r\nx")],
    ],
)
def test_space_that_runs_together_before_a_message_without_a_label_is_counted_too(messages: list[tuple[str, str]]):
    base = Base([{"role": role, "content": content} for role, content in messages])
    whole = build(base, format="text")
    assert whole.text is not None
    for budget in range(whole.tokens.total - 30, whole.tokens.total + 1):
        prompt = build(base, format="text", max_input_tokens=budget)
        assert prompt.text is not None
        assert count_text(prompt.text, "o200k_base") <= prompt.tokens.total <= budget


def test_what_runs_together_with_a_run_that_does_not_fit_is_not_counted():
    base = Base([{"role": "system", "content": "\n\r\nx"}], index=0)
    reader = InMemoryTranscript([exchange("foo", "bar .\u3000")])
    whole = build(base, reader, format="text")
    counts = set()
    for budget in range(whole.tokens.total - 8, whole.tokens.total + 1):
        prompt = build(base, reader, format="text", max_input_tokens=budget)
        assert prompt.text is not None
        assert count_text(prompt.text, "o200k_base") == prompt.tokens.total <= budget
        counts.add(prompt.tokens.total)
    assert len(counts) == 2


def test_the_system_block_goes_in_with_the_runs_and_the_question_comes_last():
    reader = InMemoryTranscript(
        [exchange(f"foo{n}", f"bar{n}") for n in range(1, 4)],
        instructions="Be kind.",
        summaries=[SummaryEntry("s1", 1, 2, "They met.")],
    )
    prompt = build(Base(FIZZ[1:], 0), reader, query="Go on.", strategy="summary", offset=1)
    assert contents(prompt) == [
        "# Instructions\nBe kind.\n\n# Summary of runs 1-2\nThey met.", "foo3", "bar3", "foo", "bar", "Go on.",
    ]  # fmt: skip
    assert [segment.part.value for segment in prompt.segments] == [
        "instructions", "summary", "runs", "runs", "context", "context", "query",
    ]  # fmt: skip


def test_calls_of_the_base_keep_their_ids_and_those_of_the_memory_give_way():
    base: list[dict[str, Any]] = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": "u"}}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "found"},
        {"role": "assistant", "content": "ok"},
    ]
    reader = InMemoryTranscript([run(user("q1"), assistant(), call(parent=1), assistant("a1"))] * 2)
    prompt = build(Base(base, 0), reader, query="Go on.")
    assert prompt.messages is not None
    assert list(prompt.messages[-5:-1]) == base
    ids = [each["id"] for message in prompt.messages for each in message.get("tool_calls", ())]
    assert len(set(ids)) == 3
    assert ids[-1] == "call_1"
    assert validate(prompt.messages, prompt.format) == []
    assert count_messages(prompt.messages, "o200k_base") == prompt.tokens.total


@pytest.mark.parametrize(
    ("message", "pointer"),
    [
        ({"content": "foo"}, "/base/messages/0/role"),
        ({"role": "model", "content": "foo"}, "/base/messages/0/role"),
        ({"role": "user", "content": 7}, "/base/messages/0/content"),
        ({"role": "user", "content": ["foo"]}, "/base/messages/0/content"),
        ({"role": "assistant", "content": None, "tool_calls": [{}]}, "/base/messages/0/tool_calls"),
        ({"role": "assistant", "content": None, "tool_calls": "x"}, "/base/messages/0/tool_calls"),
    ],
)
def test_messages_that_are_none_are_refused(message: dict[str, Any], pointer: str):
    with pytest.raises(InvalidInput) as refused:
        build(Base([message]))
    assert [error.pointer for error in refused.value.errors] == [pointer]


def test_formats_whose_messages_it_does_not_know_take_no_base():
    with pytest.raises(InvalidInput, match="formats openai and text, not with gemini"):
        build(Base(FIZZ), format="gemini")


def test_an_empty_base_is_none():
    assert contents(build(Base([]), 1)) == ["foo1", "bar1"]
