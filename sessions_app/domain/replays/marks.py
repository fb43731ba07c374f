"""What runs need that end with a mark for the runs left out behind them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.replays.recording import common_tokens
from sessions_app.domain.run_rendering import RunRendering
from sessions_app.domain.transcript import Run

# More runs than positions have digits.
MOST_RUNS = 10**9


class MarkedRun(NamedTuple):
    """What a run needs by the kind of its mark, and how much of it is the same with another mark, and with none."""

    tokens: tuple[int, ...]
    with_another: int
    with_none: int


@dataclass(slots=True)
class MarkWeights:
    """The runs with marks. Numbers of as many digits need as many tokens; "1 run" is a kind of its own.

    At most `widest` runs are left out; `only` is the one run that is ever marked, if that is known.
    """

    rendering: RunRendering
    widest: int
    only: int | None
    _runs: dict[int, MarkedRun] = field(init=False, default_factory=dict)

    def add(self, run: Run) -> None:
        """Add the next run; it is rendered with each kind of mark."""
        if self.only in (None, run.position):
            kinds = [narrowest for narrowest, _ in self.widths(self.widest)][::-1]
            marked = [self.rendering(Excerpt(run), gap=gap, newer=0) for gap in (*kinds, 2, 3) if gap]
            *each, two, three = (rendered.pieces for rendered in marked)
            none = self.rendering(Excerpt(run), gap=0, newer=0).pieces
            tokens = tuple(rendered.tokens for rendered in marked[: len(each)])
            self._runs[run.position] = MarkedRun(tokens, common_tokens(two, three), common_tokens(none, two))

    def tokens(self, position: int, gap: int) -> int:
        """Return what a run needs with `gap` runs left out behind it."""
        return self._runs[position].tokens[0 if gap == 1 else len(str(gap))]

    def stem(self, position: int, *, both_marked: bool) -> int:
        """Return what stays the same of a run with two marks, or with one and without."""
        run = self._runs[position]
        return run.with_another if both_marked else run.with_none

    def widths(self, widest: int) -> Iterator[tuple[int, int]]:
        """Yield the gaps of each kind, from the narrowest to the widest, the widest kind first; 0 is the last."""
        kinds = [(0, 0), (1, 1), (2, 9), *((10**digits, 10 ** (digits + 1) - 1) for digits in range(1, 9))]
        yield from ((low, min(high, widest)) for low, high in reversed(kinds) if low <= widest)
