"""What replayed turns cost, as columns and in all."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sessions_app.domain.model_prices import Prices
from sessions_app.domain.replays.replayed import Column, ReplayedTurn, ReplayTotals

# The offline summarizer is the one that there is.
SUMMARY_COST = Decimal(0)
_FIELDS = ReplayedTurn._fields


def priced_columns(turns: Sequence[ReplayedTurn], prices: Prices) -> dict[str, Column]:
    """Return the columns by name, with those of the costs before the refusals."""
    columns: dict[str, Any] = {name: [turn[place] for turn in turns] for place, name in enumerate(_FIELDS)}
    errors = columns.pop("error")
    columns["input_cost"] = _costs(columns["tokens"], [0] * len(turns), prices)
    columns["cached_input_cost"] = _costs(columns["tokens"], columns["stable_prefix"], prices)
    columns["summary_cost"] = [None if turn.tokens is None else SUMMARY_COST for turn in turns]
    return columns | {"error": errors}


def totals_of(columns: Mapping[str, Column], *, summaries: int) -> ReplayTotals:
    """Sum the columns up."""
    errors = sum(error is not None for error in columns["error"])
    return ReplayTotals(
        turns=len(columns["error"]),
        errors=errors,
        turns_with_lost=sum(map(bool, columns["lost"])),
        turns_with_cut_results=sum(map(bool, columns["cut_results"])),
        summaries=summaries,
        tokens=_whole(columns["tokens"]),
        stable_prefix=_whole(columns["stable_prefix"]),
        input_cost=_money(columns["input_cost"], errors),
        cached_input_cost=_money(columns["cached_input_cost"], errors),
        summary_cost=SUMMARY_COST,
    )


def _costs(tokens: Sequence[int | None], cached: Sequence[int | None], prices: Prices) -> list[Decimal | None]:
    """Return what each turn costs; where prices do not depend on the size of the call, each token costs the same."""
    new, old = prices.cost(input_tokens=1), prices.cost(input_tokens=1, cached=1)
    counts = zip(tokens, cached, strict=True)
    if new is None or old is None or prices.have_tiers:
        return [None if sent is None else prices.cost(input_tokens=sent, cached=some or 0) for sent, some in counts]
    return [None if sent is None else new * sent - (new - old) * (some or 0) for sent, some in counts]


def _whole(column: Column) -> int:
    return sum(each for each in column if isinstance(each, int))


def _money(column: Column, errors: int) -> Decimal | None:
    """Return the sum, or None if the cost of a prompt that could be built is not known."""
    known = [each for each in column if isinstance(each, Decimal)]
    return sum(known, Decimal(0)) if len(known) + errors == len(column) else None
