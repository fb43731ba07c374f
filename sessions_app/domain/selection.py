"""Which finished runs fit the budget: newest first, whole, and nothing behind the first that does not fit."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sessions_app.domain.pieces import Piece, tokens_of
from sessions_app.domain.plan import Cut
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Event, LikeRuns, Run, RunStatus, TranscriptReader


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """The runs first..last, which fit; `run` is an example of them in all that a reason tells.

    `pieces` are what they look like; none if they were only weighed.
    """

    first: int
    last: int
    run: Run
    pieces: Sequence[Piece] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """The runs that fit, oldest first, what they need with the margin, and where the budget ended, if it did."""

    kept: tuple[KeptRuns, ...]
    tokens: int
    cut: Cut | None


Selector = Callable[..., Selection]


def select_runs(
    reader: TranscriptReader,
    *,
    not_below: int,
    room: int,
    render: Callable[[Run], Sequence[Piece]],
    counter: TokenCounter,
) -> Selection:
    """Take the newest runs that fit `room` and render them.

    The stored tokens choose what to fetch, the counts in the prompt's own encoding and format decide. It is fetched
    again only while everything fitted and there is more, each time twice as many tokens as fit, so that formats in
    which runs need far less than is stored take few steps too.
    """
    kept: list[KeptRuns] = []
    left, times, position = room, 1, reader.finished_through + 1
    while position > not_below:
        fetched = reader.newest_before(position, not_below=not_below, tokens=counter.raw_limit(left) * times)
        if not fetched:
            break
        for run in fetched:
            pieces = render(run)
            needs = tokens_of(pieces)
            if needs > left:
                return Selection(tuple(reversed(kept)), room - left, Cut(run.position, needs, left))
            kept.append(KeptRuns(run.position, run.position, run, pieces))
            left -= needs
        position, times = fetched[-1].position, times * 2
    return Selection(tuple(reversed(kept)), room - left, None)


def weigh_runs(reader: TranscriptReader, *, not_below: int, room: int) -> Selection:
    """Take the same runs without reading them: only where what is stored with runs is exactly what they need."""
    weighed = reader.weigh(not_below=not_below, tokens=room)
    left = room - weighed.tokens
    cut = None if weighed.first_out is None else Cut(weighed.first - 1, weighed.first_out, left)
    alike = _alike(weighed.first, reader.finished_through, weighed.peculiar)
    return Selection(tuple(map(_kept, alike)), weighed.tokens, cut)


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
    return KeptRuns(runs.first, runs.last, example)
