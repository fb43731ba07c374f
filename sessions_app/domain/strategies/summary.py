"""Summary: the summary in use, then the runs it does not cover."""

from sessions_app.domain.candidates import Candidates, Series, Window
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import TranscriptReader

ABOUT = "the summary, then the runs that it does not cover, word for word"


def candidates(reader: TranscriptReader, window: Window, settings: MemorySettings) -> Candidates:
    """Return the newest entry that leaves the newest `offset` runs word for word; what does not fit is lost."""
    covers_at_most = window.last - settings.offset
    return Candidates(
        (Series(window.first, window.last),),
        dropped=Fate.LOST,
        summary=reader.newest_summary(covers_at_most) if covers_at_most > 0 else None,
    )
