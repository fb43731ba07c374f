"""Buffer: all runs are candidates, none is summarized."""

from sessions_app.domain.candidates import Candidates, Series, Window
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.transcript import TranscriptReader

ABOUT = "the newest runs that fit, word for word"


def candidates(reader: TranscriptReader, window: Window, settings: MemorySettings) -> Candidates:  # noqa: ARG001
    """Return all runs; what does not fit is pruned."""
    return Candidates((Series(window.first, window.last),))
