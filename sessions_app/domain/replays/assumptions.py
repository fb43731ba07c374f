"""What a replay takes for granted, in words."""

from collections.abc import Iterator

from sessions_app.domain.deciding import Terms
from sessions_app.domain.memory_settings import MemorySettings, OnGap, Strategy
from sessions_app.domain.model_prices import Prices
from sessions_app.domain.replays.heads import LONGEST_SUMMARY

ALWAYS = (
    "Each turn is built with the runs before it and with its own run's input as the question, under these settings and "
    "the instructions of today; context blocks, tool definitions and other settings that it may have had are not "
    "known.",
    "A provider's cache is taken to hold the whole messages with which the prompt of the turn before began, however "
    "few they are and however long ago that was.",
)
NOT_KNOWN_BEFORE = "Parents hand down what they hand down today."
NO_EXTRACTS = (
    "No stopgap extracts are made, and nothing gives way to them; the runs that one would stand for count as lost."
)
FREE_SUMMARIES = "The offline summarizer makes them, which costs nothing."


def summary_tokens(values: MemorySettings) -> int:
    """Return how long each summary is taken to be."""
    return min(values.max_summary_tokens, LONGEST_SUMMARY)


def assumptions(terms: Terms, prices: Prices, *, with_parents: bool) -> tuple[str, ...]:
    """Return them, one sentence or two each."""
    return (*ALWAYS, *_of_settings(terms, with_parents=with_parents), *_of_prices(terms, prices))


def _of_settings(terms: Terms, *, with_parents: bool) -> Iterator[str]:
    values = terms.values
    if values.strategy is Strategy.SUMMARY:
        yield (
            "Summaries are made anew from the first run on, at once when they are due, and never fail; each is "
            f"{summary_tokens(values):,} tokens long, as long as max_summary_tokens allows, where a real one may be "
            f"shorter. {FREE_SUMMARIES}"
        )
        if values.on_gap is OnGap.STOPGAP and values.autoprune:
            yield NO_EXTRACTS
    if with_parents:
        yield NOT_KNOWN_BEFORE


def _of_prices(terms: Terms, prices: Prices) -> Iterator[str]:
    if prices.input is None:
        yield f"What tokens of {terms.model.name} cost is not known."
        return
    yield f"All turns are priced as {terms.model.name} is today."
    if prices.cached_input is None:
        yield "Cached tokens cost as much as others, since no other price is known."
