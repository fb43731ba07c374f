"""Replays of small conversations, counted by hand; what is refused, read and taken for granted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.memory_settings import Strategy
from sessions_app.domain.replays.replay import check_replayable, replay
from sessions_app.domain.transcript import ParentContext, Run
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, settings

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
BATCH = 32_000
EXCERPTS = {Strategy.MINIMAL, Strategy.TASK, Strategy.HIERARCHICAL}
SEED_RULES = EXCERPTS | {Strategy.TOOL, Strategy.CONVERSATION}
PARENTS = [ParentContext("Root", "They asked.")]


def exchanges(count: int) -> InMemoryTranscript:
    """Of short ones: a run needs "question n" and "answer n", 3 + 1 + 3 tokens each, its question one of them."""
    return InMemoryTranscript([exchange(f"question {n}", f"answer {n}") for n in range(1, count + 1)])


def columns_of(transcript: InMemoryTranscript, **overrides: Any) -> Any:
    return replay(transcript, [settings(**overrides)], batch_tokens=BATCH, now=NOW)[0].columns


def test_a_buffer_slides_and_with_it_goes_what_a_cache_can_reuse():
    columns = columns_of(exchanges(6), strategy="buffer", max_input_tokens=3 + 7 + 2 * 14 + 5)
    assert columns["kept"] == [0, 1, 2, 2, 2, 2]
    assert columns["pruned"] == [0, 0, 0, 1, 2, 3]
    assert columns["first_kept"] == [None, 1, 1, 2, 3, 4]
    assert columns["tokens"] == [10, 24, 38, 38, 38, 38]
    assert columns["stable_prefix"] == [0, 7, 21, 0, 0, 0]


def test_a_summary_moves_in_steps_between_which_the_beginning_stays():
    columns = columns_of(
        exchanges(20), strategy="summary", max_input_tokens=150, offset=1, max_summary_tokens=10, summarize_to=0.2
    )
    covers = [covered or 0 for covered in columns["covers_through"]]
    moved = [turn for turn in range(1, 20) if covers[turn] != covers[turn - 1]]
    assert covers == sorted(covers)
    assert 0 < len(moved) < 5
    assert [turn for turn in range(1, 20) if columns["stable_prefix"][turn] == 0] == moved


def test_what_stays_of_head_and_tail_ends_at_the_mark():
    columns = columns_of(exchanges(8), strategy="head_tail", max_input_tokens=66)
    # Of the first run its question; its answer ends with how many runs are not shown.
    assert columns["first_kept"] == [None] + [1] * 7
    assert columns["stable_prefix"][-1] == 7


@pytest.mark.parametrize(("format", "strategy"), [("openai", "conversation"), ("text", "buffer"), ("gemini", "task")])
def test_runs_are_read_once_for_all_settings(format: str, strategy: str):
    @dataclass
    class Counting(InMemoryTranscript):
        read: int = 0

        def all_runs(self) -> Sequence[Run]:
            self.read += 1
            return self.runs

    transcript = Counting([exchange("Hello.", "Hi.")])
    asked = [settings(strategy=strategy, format=format), settings(strategy=strategy, format="responses")]
    assert len(replay(transcript, asked, batch_tokens=BATCH, now=NOW)) == 2
    assert transcript.read == 1


def test_from_what_is_stored_no_run_is_read():
    class Unread(InMemoryTranscript):
        def all_runs(self) -> Sequence[Run]:
            raise AssertionError("The runs were read.")

    asked = [settings(strategy=strategy, max_input_tokens=100) for strategy in ("buffer", "summary", "tool")]
    transcript = Unread([exchange("Hello.", "Hi.")])
    assert [each.columns["kept"] for each in replay(transcript, asked, batch_tokens=BATCH, now=NOW)] == [[0]] * 3


@pytest.mark.parametrize("strategy", sorted(SEED_RULES))
def test_chuks_own_prompts_are_refused(strategy: str):
    with pytest.raises(InvalidInput, match="buffer, head_tail and summary can") as refused:
        check_replayable(settings(format="seed", strategy=strategy))
    assert [error.pointer for error in refused.value.errors] == ["/settings/format"]


@pytest.mark.parametrize("strategy", sorted(set(Strategy) - EXCERPTS - {Strategy.TOOL}))
def test_results_that_lose_their_place_turn_by_turn_are_refused(strategy: str):
    for allowed in ("unlimited", 0):
        check_replayable(settings(strategy=strategy, keep_tool_results=allowed))
    check_replayable(settings(strategy=strategy, keep_tool_results=2, format="text"))
    with pytest.raises(InvalidInput, match="only unlimited and 0 can") as refused:
        check_replayable(settings(strategy=strategy, keep_tool_results=2))
    assert [error.pointer for error in refused.value.errors] == ["/settings/keep_tool_results"]


def test_it_says_what_it_takes_for_granted():
    asked = [
        settings(strategy="summary", max_summary_tokens=77),
        settings(strategy="buffer", include_parent_context=True),
        settings(strategy="buffer", model="unheard-of", max_input_tokens=900),
    ]
    transcript = InMemoryTranscript(parents=PARENTS)
    rolling, with_parents, unpriced = (
        " ".join(each.assumptions) for each in replay(transcript, asked, batch_tokens=BATCH, now=NOW)
    )
    assert "each is 77 tokens long" in rolling
    assert "count as lost" in rolling
    assert "Parents hand down what they hand down today." in with_parents
    assert "Summaries" not in with_parents
    assert "What tokens of unheard-of cost is not known." in unpriced


@pytest.mark.parametrize("strategy", [Strategy.BUFFER, Strategy.SUMMARY, Strategy.HEAD_TAIL, *SEED_RULES])
def test_without_runs_there_are_no_turns(strategy: Strategy):
    assert set(map(len, columns_of(InMemoryTranscript(), strategy=strategy).values())) == {0}


@pytest.mark.parametrize("limit", [2**31 - 1, 20_000])
@pytest.mark.parametrize("max_input_tokens", [2**31 - 1, 30_000])
def test_no_simulated_summary_is_longer_than_any_summarizer_writes(limit: int, max_input_tokens: int):
    overrides = {"offset": 0, "summarize_at": 0, "max_input_tokens": max_input_tokens, "max_summary_tokens": limit}
    columns = columns_of(exchanges(3), strategy="summary", **overrides)
    longest = min(16_384, max_input_tokens // 2)
    assert longest - 50 < columns["tokens"][-1] < longest + 50
