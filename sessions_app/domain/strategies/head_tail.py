"""Head and tail: how it began, word for word, and the newest runs that fit."""

from sessions_app.domain.candidates import Candidates, Series, Window
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.transcript import TranscriptReader

ABOUT = "the first head_runs runs and the newest that fit"


def candidates(reader: TranscriptReader, window: Window, settings: MemorySettings) -> Candidates:  # noqa: ARG001
    """Return the newest run, then the first ones, then what lies between, newest first."""
    behind_head = min(window.first + settings.head_runs, window.last)
    return Candidates(
        (
            Series(max(window.first, window.last), window.last),
            Series(window.first, behind_head - 1),
            Series(behind_head, window.last - 1),
        )
    )
