"""Summarizes a conversation step by step, when and as far as the product does."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

from sessions_app.domain.in_memory import InMemoryTranscript
from sessions_app.domain.memory_settings import MemorySettings, Strategy
from sessions_app.domain.summaries import Standing, Summarizer, SummaryRequest, accepted_text, fixed_tokens, next_step
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.domain.transcript import Run

SETTINGS = MemorySettings(model="gpt-4.1-mini", strategy=Strategy.SUMMARY, max_input_tokens=4_000)
BATCH_TOKENS = 32_000

Step = tuple[Run, ...]


def steps_of(transcript: InMemoryTranscript) -> Iterator[Step]:
    """Return the runs that each summarizing takes while the conversation grows, run by run."""
    runs, covered = transcript.runs, 0
    before = [0, *accumulate(run.tokens for run in runs)]
    for finished in range(1, len(runs) + 1):
        standing = Standing(
            finished_through=finished,
            covered_through=covered,
            fixed_tokens=fixed_tokens(transcript.instructions),
            waiting_tokens=before[finished] - before[covered],
            budget=SETTINGS.max_input_tokens,
        )
        waiting = (run.tokens for run in runs[covered:finished])
        through = next_step(standing=standing, settings=SETTINGS, waiting=waiting, batch_tokens=BATCH_TOKENS)
        if through is not None:
            yield tuple(runs[covered:through])
            covered = through


def texts_after(steps: Iterable[Step], summarize: Summarizer) -> Iterator[str]:
    """Return the summary after each step, made from the one before and the runs that the step takes."""
    text = ""
    for runs in steps:
        request = SummaryRequest(text, runs, SETTINGS.max_summary_tokens, STORED_COUNTER.text)
        text = accepted_text(summarize(request), request)
        yield text
