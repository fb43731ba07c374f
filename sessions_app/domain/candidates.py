"""What a strategy decides: which summary stands before the runs, and what becomes of runs that do not fit."""

from collections.abc import Callable
from dataclasses import dataclass

from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import SummaryEntry, TranscriptReader


@dataclass(frozen=True, slots=True)
class Candidates:
    """The runs behind the summary (all, without one) are candidates; `dropped` is the fate of those over the budget."""

    summary: SummaryEntry | None
    dropped: Fate


Rule = Callable[[TranscriptReader, MemorySettings], Candidates]
