"""The strip over a session's runs: one bar a run, beyond MOST_BARS one bar for several neighbours of the same fate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from sessions_app.domain.plan import PromptPlan
from sessions_app.models import Session
from sessions_app.queries.bands import Band, bands_of
from sessions_app.queries.token_sums import token_sums

MOST_BARS = 300


@dataclass(frozen=True, slots=True)
class StripBar:
    """Runs first..last of one fate, or "query" for the open run; `url` leads to the first of them."""

    first: int
    last: int
    fate: str
    tokens: int
    url: str


def strip_bars(*, session: Session, prompt: PromptPlan, keep: str = "") -> list[StripBar]:
    """Return the bars, oldest first; reads one row for each edge of a bar, never a run between.

    `keep` is what their addresses end with.
    """
    asked = prompt.open_position
    bins = list(_bins(bands_of(prompt, session.last_position), session.last_position, asked))
    edges = [*(band.first for band in bins), *(band.last for band in bins[-1:])]
    sums = token_sums(session, edges)
    ends = [*(sums.before.get(band.first, 0) for band in bins[1:]), *(sums.through(band.last) for band in bins[-1:])]
    return [
        StripBar(
            first=band.first,
            last=band.last,
            fate="query" if band.first == asked else str(band.fate),
            tokens=end - sums.before.get(band.first, 0),
            url=f"?from={band.first}&to={band.last}{keep}#run-{band.first}",
        )
        for band, end in zip(bins, ends, strict=True)
    ]


def _bins(bands: Sequence[Band], runs: int, asked: int | None) -> Iterator[Band]:
    size = max(1, ceil(runs / MOST_BARS))
    for band in bands:
        last = band.last - 1 if band.last == asked else band.last
        for first in range(band.first, last + 1, size):
            yield Band(first, min(first + size - 1, last), band.fate)
    if asked is not None:
        yield Band(asked, asked, bands[-1].fate)
