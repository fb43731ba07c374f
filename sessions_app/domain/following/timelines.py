"""Which summary was in use at a moment, from when each came into use and went out of it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sessions_app.domain.transcript import SummaryEntry

Span = tuple[datetime, datetime | None]


@dataclass(frozen=True, slots=True)
class Lifetime:
    """An entry and when it was in use, ends not included, None: until now; of two `rank` says which is the newer."""

    entry: SummaryEntry
    rank: tuple[int, ...]
    spans: tuple[Span, ...]

    def holds(self, moment: datetime) -> bool:
        """Whether it was in use at a moment."""
        return any(start <= moment and (end is None or moment < end) for start, end in self.spans)


@dataclass(slots=True)
class SummaryTimeline:
    """The entries of one ledger; what was in use between two changes is worked out once."""

    lifetimes: Sequence[Lifetime]
    changes: list[datetime] = field(init=False)
    _in_use: dict[int, list[SummaryEntry]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        edges = {edge for each in self.lifetimes for span in each.spans for edge in span if edge is not None}
        self.changes = sorted(edges)

    def newest_at(self, moment: datetime, covers_at_most: int | None = None) -> SummaryEntry | None:
        """Return the newest entry in use that covers at most so many runs."""
        entries = self._at(moment)
        if covers_at_most is not None:
            entries = entries[: bisect_right(entries, covers_at_most, key=lambda entry: entry.covers_through)]
        return entries[-1] if entries else None

    def _at(self, moment: datetime) -> list[SummaryEntry]:
        place = bisect_right(self.changes, moment)
        if place not in self._in_use:
            held = sorted((each for each in self.lifetimes if each.holds(moment)), key=lambda each: each.rank)
            self._in_use[place] = [each.entry for each in held]
        return self._in_use[place]
