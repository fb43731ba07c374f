"""The summarizers by name: how many runs the one that a project has chosen takes at once, and asking it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.summaries import Summarized, SummarizerName, SummaryRequest
from sessions_app.domain.summarizers import extractive
from sessions_app.models import ProjectSummarizer, Session
from sessions_app.services import model_summaries

BATCH_TOKENS = 32_000


class SessionSummarizer(Protocol):
    """Makes a text of a session's request, in the way that its project has chosen, or raises SummarizerFailed.

    One that takes several steps asks before each of them whether the text is wanted yet.
    """

    def __call__(
        self,
        *,
        session: Session,
        chosen: ProjectSummarizer,
        request: SummaryRequest,
        is_wanted: Callable[[], bool],
        now: datetime,
    ) -> Summarized:
        """Return the text, who made it, and what it cost."""
        ...


def _extract(*, request: SummaryRequest, **_: Any) -> Summarized:
    return Summarized(extractive.summarize(request))


SUMMARIZERS: dict[str, SessionSummarizer] = {
    SummarizerName.EXTRACTIVE: _extract,
    SummarizerName.OPENAI: model_summaries.summarize,
}


def summarize(
    *,
    session: Session,
    chosen: ProjectSummarizer,
    request: SummaryRequest,
    is_wanted: Callable[[], bool],
    now: datetime,
) -> Summarized:
    """Return what the chosen summarizer makes of a request, or raise SummarizerFailed."""
    chosen_one = SUMMARIZERS[chosen.name]
    return chosen_one(session=session, chosen=chosen, request=request, is_wanted=is_wanted, now=now)


def batch_tokens(*, chosen: ProjectSummarizer, settings: MemorySettings, previous: str) -> int:
    """Return how many tokens of runs, as they are stored, one step takes beside the summary before."""
    if chosen.name != SummarizerName.OPENAI:
        return BATCH_TOKENS
    form = model_summaries.form_of(chosen)
    room = form.counter.raw_limit(max(1, form.room(previous, settings.max_summary_tokens)))
    # Written for a model, short runs need more than in a prompt.
    return min(BATCH_TOKENS, max(1, room * 3 // 4))
