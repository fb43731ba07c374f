"""Conversation: the newest messages, whatever runs they belong to."""

from sessions_app.domain.candidates import Candidates, Excerpt, Series, Window
from sessions_app.domain.excerpts import newest_messages
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.transcript import Run, TranscriptReader

ABOUT = "the newest max_history messages, from a user message on"


def candidates(reader: TranscriptReader, window: Window, settings: MemorySettings) -> Candidates:
    """Return the runs of the newest messages; of the oldest of them maybe only the end."""
    count = settings.max_history
    skipped = f"max_history {count:,}: only the newest messages, from a user message on"
    start = reader.oldest_question(among=count, not_below=window.first) if count else None
    if start is None:
        return Candidates((), skipped=skipped)

    def take(run: Run) -> Excerpt:
        return newest_messages(run, start.messages) if run.position == start.position else Excerpt(run)

    return Candidates((Series(start.position, window.last, take),), skipped=skipped)
