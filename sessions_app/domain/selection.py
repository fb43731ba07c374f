"""Which of the candidates fit the budget: in their precedence, and nothing behind the first that does not fit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sessions_app.domain.candidates import Excerpt, Series
from sessions_app.domain.pieces import Piece
from sessions_app.domain.run_rendering import RenderedRun
from sessions_app.domain.shortening import shortened
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import TranscriptReader

Span = tuple[int, int]


class Rendering(Protocol):
    """How a run becomes what is sent."""

    def __call__(self, excerpt: Excerpt, *, gap: int, newer: int) -> RenderedRun:
        """Render a run behind which `gap` runs are left out and `newer` tool results stand."""
        ...


@dataclass(frozen=True, slots=True)
class Selection:
    """What fits, oldest first.

    `first_out` is the first that did not fit and `left` the tokens that were left for it; `out` are the runs
    first..last that were wanted and are dropped with it, `read` those that were all read. `shortened` was cut to fit.
    """

    kept: tuple[RenderedRun, ...]
    first_out: RenderedRun | None
    left: int
    out: tuple[Span, ...] = ()
    read: tuple[Span, ...] = ()
    shortened: RenderedRun | None = None

    @property
    def pieces(self) -> list[Piece]:
        """The pieces of the kept runs."""
        return [piece for rendered in self.kept for piece in rendered.pieces]

    @property
    def tokens(self) -> int:
        """What the kept runs need."""
        return sum(rendered.tokens for rendered in self.kept)


@dataclass(slots=True)
class Shelf:
    """The runs that are kept so far, newest first, in `room` tokens; `behind` is the position after the newest."""

    render: Rendering
    room: int
    behind: int
    newer: int = 0
    runs: list[RenderedRun] = field(default_factory=list)
    tokens: int = 0

    @property
    def left(self) -> int:
        """The tokens that are left."""
        return self.room - self.tokens

    @property
    def kept(self) -> tuple[RenderedRun, ...]:
        """The runs, oldest first."""
        return tuple(self.runs[::-1])

    def rendered(self, excerpt: Excerpt) -> RenderedRun:
        """Render what is taken of a run as it stands before the kept ones."""
        following, newer = (self.runs[-1].position, self.runs[-1].results) if self.runs else (self.behind, self.newer)
        return self.render(excerpt, gap=following - excerpt.run.position - 1, newer=newer)

    def add(self, excerpt: Excerpt) -> RenderedRun | None:
        """Put one more run in its place, if it fits, else return it; those before it are rendered anew."""
        place = len(self.runs)
        while place and self.runs[place - 1].position < excerpt.run.position:
            place -= 1
        older, tokens = self.runs[place:], self.tokens
        del self.runs[place:]
        self.tokens -= sum(each.tokens for each in older)
        for each in (excerpt, *(each.excerpt for each in older)):
            self.runs.append(self.rendered(each))
            self.tokens += self.runs[-1].tokens
        if self.tokens <= self.room:
            return None
        out = self.runs[place]
        self.runs[place:], self.tokens = older, tokens
        return out


def select_runs(
    reader: TranscriptReader,
    wanted: Sequence[Excerpt | Series],
    *,
    shelf: Shelf,
    not_below: int,
    counter: TokenCounter,
    shorten: bool = False,
) -> Selection:
    """Take what fits on the shelf of what is wanted, in its precedence; runs below `not_below` are not wanted.

    The stored tokens choose what to fetch, the counts in the prompt's own encoding and format decide; it is fetched
    again only while everything fitted and there is more. With `shorten` the first that is wanted is cut to fit.
    """
    spans = [(max(want.first, not_below), want.last) for want in wanted]
    cut: RenderedRun | None = None
    for index, want in enumerate(wanted):
        for excerpt in _excerpts(reader, want, spans[index], shelf, counter):
            left, out = shelf.left, shelf.add(excerpt)
            if out is not None and shorten and not shelf.runs:
                out, cut = _add_cut(shelf, out)
            if out is not None:
                dropped = [
                    span for span in [(spans[index][0], out.position), *spans[index + 1 :]] if span[0] <= span[1]
                ]
                return Selection(shelf.kept, out, left, tuple(dropped), tuple(spans[:index]), cut)
    return Selection(shelf.kept, None, shelf.left, read=tuple(spans), shortened=cut)


def _excerpts(
    reader: TranscriptReader, want: Excerpt | Series, span: Span, shelf: Shelf, counter: TokenCounter
) -> Iterator[Excerpt]:
    first, position = span[0], span[1] + 1
    if isinstance(want, Excerpt):
        yield from [want] if want.first >= first else ()
        return
    while position > first:
        fetched = reader.newest_before(position, not_below=first, tokens=counter.raw_limit(shelf.left))
        if not fetched:
            break
        yield from map(want.take, fetched)
        position = fetched[-1].position


def _add_cut(shelf: Shelf, out: RenderedRun) -> tuple[RenderedRun | None, RenderedRun | None]:
    """Put a run that is too large on the empty shelf, cut; return it as out if not even that fits, else as cut."""
    cut = shortened(out.excerpt, fits=lambda shorter: shelf.rendered(shorter).tokens <= shelf.room)
    if cut is None:
        return out, None
    shelf.add(cut)
    return None, shelf.runs[0]
