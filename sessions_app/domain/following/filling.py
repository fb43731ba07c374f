"""Fills the turns that sums do not tell by building some prompts; those between two alike are taken to be alike."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise

from sessions_app.domain.following.sights import Sight


def fill(
    sights: Sequence[Sight | None], *, build: Callable[[int], Sight], marks: Iterable[int] = (), most: int
) -> tuple[list[Sight], int]:
    """Return all sights, by index, and how many were taken for alike; `build` is called `most` times at most or so.

    First those are built at which something may change, the `marks`, and both ends of each stretch that is not known;
    then, between two that differ, the one in the middle, of the longest stretch first.
    """
    found = list(sights)
    unknown = [index for index, sight in enumerate(found) if sight is None]
    if len(unknown) <= most:
        for index in unknown:
            found[index] = build(index)
        return [sight for sight in found if sight is not None], 0
    wanted = _wanted(unknown, set(marks), most)
    for index in wanted:
        found[index] = build(index)
    _bisect(found, build, most - len(wanted))
    guessed = sum(sight is None for sight in found)
    return list(_spread(found)), guessed


def _wanted(unknown: Sequence[int], marks: set[int], most: int) -> list[int]:
    """Return what is built first: the ends of each stretch and the marks, the newest of them if they are too many."""
    inside = set(unknown)
    ends = {index for index in unknown if index - 1 not in inside or index + 1 not in inside}
    chosen = sorted(ends | (marks & inside))
    return chosen[-max(1, most * 2 // 3) :]


def _bisect(found: list[Sight | None], build: Callable[[int], Sight], left: int) -> None:
    waiting: list[tuple[int, int, int]] = []

    def wait(start: int, end: int) -> None:
        if end - start > 1 and found[start] != found[end]:
            heappush(waiting, (start - end, start, end))

    for start, end in _gaps(found):
        wait(start, end)
    while waiting and left > 0:
        _, start, end = heappop(waiting)
        middle = (start + end) // 2
        found[middle] = build(middle)
        left -= 1
        wait(start, middle)
        wait(middle, end)


def _gaps(found: Sequence[Sight | None]) -> Iterator[tuple[int, int]]:
    """Yield the known neighbours of each stretch that is not known between two that are."""
    known = [index for index, sight in enumerate(found) if sight is not None]
    yield from ((start, end) for start, end in pairwise(known) if end - start > 1)


def _spread(found: Sequence[Sight | None]) -> Iterator[Sight]:
    """Yield every sight, where it is not known that of the turn before, at the beginning of the first that is."""
    before = next(sight for sight in found if sight is not None)
    for sight in found:
        before = before if sight is None else sight
        yield before
