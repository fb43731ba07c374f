"""Task: what was asked for first and last, and the newest answer without what went wrong."""

from sessions_app.domain.candidates import Candidates, Window
from sessions_app.domain.excerpts import distinct, first_input, newest_answered, newest_input, without_failed_calls
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.transcript import TranscriptReader

ABOUT = "the first run's input, the newest input and the newest answered run without its failed calls"


def candidates(reader: TranscriptReader, window: Window, settings: MemorySettings) -> Candidates:  # noqa: ARG001
    """Return the newest answered run, together with the newest input if that is another run's, then the first input."""
    answered = newest_answered(reader, window)
    clean = None if answered is None else without_failed_calls(answered)
    newest = None if clean and clean.run.position == window.last else newest_input(reader, window)
    return Candidates(distinct(newest, clean, first_input(reader, window)))
