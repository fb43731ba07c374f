"""A replayed conversation as the Replay tab shows it: totals, charts of at most so many columns, turns one by one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

from sessions_app.domain.memory_settings import MemorySettings, OnGap, Strategy
from sessions_app.domain.plan import UNSEEN_FATES, Fate
from sessions_app.domain.replays.assumptions import summary_tokens
from sessions_app.domain.replays.layers import Layer, layers_of
from sessions_app.domain.replays.replayed import Column, Replay, ReplayTotals
from sessions_app.models import Session
from sessions_app.queries.run_inputs import run_inputs

NO_EXTRACTS = frozenset({OnGap.WARN, OnGap.STOPGAP})
MOST_COLUMNS = 240
PAGE = 100


@dataclass(frozen=True, slots=True)
class ReplayedSide:
    """A conversation under one of two settings; `budget` is None where not known."""

    key: str
    label: str
    values: MemorySettings
    budget: int | None
    replay: Replay

    @property
    def totals(self) -> ReplayTotals:
        """The sums over all turns."""
        return self.replay.totals

    @property
    def summarizes(self) -> bool:
        """Whether it makes summaries."""
        return self.values.strategy is Strategy.SUMMARY

    @property
    def summary_tokens(self) -> int:
        """How long each of its summaries is taken to be."""
        return summary_tokens(self.values)

    @property
    def first_error(self) -> tuple[int, str] | None:
        """The first turn whose prompt could not be built, and why."""
        errors = enumerate(self.replay.columns["error"], 1)
        return next(((turn, str(error)) for turn, error in errors if error is not None), None)

    @property
    def summarize_at(self) -> int | None:
        """From how many tokens on runs are summarized, where that is told by a share of the budget."""
        values = self.values
        if not self.summarizes or not values.summarize_at or self.budget is None:
            return None
        return round(values.summarize_at * self.budget)


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """A turn under one setting: what the prompt holds, or why there is none (`error`); costs are in USD."""

    turn: int
    tokens: int | None
    counts: Mapping[Fate, int]
    cut_results: int
    same: int | None
    cost: Decimal | None
    cached_cost: Decimal | None
    error: str | None

    @property
    def unseen(self) -> int:
        """How many runs the model could not see."""
        return sum(count for fate, count in self.counts.items() if fate in UNSEEN_FATES)

    @property
    def lost(self) -> int:
        """How many runs were lost."""
        return self.counts[Fate.LOST]


@dataclass(frozen=True, slots=True)
class Bin:
    """The turns first..last as one column: the least and most of them, and what became of runs at one of them.

    That is the last, or the one that loses most. `tokens` is None where no prompt could be built.
    """

    first: int
    last: int
    tokens: tuple[int, int] | None
    unseen: tuple[int, int]
    lost: int
    cut_results: int
    errors: int
    summaries: int
    layers: Sequence[Layer]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn in the table: what was asked, and its figures under both settings."""

    turn: int
    input: str
    figures: Sequence[TurnFigures]


def not_shown(sides: Sequence[ReplayedSide]) -> str:
    """Return in which setting the sides differ although a replay treats its values alike, empty if in none."""
    return "on_gap" if {side.values.on_gap for side in sides} == NO_EXTRACTS else ""


def side_at(side: ReplayedSide, turn: int) -> TurnFigures:
    """Return the figures of a turn of a side that was replayed."""
    at = {name: column[turn - 1] for name, column in side.replay.columns.items()}
    return TurnFigures(
        turn=turn,
        tokens=cast("int | None", at.get("tokens")),
        counts={fate: _whole(at.get(fate)) for fate in Fate},
        cut_results=_whole(at.get("cut_results")),
        same=cast("int | None", at.get("stable_prefix")),
        cost=cast("Decimal | None", at.get("input_cost")),
        cached_cost=cast("Decimal | None", at.get("cached_input_cost")),
        error=cast("str | None", at.get("error")),
    )


def bin_size(turns: int) -> int:
    """Return how many turns a column of the charts stands for."""
    return -(-turns // MOST_COLUMNS)


def bins_of(side: ReplayedSide, turns: int) -> list[Bin]:
    """Return the columns of a side's charts: a turn each, or more where there are too many."""
    size = bin_size(turns)
    return [_bin(side, first, min(first + size - 1, turns)) for first in range(1, turns + 1, size)]


def turn_rows(*, session: Session, sides: Sequence[ReplayedSide], first: int) -> list[TurnRow]:
    """Return the page of the table that begins with a turn."""
    turns = range(first, min(first + PAGE, session.last_position + 1))
    inputs = run_inputs(session, turns)
    return [TurnRow(turn, inputs.get(turn, ""), [side_at(side, turn) for side in sides]) for turn in turns]


def _bin(side: ReplayedSide, first: int, last: int) -> Bin:
    columns = side.replay.columns
    of_turns = {
        name: columns[name][first - 1 : last] for name in ("tokens", "error", "cut_results", *map(str, UNSEEN_FATES))
    }
    tokens = [each for each in of_turns["tokens"] if isinstance(each, int)]
    unseen = [sum(map(_whole, counts)) for counts in zip(*(of_turns[fate] for fate in UNSEEN_FATES), strict=True)]
    lost = [*map(_whole, of_turns[Fate.LOST])]
    shown = max(range(len(lost)), key=lambda place: (lost[place], of_turns["tokens"][place] is not None, place))
    return Bin(
        first=first,
        last=last,
        tokens=(min(tokens), max(tokens)) if tokens else None,
        unseen=(min(unseen), max(unseen)),
        lost=max(lost),
        cut_results=max(map(_whole, of_turns["cut_results"])),
        errors=sum(error is not None for error in of_turns["error"]),
        summaries=sum(_steps(columns["covers_through"], first, last)),
        layers=layers_of(columns, first + shown, side.values) if tokens else [],
    )


def _steps(covers: Column, first: int, last: int) -> Iterator[bool]:
    """Yield for each turn whether a summary was new in it."""
    for turn in range(first, last + 1):
        before = covers[turn - 2] if turn > 1 else None
        yield covers[turn - 1] is not None and covers[turn - 1] != before


def _whole(value: int | Decimal | str | None) -> int:
    return value if isinstance(value, int) else 0
