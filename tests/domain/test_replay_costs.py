from decimal import Decimal

from sessions_app.domain.model_prices import Price, Prices
from sessions_app.domain.replays.costs import priced_columns, totals_of
from sessions_app.domain.replays.replayed import ReplayedTurn

TURNS = [
    ReplayedTurn(tokens=100, stable_prefix=0),
    ReplayedTurn(error="no"),
    ReplayedTurn(tokens=300, stable_prefix=90),
]
FLAT = Prices(Price(Decimal(2)), Price(Decimal("0.5")))
TIERED = Prices(Price(Decimal(2), ((200, Decimal(4)),)), Price(Decimal("0.5"), ((200, Decimal(1)),)))


def test_costs_are_of_all_tokens_and_with_the_stable_prefix_from_the_cache():
    columns = priced_columns(TURNS, FLAT)
    assert columns["input_cost"] == [Decimal("0.0002"), None, Decimal("0.0006")]
    # 210 new ones at 2, and 90 cached ones at 0.5 a million.
    assert columns["cached_input_cost"] == [Decimal("0.0002"), None, Decimal("0.000465")]
    assert columns["summary_cost"] == [0, None, 0]
    assert list(columns)[-1] == "error"


def test_a_larger_call_costs_what_its_tier_says():
    columns = priced_columns(TURNS, TIERED)
    assert columns["input_cost"] == [Decimal("0.0002"), None, Decimal("0.0012")]
    assert columns["cached_input_cost"] == [Decimal("0.0002"), None, Decimal("0.00093")]


def test_cached_tokens_without_a_price_cost_as_others():
    columns = priced_columns(TURNS, Prices(FLAT.input))
    assert columns["cached_input_cost"] == columns["input_cost"]


def test_without_a_price_costs_are_not_known():
    columns = priced_columns(TURNS, Prices())
    assert columns["input_cost"] == columns["cached_input_cost"] == [None, None, None]
    assert totals_of(columns, summaries=0).input_cost is None


def test_totals_leave_out_turns_that_could_not_be_built():
    totals = totals_of(priced_columns(TURNS, FLAT), summaries=2)
    assert (totals.turns, totals.errors, totals.summaries) == (3, 1, 2)
    assert (totals.tokens, totals.stable_prefix) == (400, 90)
    assert (totals.input_cost, totals.cached_input_cost) == (Decimal("0.0008"), Decimal("0.000665"))


def test_without_turns_totals_are_nothing():
    totals = totals_of(priced_columns([], FLAT), summaries=0)
    assert (totals.turns, totals.tokens, totals.input_cost) == (0, 0, 0)
