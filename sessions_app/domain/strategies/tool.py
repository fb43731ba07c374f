"""Tool: the newest run with all its calls."""

from sessions_app.domain.candidates import Candidates, Series, Window
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.transcript import TranscriptReader

ABOUT = "the newest run with all its tool calls, errors shown"


def candidates(reader: TranscriptReader, window: Window, settings: MemorySettings) -> Candidates:  # noqa: ARG001
    """Return the newest run."""
    return Candidates((Series(max(window.first, window.last), window.last),))
