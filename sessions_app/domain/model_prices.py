"""Prices of models, in USD per million tokens, exactly: what a call costs, and what genai-prices has on record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, TieredPrices

_MILLIONTHS = -6


@dataclass(frozen=True, slots=True)
class Price:
    """A price; a tier (input tokens, price) holds for a whole call with more input tokens than it says."""

    base: Decimal
    tiers: tuple[tuple[int, Decimal], ...] = ()

    def at(self, input_tokens: int) -> Decimal:
        """Return the price that holds for a call with so many input tokens."""
        return next((price for above, price in reversed(self.tiers) if input_tokens > above), self.base)

    def flat(self, input_tokens: int) -> "Price":
        """Return the price as it is for calls with so many input tokens, whatever is multiplied by it."""
        return Price(self.at(input_tokens))


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model's tokens cost; None where it is not known."""

    input: Price | None = None
    cached_input: Price | None = None
    output: Price | None = None

    @property
    def have_tiers(self) -> bool:
        """Whether a price depends on the size of the call."""
        return bool(self.bounds)

    @property
    def bounds(self) -> list[int]:
        """The numbers of input tokens above which other prices hold, the smallest first."""
        prices = (self.input, self.cached_input, self.output)
        return sorted({above for price in prices if price is not None for above, _ in price.tiers})

    def flat(self, input_tokens: int) -> "Prices":
        """Return the prices that hold for calls with so many input tokens, so that many can be summed up first."""
        return Prices(*(price and price.flat(input_tokens) for price in (self.input, self.cached_input, self.output)))

    def cost(self, *, input_tokens: int, cached: int = 0, output_tokens: int = 0) -> Decimal | None:
        """Return what a call costs in USD, None where a price that it needs is not known.

        `cached` of the input tokens come from the provider's cache; without a price of their own they cost as others.
        """
        if self.input is None or (output_tokens and self.output is None):
            return None
        counts = (
            (self.input, input_tokens - cached),
            (self.cached_input or self.input, cached),
            (self.output, output_tokens),
        )
        millions = sum((price.at(input_tokens) * count for price, count in counts if price), Decimal(0))
        return millions.scaleb(_MILLIONTHS)


def entries_of(name: str) -> list[ModelInfo]:
    """Return what the table has on a model, an entry for each provider that offers it."""
    found = (provider.find_model(name) for provider in get_snapshot().providers)
    return [entry for entry in found if entry is not None]


def offers_of(name: str) -> tuple[ModelInfo, ...]:
    """Return the offers from which a model's prices are taken: its maker's, or those of all who resell it."""
    return tuple(_makers_offers(name)) or tuple(entries_of(name))


def prices_of(offers: Sequence[ModelInfo], *, now: datetime) -> Prices:
    """Return the prices that hold now; none where those who resell a model do not ask the same."""
    asked = {_prices_in(offer, now) for offer in offers}
    known = {prices for prices in asked if prices.input is not None}
    return known.pop() if len(known) == 1 else Prices()


def _makers_offers(name: str) -> Iterator[ModelInfo]:
    # Not asked of the snapshot itself, which remembers every name it was ever asked for.
    for provider in get_snapshot().providers:
        if provider.model_match is not None and provider.model_match.is_match(name.lower()):
            entry = provider.find_model(name)
            if entry is not None:
                yield entry
            return


def _prices_in(offer: ModelInfo, now: datetime) -> Prices:
    record = offer.get_prices(now)
    return Prices(_price(record.input_mtok), _price(record.cache_read_mtok), _price(record.output_mtok))


def _price(record: Decimal | TieredPrices | None) -> Price | None:
    if isinstance(record, TieredPrices):
        return Price(record.base, tuple((tier.start, tier.price) for tier in record.tiers))
    return None if record is None else Price(record)
