"""A conversation grows while every third call of the summarizer fails; the prompt of each turn is built."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.plan import Prompt
from sessions_app.domain.summaries import Standing, SummaryRequest, next_step, retry_seconds, standing_of
from sessions_app.domain.summarizers import extractive
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.domain.transcript import Run, SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, settings

TURNS = 300
SECONDS_A_TURN = 60
FAILING = 0.3
BATCH_TOKENS = 32_000
WORDS = ("tide", "gauge", "chalk", "marks", "ferry", "odd", "days", "lamp", "rope", "counts", "north", "pier", "wind")


def conversation(chance: Random) -> list[Run]:
    """Runs of some ten to some hundred and fifty tokens, with something to remember in each."""
    return [exchange(f"{said(chance, 12)} {turn}?", said(chance, chance.choice([5, 30, 90]))) for turn in range(TURNS)]


def said(chance: Random, most: int) -> str:
    """Some sentences."""
    words = chance.choices(WORDS, k=chance.randint(3, most + 3))
    return " ".join(f"{word.capitalize()}." if chance.random() < 0.15 else word for word in words)


@dataclass
class Conversation:
    """A conversation as it is after each turn, with the summaries that were made of it until then."""

    chance: Random
    limits: dict[str, Any]
    summaries: list[SummaryEntry] = field(default_factory=list)
    attempts: int = 0
    next_attempt_at: int = 0
    failures: int = 0

    def prompts(self) -> Iterator[Prompt]:
        """Yield the prompt of each turn, what is due being summarized before it."""
        runs = conversation(self.chance)
        for turn in range(1, TURNS + 1):
            reader = InMemoryTranscript(runs[:turn], "Be kind.", self.summaries)
            while turn * SECONDS_A_TURN >= self.next_attempt_at and (through := self._due(reader)):
                self._try(reader, through, now=turn * SECONDS_A_TURN)
            yield self._built(reader, "And then?")

    def _built(self, reader: InMemoryTranscript, query: str | None) -> Prompt:
        return build_prompt(reader=reader, settings=settings(**self.limits), query=query)

    def _due(self, reader: InMemoryTranscript) -> int | None:
        """Return through which run to summarize, those that would be lost in any case."""
        standing = standing_of(reader, budget=self.limits["max_input_tokens"])
        step = self._step(reader, standing)
        if step is None:
            lost = max((each.last for each in self._built(reader, None).gap), default=0)
            step = self._step(reader, replace(standing, lost_through=lost))
        return step

    def _step(self, reader: InMemoryTranscript, standing: Standing) -> int | None:
        waiting = [run.tokens for run in reader.runs[standing.covered_through :]]
        values = settings(**self.limits).values
        return next_step(standing=standing, settings=values, waiting=waiting, batch_tokens=BATCH_TOKENS)

    def _try(self, reader: InMemoryTranscript, through: int, *, now: int) -> None:
        if self.chance.random() < FAILING:
            self.attempts, self.failures = self.attempts + 1, self.failures + 1
            self.next_attempt_at = now + retry_seconds(self.attempts)
            return
        self.attempts = 0
        newest = self.summaries[-1] if self.summaries else SummaryEntry("", 0, 0, "")
        request = SummaryRequest(newest.text, tuple(reader.runs[newest.covers_through : through]), 512, count_tokens)
        entry = SummaryEntry(f"s{newest.number + 1}", newest.number + 1, through, extractive.summarize(request))
        self.summaries.append(entry)


def count_tokens(text: str) -> int:
    return STORED_COUNTER.text(text)


@pytest.mark.parametrize(("budget", "offset"), [(300, 6), (500, 1), (800, 16), (1_200, 6)])
def test_no_run_is_lost_without_an_extract_while_a_third_of_the_calls_fail(budget: int, offset: int):
    told = Conversation(Random(f"{budget} {offset}"), {"max_input_tokens": budget, "offset": offset})
    prompts = list(told.prompts())
    assert sum(len(prompt.lost) for prompt in prompts) == 0
    assert all(prompt.tokens.total <= budget for prompt in prompts)
    extracts = [prompt for prompt in prompts if prompt.extract]
    assert len(extracts) > 10
    for prompt in extracts:
        assert prompt.messages is not None
        assert prompt.extract is not None
        heading = "# Extract of runs {}-{}, not summarized yet\n".format(*prompt.extract)
        assert heading in prompt.messages[0]["content"]
        assert "runs_extracted" in {warning.code.value for warning in prompt.warnings}
    assert told.failures > 10


def test_without_extracts_the_same_conversation_loses_runs():
    told = Conversation(Random("300 6"), {"max_input_tokens": 300, "offset": 6, "on_gap": "warn"})
    assert sum(bool(prompt.lost) for prompt in told.prompts()) > 100
