"""Which runs of a conversation are shown one by one and which are folded into a line, from positions alone."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sessions_app.domain.plan import Fate, PromptPlan
from sessions_app.models import Session, Stretch

WINDOW = 40
PEEK = 3

_ALWAYS_SHOWN = frozenset({Fate.KEPT, Fate.LOST})


@dataclass(frozen=True, slots=True)
class Band:
    """Neighbouring runs first..last that share a fate; the fate is None where no prompt could be built."""

    first: int
    last: int
    fate: Fate | None
    reason: str = ""

    @property
    def count(self) -> int:
        """How many runs the band holds."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a band that one session holds; `opened`: its runs are shown one by one, as a single one always is."""

    first: int
    last: int
    fate: Fate | None
    reason: str
    holder: Session
    opened: bool


@dataclass(frozen=True, slots=True)
class Span:
    """The positions first..last."""

    first: int
    last: int

    def __contains__(self, position: int) -> bool:
        return self.first <= position <= self.last

    def newest(self, count: int) -> "Span":
        """The newest `count` positions of the span."""
        return Span(max(self.first, self.last - count + 1), self.last)

    def oldest(self, count: int) -> "Span":
        """The oldest `count` positions of the span."""
        return Span(self.first, min(self.last, self.first + count - 1))


def bands_of(prompt: PromptPlan | None, last_position: int) -> list[Band]:
    """Return a prompt's fates as bands, oldest first; without a prompt all runs are one band."""
    if prompt is None:
        return [Band(1, last_position, None)] if last_position else []
    fates = sorted(prompt.fates, key=lambda fates: fates.first)
    return [Band(fates.first, fates.last, fates.fate, fates.reason) for fates in fates]


def merged(bands: Iterable[Band]) -> list[Band]:
    """Join neighbours of one fate; where they have several reasons, none is left."""
    joined: list[Band] = []
    for band in bands:
        if joined and joined[-1].fate is band.fate:
            reason = band.reason if band.reason == joined[-1].reason else ""
            joined[-1] = Band(joined[-1].first, band.last, band.fate, reason)
        else:
            joined.append(band)
    return joined


def bands_within(bands: Iterable[Band], span: Span) -> list[Band]:
    """Cut the bands to a span of positions."""
    cut = (
        Band(max(band.first, span.first), min(band.last, span.last), band.fate, band.reason)
        for band in bands
        if band.first <= span.last and band.last >= span.first
    )
    return list(cut)


def newest_window(bands: Sequence[Band], *, only: Collection[Fate] | None = None) -> list[Span]:
    """Choose the newest runs to show one by one, at most WINDOW of them.

    Of runs that the model does not see word for word a few suffice, unless they were asked for by `only`.
    """
    spans: list[Span] = []
    left = WINDOW
    for band in sorted(bands, key=lambda band: -band.last):
        if only is not None and band.fate not in only:
            continue
        most = left if only is not None or band.fate in _ALWAYS_SHOWN or band.fate is None else min(left, PEEK)
        span = Span(band.first, band.last).newest(most)
        if most > 0:
            spans.append(span)
            left -= span.last - span.first + 1
        if span.first > band.first or left <= 0:
            break
    return spans


def pieces_of(
    bands: Iterable[Band], *, stretches: Sequence[Stretch], opened: Sequence[Span], cuts: Iterable[int] = ()
) -> list[Piece]:
    """Cut bands, oldest first, where another session's runs begin, where runs are opened, and before `cuts`."""
    starts = {*cuts, *(stretch.first for stretch in stretches)}
    starts |= {edge for span in opened for edge in (span.first, span.last + 1)}
    return [
        _piece(band, first, following - 1, stretches, opened)
        for band in bands
        for first, following in pairwise(
            [band.first, *sorted(start for start in starts if band.first < start <= band.last), band.last + 1]
        )
    ]


def _piece(band: Band, first: int, last: int, stretches: Sequence[Stretch], opened: Sequence[Span]) -> Piece:
    holder = next(stretch.session for stretch in stretches if stretch.first <= first <= stretch.last)
    is_opened = first == last or any(first in span for span in opened)
    return Piece(first, last, band.fate, band.reason, holder, is_opened)
