"""What is known of a model: encoding, margin, context window, prices. Offline, from tiktoken and genai-prices.

What a project says of a model itself wins over both.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache

import tiktoken
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo
from tiktoken.model import MODEL_TO_ENCODING

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.model_prices import Price, Prices, entries_of, offers_of, prices_of
from sessions_app.domain.tokens import EXACT, FOREIGN_MARGIN, STORED_ENCODING, TokenCounter

# The vocabularies that come with the product; older models' encodings would have to be fetched.
CARRIED_ENCODINGS = frozenset({"cl100k_base", "o200k_base", "o200k_harmony"})
# By prefix of the name; these win over genai-prices, which rounds them.
KNOWN_WINDOWS = {"gpt-4.1": 1_047_576}
FINE_TUNED = "ft:"

LONGEST_NAME = 200
NAME_RULE = (
    f"The name of a model is 1-{LONGEST_NAME} characters without control characters or spaces at the ends, "
    "and between its slashes stands more than dots."
)
_LEGAL_NAME = re.compile(r"(?!\s)(?!(?:.*/)?\.*(?:/|\Z))[^\0-\x1f\x7f-\x9f\ud800-\udfff]{1,200}(?<!\s)")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a project says of a model itself: window in tokens, prices in USD per million; None leaves it to tables."""

    context_window: int | None = None
    input_price: Decimal | None = None
    cached_input_price: Decimal | None = None
    output_price: Decimal | None = None


NO_FACTS = ModelFacts()


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A model as far as prompts care; `window` is None where unknown, `is_known` whether any table has the model."""

    name: str
    encoding: str
    margin: Fraction
    window: int | None
    is_known: bool
    offers: tuple[ModelInfo, ...] = field(default=(), repr=False, compare=False)
    own: ModelFacts = NO_FACTS

    @property
    def counter(self) -> TokenCounter:
        """The counter of this model's tokens."""
        return TokenCounter(self.encoding, self.margin)

    def with_facts(self, own: ModelFacts) -> "LanguageModel":
        """Return the model with what a project says of it."""
        return replace(self, window=self.window if own.context_window is None else own.context_window, own=own)

    def prices(self, *, now: datetime) -> Prices:
        """Return the prices that hold now."""
        listed = prices_of(self.offers, now=now)
        return Prices(
            _first(self.own.input_price, listed.input),
            _first(self.own.cached_input_price, listed.cached_input),
            _first(self.own.output_price, listed.output),
        )


@lru_cache(maxsize=2_048)
def language_model(name: str) -> LanguageModel:
    """Return what the tables know of a model; an unknown one is counted in o200k_base times the margin."""
    encoding = _own_encoding(name)
    entries = entries_of(_base_name(name))
    return LanguageModel(
        name=name,
        encoding=encoding or STORED_ENCODING,
        margin=EXACT if encoding else FOREIGN_MARGIN,
        window=_window(_base_name(name), entries),
        is_known=bool(encoding or entries),
        # A fine-tuned model has the window of its base, but not its prices.
        offers=offers_of(name),
    )


@cache
def listed_names() -> tuple[str, ...]:
    """Return the names that the tables list, in order; `language_model` knows more, such as dated versions of these."""
    priced = {entry.id for provider in get_snapshot().providers for entry in provider.models}
    counted = {name for name, encoding in MODEL_TO_ENCODING.items() if encoding in CARRIED_ENCODINGS}
    return tuple(sorted(priced | counted))


def is_legal_name(text: str) -> bool:
    """Tell whether a project may say something of a model of this name; it stands in addresses."""
    return _LEGAL_NAME.fullmatch(text) is not None


def check_name(text: str) -> str:
    """Return the name, or raise InvalidInput with the rule."""
    if not is_legal_name(text):
        raise InvalidInput(NAME_RULE, errors=[FieldError("/name", NAME_RULE)])
    return text


def _own_encoding(name: str) -> str | None:
    try:
        encoding = tiktoken.encoding_name_for_model(name)
    except KeyError:
        return None
    return encoding if encoding in CARRIED_ENCODINGS else None


def _base_name(name: str) -> str:
    return name.removeprefix(FINE_TUNED).partition(":")[0] if name.startswith(FINE_TUNED) else name


def _window(name: str, entries: Sequence[ModelInfo]) -> int | None:
    for prefix, window in KNOWN_WINDOWS.items():
        if name.startswith(prefix):
            return window
    # Resellers offer the same model with smaller windows; the largest is the model's own.
    return max((entry.context_window for entry in entries if entry.context_window), default=None)


def _first(own: Decimal | None, listed: Price | None) -> Price | None:
    return listed if own is None else Price(own)
