"""Buffer: all runs are candidates, none is summarized."""

from sessions_app.domain.candidates import Candidates
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import TranscriptReader


def candidates(reader: TranscriptReader, settings: MemorySettings) -> Candidates:  # noqa: ARG001
    """Return all runs; what does not fit is pruned."""
    return Candidates(summary=None, dropped=Fate.PRUNED)
