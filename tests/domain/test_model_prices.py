from datetime import UTC, datetime
from decimal import Decimal

import pytest
from genai_prices import Usage, calc_price

from sessions_app.domain.language_models import ModelFacts, language_model
from sessions_app.domain.model_prices import Price, Prices

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
PRICES = Prices(Price(Decimal("0.4")), Price(Decimal("0.1")), Price(Decimal("1.6")))
TIERED = Prices(
    Price(Decimal(3), ((200_000, Decimal(6)),)),
    Price(Decimal("0.3"), ((200_000, Decimal("0.6")),)),
    Price(Decimal(15), ((200_000, Decimal("22.5")),)),
)


def test_a_cost_is_exact_to_the_last_digit():
    assert PRICES.cost(input_tokens=1) == Decimal("0.0000004")
    assert PRICES.cost(input_tokens=3_183, cached=1_024) == Decimal("0.000966")
    assert PRICES.cost(input_tokens=3_183, output_tokens=7) == Decimal("0.0012844")


def test_costs_sum_to_the_cost_of_the_sum():
    parts = [PRICES.cost(input_tokens=tokens) or Decimal(0) for tokens in range(1_000)]
    assert sum(parts) == PRICES.cost(input_tokens=sum(range(1_000)))


@pytest.mark.parametrize(
    ("input_tokens", "cached", "output_tokens", "cost"),
    [
        (200_000, 0, 0, "0.6"),
        (200_001, 0, 0, "1.200006"),
        (300_000, 100_000, 0, "1.26"),
        (200_000, 0, 1_000, "0.615"),
        (300_000, 0, 1_000, "1.8225"),
    ],
)
def test_a_call_beyond_a_tier_costs_more_as_a_whole(input_tokens, cached, output_tokens, cost):
    assert TIERED.cost(input_tokens=input_tokens, cached=cached, output_tokens=output_tokens) == Decimal(cost)


def test_without_a_price_for_the_cache_its_tokens_cost_as_others():
    assert Prices(Price(Decimal(30))).cost(input_tokens=1_000, cached=999) == Decimal("0.03")


def test_without_a_price_there_is_no_cost():
    assert Prices().cost(input_tokens=1) is None
    assert Prices(cached_input=Price(Decimal(1))).cost(input_tokens=1, cached=1) is None
    assert Prices(Price(Decimal(1))).cost(input_tokens=1, output_tokens=1) is None
    assert Prices(Price(Decimal(1))).cost(input_tokens=1) is not None


def test_what_is_free_costs_nothing():
    assert Prices(Price(Decimal(0)), Price(Decimal(0))).cost(input_tokens=9, cached=4) == 0


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("gpt-4.1-mini", "openai"),
        ("gpt-4o-2024-11-20", "openai"),
        ("gpt-4", "openai"),
        ("o3", "openai"),
        ("claude-sonnet-4-5", "anthropic"),
        ("gemini-2.5-pro", "google"),
        ("deepseek-chat", "deepseek"),
        ("llama-3.3-70b-versatile", "groq"),
        ("ft:gpt-3.5-turbo:acme::1", "openai"),
    ],
)
@pytest.mark.parametrize("now", [NOON, datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 11, 30, 23, tzinfo=UTC)])
@pytest.mark.parametrize(("input_tokens", "cached"), [(1, 0), (1_234, 1_024), (250_001, 0), (250_001, 250_000)])
def test_costs_are_those_of_genai_prices_at_that_time(name, provider, now, input_tokens, cached):
    usage = Usage(input_tokens=input_tokens, cache_read_tokens=cached, output_tokens=77)
    expected = calc_price(usage, name, provider_id=provider, genai_request_timestamp=now).total_price

    cost = language_model(name).prices(now=now).cost(input_tokens=input_tokens, cached=cached, output_tokens=77)

    assert cost == expected


def test_a_price_that_changes_at_a_date_is_the_one_of_that_date():
    before, after = (language_model("o3").prices(now=datetime(2025, 6, day, tzinfo=UTC)) for day in (9, 10))
    assert (before.input, after.input) == (Price(Decimal(10)), Price(Decimal(2)))


def test_a_fine_tuned_model_does_not_cost_what_its_base_costs():
    assert language_model("ft:gpt-4o:acme::abc").prices(now=NOON) == Prices()


def test_the_makers_price_goes_before_those_of_resellers():
    # Three others sell it too, each at a price of its own.
    sold = calc_price(Usage(input_tokens=1_000_000), "gpt-oss-120b", provider_id="openai", genai_request_timestamp=NOON)
    assert language_model("gpt-oss-120b").prices(now=NOON).cost(input_tokens=1_000_000) == sold.total_price


def test_where_only_resellers_ask_different_prices_none_is_known():
    assert language_model("Qwen/Qwen3-32B").prices(now=NOON) == Prices()


def test_each_price_of_a_project_wins_and_the_others_stay():
    own = ModelFacts(input_price=Decimal("0.35"), output_price=Decimal(0))
    listed = language_model("gpt-4.1-mini").prices(now=NOON)

    prices = language_model("gpt-4.1-mini").with_facts(own).prices(now=NOON)

    assert prices == Prices(Price(Decimal("0.35")), listed.cached_input, Price(Decimal(0)))


def test_a_project_gives_an_unknown_model_a_price():
    model = language_model("someone/unheard-of")
    assert model.prices(now=NOON).cost(input_tokens=10) is None
    assert model.with_facts(ModelFacts(input_price=Decimal(2))).prices(now=NOON).cost(input_tokens=10) == Decimal(
        "0.00002"
    )
