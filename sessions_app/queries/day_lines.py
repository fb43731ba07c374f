"""Where a day begins in the stream of runs, by the clock of whoever looks."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

from django.utils import timezone

from sessions_app.queries.bands import Band, Piece


def runs_before(bands: Sequence[Band], pieces: Iterable[Piece]) -> Mapping[int, int]:
    """Return the run before each that is shown, by position, 0 before the first; `bands` are the whole stream.

    It may be hidden, so that the line of a day stands in one place however much is opened.
    """
    shown = (position for piece in pieces if piece.opened for position in range(piece.first, piece.last + 1))
    return {position: _before(bands, position) for position in shown}


def days_begun(before: Mapping[int, int], begun: Mapping[int, datetime]) -> Mapping[int, date]:
    """Return the days, by position, of the runs that began on another one than the run before them."""
    days = {position: timezone.localtime(moment).date() for position, moment in begun.items()}
    return {p: days[p] for p, last in before.items() if p in days and last in days and days[p] != days[last]}


def _before(bands: Sequence[Band], position: int) -> int:
    return max((min(band.last, position - 1) for band in bands if band.first < position), default=0)
