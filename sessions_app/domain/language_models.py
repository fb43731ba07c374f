"""What is known of a model: encoding, margin, context window. Offline, from tiktoken and genai-prices."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import tiktoken
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo

from sessions_app.domain.tokens import EXACT, FOREIGN_MARGIN, STORED_ENCODING, TokenCounter

# The vocabularies that come with the product; older models' encodings would have to be fetched.
CARRIED_ENCODINGS = frozenset({"cl100k_base", "o200k_base", "o200k_harmony"})
# By prefix of the name; these win over genai-prices, which rounds them.
KNOWN_WINDOWS = {"gpt-4.1": 1_047_576}
FINE_TUNED = "ft:"


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A model as far as prompts care; `window` is None where unknown, `is_known` whether any table has the model."""

    name: str
    encoding: str
    margin: Fraction
    window: int | None
    is_known: bool

    @property
    def counter(self) -> TokenCounter:
        """The counter of this model's tokens."""
        return TokenCounter(self.encoding, self.margin)


@lru_cache(maxsize=256)
def language_model(name: str) -> LanguageModel:
    """Return what is known of a model; an unknown one is counted in o200k_base times the margin."""
    encoding = _own_encoding(name)
    entries = _price_entries(_base_name(name))
    return LanguageModel(
        name=name,
        encoding=encoding or STORED_ENCODING,
        margin=EXACT if encoding else FOREIGN_MARGIN,
        window=_window(_base_name(name), entries),
        is_known=bool(encoding or entries),
    )


def _own_encoding(name: str) -> str | None:
    try:
        encoding = tiktoken.encoding_name_for_model(name)
    except KeyError:
        return None
    return encoding if encoding in CARRIED_ENCODINGS else None


def _base_name(name: str) -> str:
    return name.removeprefix(FINE_TUNED).partition(":")[0] if name.startswith(FINE_TUNED) else name


def _price_entries(name: str) -> list[ModelInfo]:
    found = (provider.find_model(name) for provider in get_snapshot().providers)
    return [entry for entry in found if entry is not None]


def _window(name: str, entries: list[ModelInfo]) -> int | None:
    for prefix, window in KNOWN_WINDOWS.items():
        if name.startswith(prefix):
            return window
    # Resellers offer the same model with smaller windows; the largest is the model's own.
    return max((entry.context_window for entry in entries if entry.context_window), default=None)
