"""What replayed turns cost, as columns and in all."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from sessions_app.domain.model_prices import Prices
from sessions_app.domain.replayed import Column, ReplayedTurn, ReplayTotals

# The offline summarizer is the one that there is.
SUMMARY_COST = Decimal(0)


def priced_columns(turns: Sequence[ReplayedTurn], prices: Prices) -> dict[str, Column]:
    """Return the columns by name, with those of the costs before the refusals."""
    columns: dict[str, Column] = {
        name: [turn[place] for turn in turns] for place, name in enumerate(ReplayedTurn._fields)
    }
    errors = columns.pop("error")
    columns["input_cost"] = [_cost(turn, prices, cached=0) for turn in turns]
    columns["cached_input_cost"] = [_cost(turn, prices, cached=turn.stable_prefix or 0) for turn in turns]
    columns["summary_cost"] = [None if turn.tokens is None else SUMMARY_COST for turn in turns]
    return columns | {"error": errors}


def totals_of(columns: Mapping[str, Column], *, summaries: int) -> ReplayTotals:
    """Sum the columns up."""
    errors = sum(error is not None for error in columns["error"])
    return ReplayTotals(
        turns=len(columns["error"]),
        errors=errors,
        turns_with_lost=sum(bool(lost) for lost in columns["lost"]),
        summaries=summaries,
        tokens=_whole(columns["tokens"]),
        stable_prefix=_whole(columns["stable_prefix"]),
        input_cost=_money(columns["input_cost"], errors),
        cached_input_cost=_money(columns["cached_input_cost"], errors),
        summary_cost=SUMMARY_COST,
    )


def _cost(turn: ReplayedTurn, prices: Prices, *, cached: int) -> Decimal | None:
    return None if turn.tokens is None else prices.cost(input_tokens=turn.tokens, cached=cached)


def _whole(column: Column) -> int:
    return sum(each for each in column if isinstance(each, int))


def _money(column: Column, errors: int) -> Decimal | None:
    """Return the sum, or None if the cost of a prompt that could be built is not known."""
    known = [each for each in column if isinstance(each, Decimal)]
    return sum(known, Decimal(0)) if len(known) + errors == len(column) else None
