"""Timing: the least of several rounds, since everything that disturbs a measurement only adds to it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SECONDS = 0.5
FEWEST_ROUNDS = 3
LONG_SECONDS = 2.0


def seconds(*works: Callable[[], Any]) -> list[float]:
    """Return what each of the works takes at least; they take turns, so that what disturbs one disturbs all.

    Each gets half a second and at least three rounds; work that takes long is not repeated.
    """
    taken: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    while min(map(len, taken)) < FEWEST_ROUNDS or sum(map(sum, taken)) < SECONDS * len(works):
        for work, times in zip(works, taken, strict=True):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        if max(map(max, taken)) > LONG_SECONDS:
            break
    return [min(times) for times in taken]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: what is compared, both times in seconds, and what their ratio may be at most, if anything.

    `note` says what a reader must know: that a time is extrapolated, what writing costs.
    """

    name: str
    ours: float
    theirs: float
    note: str = ""
    at_most: float | None = None

    @property
    def ratio(self) -> float:
        """Our time as a share of theirs."""
        return self.ours / self.theirs

    @property
    def holds(self) -> bool:
        """Whether the ratio is what it may be."""
        return self.at_most is None or self.ratio <= self.at_most

    def __str__(self) -> str:
        goal = "" if self.at_most is None else f"{'holds' if self.holds else 'MISSED'}: at most {self.at_most:g}"
        cells = (
            self.name,
            _shown(self.ours),
            _shown(self.theirs),
            _ratio(self.ratio),
            "; ".join(filter(None, (goal, self.note))),
        )
        return f"| {' | '.join(cells)} |"


HEADER = "| what | ours | against | ours / against | |\n| --- | --- | --- | --- | --- |"


def _shown(value: float) -> str:
    if value >= 1:
        return f"{value:,.1f} s"
    return f"{value * 1000:,.3g} ms"


def _ratio(value: float) -> str:
    return f"{value:.3g}" if value >= 0.01 else f"1 / {1 / value:,.0f}"
