"""Trying a summarizer's endpoint: one tiny call, and what came of it."""

import time
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sessions_app.clients import endpoints
from sessions_app.domain.errors import SummarizerFailed
from sessions_app.domain.summarizers.openai import ModelRequest
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import ProjectSummarizer
from sessions_app.services.model_summaries import cost_of, endpoint_of

QUESTION = "Answer with one word: ready"
ANSWER_TOKENS = 16
LONGEST_ANSWER = 500
# A page waits for it.
LONGEST_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Trial:
    """What came back, how long it took and what it cost in USD, if that is known; or in plain words why nothing did."""

    milliseconds: int
    text: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None
    error: str = ""


def try_endpoint(*, chosen: ProjectSummarizer, now: datetime) -> Trial:
    """Ask the model that is chosen, saved or not, for one word."""
    endpoints.prepare()
    started = time.monotonic()
    request = ModelRequest(chosen.model, QUESTION, ANSWER_TOKENS)
    try:
        answer = endpoints.ask(endpoint_of(chosen), request, timeout=min(chosen.timeout_seconds, LONGEST_SECONDS))
    except SummarizerFailed as failure:
        return Trial(_since(started), error=failure.detail)
    text = clean_text(answer.text or answer.refusal).strip()[:LONGEST_ANSWER]
    return Trial(
        _since(started),
        text,
        answer.input_tokens,
        answer.output_tokens,
        cost_of(chosen=chosen, request=request, answer=answer, now=now),
        error="" if text else "It answered, but with an empty text.",
    )


def _since(started: float) -> int:
    return round(1000 * (time.monotonic() - started))
