"""The values that a replay gives: a row a turn, then columns, totals and what is assumed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple


class ReplayedTurn(NamedTuple):
    """The prompt of a turn in figures: counts of runs by fate, tokens; or why it could not be built, the others None.

    `stable_prefix` are the tokens of the messages with which the prompt of the turn before began, too: whole messages
    of the same runs, whatever the ids of their calls, without the frame of a prompt; 0 if there was no such prompt.
    `cut_results` counts the tool results in the prompt that are cut, or have a mark in their place.
    """

    tokens: int | None = None
    kept: int | None = None
    summarized: int | None = None
    pruned: int | None = None
    capped: int | None = None
    skipped: int | None = None
    lost: int | None = None
    cut_results: int | None = None
    first_kept: int | None = None
    covers_through: int | None = None
    stable_prefix: int | None = None
    error: str | None = None


Column = Sequence[int | Decimal | str | None]


@dataclass(frozen=True, slots=True)
class ReplayTotals:
    """Sums over the turns whose prompt could be built; costs are in USD, None where a price is not known."""

    turns: int
    errors: int
    turns_with_lost: int
    turns_with_cut_results: int
    summaries: int
    tokens: int
    stable_prefix: int
    input_cost: Decimal | None
    cached_input_cost: Decimal | None
    summary_cost: Decimal


@dataclass(frozen=True, slots=True)
class Replay:
    """All turns of a conversation under some settings; `columns` have a value for each turn, by name."""

    columns: Mapping[str, Column]
    totals: ReplayTotals
    assumptions: tuple[str, ...]
