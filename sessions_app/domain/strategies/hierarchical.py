"""Hierarchical: minimal, and always what the parents hand down (`MemorySettings.takes_parents`)."""

from sessions_app.domain.candidates import Candidates, Window
from sessions_app.domain.excerpts import distinct, first_input, newest_answered
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.transcript import TranscriptReader

ABOUT = "the parents' context, the first run's input and the newest answered run"


def candidates(reader: TranscriptReader, window: Window, settings: MemorySettings) -> Candidates:  # noqa: ARG001
    """Return the newest answered run, then the first input."""
    return Candidates(distinct(newest_answered(reader, window), first_input(reader, window)))
