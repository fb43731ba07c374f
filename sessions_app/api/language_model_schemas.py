"""Models as the API shows them, and what a project may say of one. Prices are in USD per million tokens."""

import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from sessions_app.api.schemas import In, Out, PageQuery, money
from sessions_app.domain.language_models import LONGEST_NAME, LanguageModel, ModelFacts
from sessions_app.domain.memory_settings import LARGEST_INTEGER, Layer
from sessions_app.domain.model_prices import Price

PRICE_RULE = 'A price is a text with a number from 0 to 999999.999999, such as "0.40"'
_PRICE = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")


def _price(value: Any) -> Any:
    if not isinstance(value, str) or _PRICE.fullmatch(value) is None:
        raise PydanticCustomError("price", PRICE_RULE)
    return Decimal(value)


PriceText = Annotated[
    Decimal,
    BeforeValidator(_price),
    WithJsonSchema({"type": "string", "pattern": f"^{_PRICE.pattern}$", "description": PRICE_RULE}),
]
Window = Annotated[int, Field(strict=True, ge=1, le=LARGEST_INTEGER)]


class ModelOverrideIn(In):
    """What the project says of a model; what is left out or null comes from the built-in tables. At least one value."""

    context_window: Window | None = Field(default=None, description="In tokens, question and answer together.")
    input_price: PriceText | None = None
    cached_input_price: PriceText | None = Field(default=None, description="Of tokens from the provider's cache.")
    output_price: PriceText | None = None

    def facts(self) -> ModelFacts:
        """Return them as a value."""
        return ModelFacts(**self.model_dump())


class ModelQuery(PageQuery):
    """Which models to list, by name."""

    q: str = Field(default="", max_length=LONGEST_NAME, description="What the name contains, in upper or lower case.")


class WindowOut(Out):
    """A number of tokens, null if it is not known, and who says so."""

    value: int | None
    origin: Layer = Field(serialization_alias="from")


class TierOut(Out):
    """The price of all tokens of a call with more than `above` input tokens."""

    above: int
    value: str


class PriceOut(Out):
    """USD per million tokens, null if it is not known, and who says so."""

    value: str | None
    tiers: list[TierOut]
    origin: Layer = Field(serialization_alias="from")


class ModelOut(Out):
    """What is known of a model; prices are those of now."""

    name: str
    encoding: str
    margin: float = Field(description="By how much counts are enlarged for a tokenizer that is not public.")
    context_window: WindowOut
    input_price: PriceOut
    cached_input_price: PriceOut
    output_price: PriceOut


class ModelPage(Out):
    """A page of models."""

    items: list[ModelOut]
    next_cursor: str | None


def model_out(model: LanguageModel, now: datetime) -> ModelOut:
    """Return a model as an answer."""
    own, prices = model.own, model.prices(now=now)
    return ModelOut(
        name=model.name,
        encoding=model.encoding,
        margin=float(model.margin),
        context_window=WindowOut(value=model.window, origin=_origin(own.context_window)),
        input_price=_price_out(prices.input, own.input_price),
        cached_input_price=_price_out(prices.cached_input, own.cached_input_price),
        output_price=_price_out(prices.output, own.output_price),
    )


def _price_out(price: Price | None, own: Decimal | None) -> PriceOut:
    if price is None:
        return PriceOut(value=None, tiers=[], origin=_origin(own))
    tiers = [TierOut(above=above, value=money(value)) for above, value in price.tiers]
    return PriceOut(value=money(price.base), tiers=tiers, origin=_origin(own))


def _origin(own: object) -> Layer:
    return Layer.BUILT_IN if own is None else Layer.PROJECT
