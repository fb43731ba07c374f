"""Summary: the summary in use, then the runs it does not cover."""

from sessions_app.domain.candidates import Candidates
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import TranscriptReader


def candidates(reader: TranscriptReader, settings: MemorySettings) -> Candidates:
    """Return the newest entry that leaves the newest `offset` runs word for word; what does not fit is lost."""
    covers_at_most = reader.finished_through - settings.offset
    return Candidates(
        summary=reader.newest_summary(covers_at_most) if covers_at_most > 0 else None,
        dropped=Fate.LOST,
    )
