"""Which finished runs fit the budget: newest first, whole, and nothing behind the first that does not fit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sessions_app.domain.pieces import Piece, tokens_of
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Run, TranscriptReader


@dataclass(frozen=True, slots=True)
class RenderedRun:
    """A run and what it looks like in the prompt, counted exactly."""

    run: Run
    pieces: Sequence[Piece]

    @property
    def tokens(self) -> int:
        """What the run needs, margin included."""
        return tokens_of(self.pieces)


@dataclass(frozen=True, slots=True)
class Selection:
    """The runs that fit, oldest first, the first that did not, and the tokens that were left for it."""

    kept: tuple[RenderedRun, ...]
    first_out: RenderedRun | None
    left: int


def select_runs(
    reader: TranscriptReader,
    *,
    not_below: int,
    room: int,
    render: Callable[[Run], Sequence[Piece]],
    counter: TokenCounter,
) -> Selection:
    """Take the newest runs that fit `room`.

    The stored tokens choose what to fetch, the counts in the prompt's own encoding and format decide; it is fetched
    again only while everything fitted and there is more.
    """
    kept: list[RenderedRun] = []
    position = reader.finished_through + 1
    while position > not_below:
        fetched = reader.newest_before(position, not_below=not_below, tokens=counter.raw_limit(room))
        if not fetched:
            break
        for run in fetched:
            rendered = RenderedRun(run, render(run))
            if rendered.tokens > room:
                return Selection(tuple(reversed(kept)), rendered, room)
            kept.append(rendered)
            room -= rendered.tokens
        position = fetched[-1].position
    return Selection(tuple(reversed(kept)), None, room)
