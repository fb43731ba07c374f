"""Replays as bots ask for and get them."""

from decimal import Decimal
from typing import Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from sessions_app.api.schemas import In, Out, money
from sessions_app.api.setting_schemas import RequestSettings
from sessions_app.domain.replays.replayed import Column, Replay, ReplayTotals

ONE_OR_TWO = 'Give "settings", or "a" and "b"; "a" left out are the saved settings'
Whole = int | None
Cost = str | None


class ReplayIn(In):
    """One of: settings over those that are saved, or two of them side by side."""

    settings: RequestSettings | None = Field(default=None, description="Left out or null: the saved ones.")
    a: RequestSettings | None = Field(default=None, description="With b; left out or null: the saved ones.")
    b: RequestSettings | None = Field(default=None, description="A second replay, beside a.")

    @model_validator(mode="after")
    def _one_or_two(self) -> "ReplayIn":
        if (self.a is not None and self.b is None) or (self.settings is not None and self.b is not None):
            raise PydanticCustomError("replay", ONE_OR_TWO)
        return self

    def named(self) -> dict[str, dict[str, Any]]:
        """Return the settings by the pointers to them."""
        if self.b is None:
            return {"/settings": self.settings or {}}
        return {"/a": self.a or {}, "/b": self.b}


class ColumnsOut(Out):
    """A value for each turn, from 1 on; where no prompt could be built, `error` says why and the others are null."""

    tokens: list[Whole]
    kept: list[Whole] = Field(description="How many runs are in the prompt; so the next ones, by fate.")
    summarized: list[Whole]
    pruned: list[Whole]
    capped: list[Whole]
    skipped: list[Whole]
    lost: list[Whole]
    cut_results: list[Whole] = Field(
        description="How many tool results in the prompt are cut, or have a mark in their place."
    )
    first_kept: list[Whole] = Field(description="The oldest run in the prompt; null if there is none.")
    covers_through: list[Whole] = Field(description="Through which run the summary covers; null if there is none.")
    stable_prefix: list[Whole] = Field(
        description="Tokens of the whole messages with which the prompt of the turn before began too."
    )
    input_cost: list[Cost] = Field(
        description="In USD, as decimal texts, nothing cached; null if the price is unknown."
    )
    cached_input_cost: list[Cost] = Field(description="The same with the stable prefix from the provider's cache.")
    summary_cost: list[Cost]
    error: list[str | None]


class TotalsOut(Out):
    """Sums over the turns whose prompt could be built."""

    turns: int = Field(description="All turns, those with an error too.")
    errors: int
    turns_with_lost: int
    turns_with_cut_results: int
    summaries: int = Field(description="How many summaries were made.")
    tokens: int
    stable_prefix: int
    input_cost: Cost
    cached_input_cost: Cost
    summary_cost: Cost


class ReplayOut(Out):
    """What would have happened over the whole conversation."""

    columns: ColumnsOut
    totals: TotalsOut
    assumptions: list[str] = Field(description="What it takes for granted, in words.")


class TwoReplaysOut(Out):
    """The same under two settings."""

    a: ReplayOut
    b: ReplayOut


def replay_out(replayed: Replay) -> ReplayOut:
    """Return a replay as an answer."""
    columns = ColumnsOut(**{name: _written(column) for name, column in replayed.columns.items()})
    return ReplayOut(columns=columns, totals=_totals(replayed.totals), assumptions=list(replayed.assumptions))


def _written(column: Column) -> list[Any]:
    return [money(value) if isinstance(value, Decimal) else value for value in column]


def _totals(totals: ReplayTotals) -> TotalsOut:
    values = {name: getattr(totals, name) for name in TotalsOut.model_fields}
    written = {name: money(each) if isinstance(each, Decimal) else each for name, each in values.items()}
    return TotalsOut.model_validate(written)
