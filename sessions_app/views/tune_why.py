"""The Why tab: what became of each run under A and B, and the reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.plan import Fate
from sessions_app.queries.bands import WINDOW
from sessions_app.queries.why_rows import CHANGED, WhyAsked, WhyTable, why_table
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.session_reading import span_of
from sessions_app.views.workbench import Bench

CHIP_WORDS: Mapping[str, str] = {Fate.KEPT: "In the prompt", Fate.SUMMARIZED: "In the summary"}


@dataclass(frozen=True, slots=True)
class WhyChip:
    """A filter of the Why table: a fate under B, or CHANGED; `url` switches it."""

    key: str
    word: str
    count: int
    on: bool
    url: str


def why_tab(request: HtmxRequest, bench: Bench, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of what became of each run under both, as far as the draft gives a prompt."""
    carried = context["carried"]
    a, b = context["sides"]
    found: dict[str, Any] = {"shown": b, "more_url": bench.url("tune-why", **carried)}
    if b.prompt is None:
        return found
    span = span_of(bench.texts, bench.conversation.last_position)
    asked = WhyAsked(only=carried["only"], opened=span and span.newest(WINDOW), within=span if request.htmx else None)
    table = why_table(session=bench.conversation, a=a.prompt, b=b.prompt, asked=asked)
    return found | {"table": table, "chips": _chips(bench, table, carried["only"])}


def _chips(bench: Bench, table: WhyTable, only: str) -> list[WhyChip]:
    counts: list[tuple[str, int]] = [*table.counts.items(), (CHANGED, table.changed)]
    return [
        WhyChip(
            key=key,
            word=CHIP_WORDS.get(key, key.capitalize()),
            count=count,
            on=key == only,
            url=bench.url("tune-why", only="" if key == only else key),
        )
        for key, count in counts
    ]
