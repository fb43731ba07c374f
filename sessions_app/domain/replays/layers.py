"""What became of the runs before a turn, oldest first, from the figures of its replayed prompt."""

from collections.abc import Iterator, Mapping

from sessions_app.domain.memory_settings import MemorySettings, Strategy
from sessions_app.domain.plan import Fate
from sessions_app.domain.replays.replayed import Column

Layer = tuple[Fate, int]


def layers_of(columns: Mapping[str, Column], turn: int, values: MemorySettings) -> list[Layer]:
    """Return fates and how many neighbouring runs have each; nothing if there was no prompt.

    Where a strategy sends runs from here and there, those behind the first are taken to be the newest.
    """
    counts = {fate: _count(columns, fate, turn) for fate in Fate}
    first, kept = columns["first_kept"][turn - 1], counts.pop(Fate.KEPT)
    before = first - 1 if isinstance(first, int) else turn - 1
    front, behind = _parted(counts, before)
    head = min(_head(counts, before, values), kept) if behind else kept
    layers = [*front, (Fate.KEPT, head), *behind, (Fate.KEPT, kept - head)]
    return [(fate, count) for fate, count in layers if count]


def _count(columns: Mapping[str, Column], fate: Fate, turn: int) -> int:
    count = columns[fate][turn - 1]
    return count if isinstance(count, int) else 0


def _parted(counts: Mapping[Fate, int], before: int) -> tuple[list[Layer], list[Layer]]:
    """Part the runs that are not sent, in the order of precedence, behind so many."""
    pieces = list(_pieces(counts, before))
    return [layer for layer, is_front in pieces if is_front], [layer for layer, is_front in pieces if not is_front]


def _pieces(counts: Mapping[Fate, int], before: int) -> Iterator[tuple[Layer, bool]]:
    for fate, count in counts.items():
        here = min(count, before)
        before -= here
        for size, is_front in ((here, True), (count - here, False)):
            if size:
                yield (fate, size), is_front


def _head(counts: Mapping[Fate, int], before: int, values: MemorySettings) -> int:
    """Return how many of the first runs are sent where not all neighbours are."""
    if values.strategy is not Strategy.HEAD_TAIL:
        return 1
    return max(1, values.head_runs - (before - counts[Fate.CAPPED] - counts[Fate.SKIPPED]))
