"""Which of the candidates fit the budget: in their precedence, and nothing behind the first that does not fit."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sessions_app.domain.candidates import Excerpt, Series
from sessions_app.domain.pieces import Piece
from sessions_app.domain.plan import Cut
from sessions_app.domain.run_rendering import RenderedRun
from sessions_app.domain.shortening import shortened
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Event, LikeRuns, Run, RunStatus, TranscriptReader

Span = tuple[int, int]


class Rendering(Protocol):
    """How a run becomes what is sent."""

    def __call__(self, excerpt: Excerpt, *, gap: int, newer: int) -> RenderedRun:
        """Render a run behind which `gap` runs are left out and `newer` tool results stand."""
        ...


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """The runs first..last, which are sent; `excerpt` is an example of them in all that a reason tells."""

    first: int
    last: int
    excerpt: Excerpt


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of the candidates are sent, oldest first, what they need with the margin, and where the budget ended.

    `out` are the runs first..last that were wanted and are dropped from `cut` on, `read` those that were all taken.
    """

    kept: tuple[KeptRuns, ...]
    tokens: int
    cut: Cut | None
    out: tuple[Span, ...] = ()
    read: tuple[Span, ...] = ()
    shortened: int | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """What fits, rendered, oldest first.

    `first_out` is the first that did not fit, `needs` what the prompt would have needed more with it and `left` the
    tokens that were left for it; `out` are the runs first..last that were wanted and are dropped with it, `read` those
    that were all read. `shortened` was cut to fit.
    """

    kept: tuple[RenderedRun, ...]
    first_out: RenderedRun | None
    needs: int
    left: int
    out: tuple[Span, ...] = ()
    read: tuple[Span, ...] = ()
    shortened: RenderedRun | None = None

    @property
    def room(self) -> int:
        """The tokens that there are for runs."""
        return self.left + sum(rendered.tokens for rendered in self.kept)

    @property
    def pieces(self) -> list[Piece]:
        """The pieces of the kept runs."""
        return [piece for rendered in self.kept for piece in rendered.pieces]

    @property
    def choice(self) -> Choice:
        """What is chosen, without how it looks."""
        out = self.first_out
        return Choice(
            kept=tuple(KeptRuns(each.position, each.position, each.excerpt) for each in self.kept),
            tokens=sum(rendered.tokens for rendered in self.kept),
            cut=Cut(out.position, self.needs, self.left) if out else None,
            out=self.out,
            read=self.read,
            shortened=self.shortened.position if self.shortened else None,
        )


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

    def rendered(self, excerpt: Excerpt, following: RenderedRun | None = None) -> RenderedRun:
        """Render what is taken of a run as it stands before the one that follows, None: before the tail."""
        gap, newer = self._behind(excerpt.run.position, following)
        return self.render(excerpt, gap=gap, newer=newer)

    def add(self, excerpt: Excerpt) -> tuple[RenderedRun, int] | None:
        """Put one more run in its place, if it fits, else return it and what is needed more with it."""
        place = bisect_left(self.runs, -excerpt.run.position, key=lambda each: -each.position)
        added = self.rendered(excerpt, self.runs[place - 1] if place else None)
        renewed = list(self._renewed(added, place))
        replaced = self.runs[place : place + len(renewed)]
        needs = sum(each.tokens for each in (added, *renewed)) - sum(each.tokens for each in replaced)
        if needs > self.left:
            return added, needs
        self.runs[place : place + len(renewed)] = [added, *renewed]
        self.tokens += needs
        return None

    def _renewed(self, added: RenderedRun, place: int) -> Iterator[RenderedRun]:
        """Render anew what stands before an added run, as far as its marks and results change with what is behind."""
        following = added
        for index in range(place, len(self.runs)):
            before = self.runs[index]
            if (before.gap, before.newer) == self._behind(before.position, following):
                return
            following = self.rendered(before.excerpt, following)
            yield following

    def _behind(self, position: int, following: RenderedRun | None) -> tuple[int, int]:
        """Return how many runs are left out behind a run, and how many newer results there are."""
        behind, newer = (following.position, following.results) if following else (self.behind, self.newer)
        return behind - position - 1, newer


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

    The stored tokens choose what to fetch, the counts in the prompt's own encoding and format decide. With `shorten`
    the first that is wanted is cut to fit.
    """
    spans = _spans(wanted, not_below)
    cut: RenderedRun | None = None
    for index, want in enumerate(wanted):
        for excerpt in _excerpts(reader, want, spans[index], shelf, counter):
            left, out = shelf.left, shelf.add(excerpt)
            if out is not None and shorten and not shelf.runs:
                cut = _add_cut(shelf, excerpt)
                out = None if cut else out
            if out is not None:
                run, needs = out
                dropped, read = _dropped_with(spans[index:], run.position), _read_with(spans[: index + 1], run.position)
                return Selection(shelf.kept, run, needs, left, dropped, read, cut)
    return Selection(shelf.kept, None, 0, shelf.left, read=tuple(spans), shortened=cut)


def weigh_runs(reader: TranscriptReader, series: Series, *, room: int, not_below: int) -> Choice:
    """Choose the same of one series without reading it: only where what is stored is exactly what its runs need."""
    span = _spans([series], not_below)[0]
    weighed = reader.weigh(not_below=span[0], tokens=room)
    alike = tuple(map(_kept, _alike(weighed.first, span[1], weighed.peculiar)))
    if weighed.first_out is None:
        return Choice(alike, weighed.tokens, None, read=(span,))
    cut = Cut(weighed.first - 1, weighed.first_out, room - weighed.tokens)
    return Choice(alike, weighed.tokens, cut, _dropped_with([span], cut.position), _read_with([span], cut.position))


def _spans(wanted: Sequence[Excerpt | Series], not_below: int) -> list[Span]:
    return [(max(want.first, not_below), want.last) for want in wanted]


def _dropped_with(spans: Sequence[Span], position: int) -> tuple[Span, ...]:
    """Return what is dropped where the budget ends in the first of the spans, at a position."""
    return tuple(span for span in [(spans[0][0], position), *spans[1:]] if span[0] <= span[1])


def _read_with(spans: Sequence[Span], position: int) -> tuple[Span, ...]:
    """Return what is all taken where the budget ends in the last of the spans, at a position."""
    return tuple(span for span in [*spans[:-1], (position + 1, spans[-1][1])] if span[0] <= span[1])


def _excerpts(
    reader: TranscriptReader, want: Excerpt | Series, span: Span, shelf: Shelf, counter: TokenCounter
) -> Iterator[Excerpt]:
    """Yield what is wanted, newest first.

    It is fetched again only while everything fitted and there is more, each time twice as many tokens as fit, so that
    formats in which runs need far less than is stored take few steps too.
    """
    first, position, times = span[0], span[1] + 1, 1
    if isinstance(want, Excerpt):
        yield from [want] if want.first >= first else ()
        return
    while position > first:
        fetched = reader.newest_before(position, not_below=first, tokens=counter.raw_limit(shelf.left) * times)
        if not fetched:
            break
        yield from map(want.take, fetched)
        position, times = fetched[-1].position, times * 2


def _add_cut(shelf: Shelf, excerpt: Excerpt) -> RenderedRun | None:
    """Put a run that is too large on the empty shelf, cut, and return it; None if not even that fits."""
    cut = shortened(excerpt, fits=lambda shorter: shelf.rendered(shorter).tokens <= shelf.room)
    if cut is None:
        return None
    shelf.add(cut)
    return shelf.runs[0]


def _alike(first: int, last: int, peculiar: Sequence[LikeRuns]) -> Iterator[LikeRuns]:
    """Yield the runs first..last: the peculiar ones and, between them, those that completed and only talk and call."""
    for runs in peculiar:
        if first < runs.first:
            yield LikeRuns(first, runs.first - 1, RunStatus.COMPLETED, frozenset())
        yield runs
        first = runs.last + 1
    if first <= last:
        yield LikeRuns(first, last, RunStatus.COMPLETED, frozenset())


def _kept(runs: LikeRuns) -> KeptRuns:
    example = Run(runs.last, runs.status, tuple(map(Event, sorted(runs.other_kinds))))
    return KeptRuns(runs.first, runs.last, Excerpt(example))
