"""The strip of runs: one bar for each run or range of runs, height by size, fill by fate."""

from collections.abc import Sequence
from typing import Protocol

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.domain.plan import Fate
from sessions_app.templatetags.fates import FATES, pattern
from sessions_app.templatetags.formats import number, run_range

register = template.Library()

HEIGHT = 34
LABEL_ROOM = 16
SMALLEST_BAR = 5
MOST_LABELS = 8
FEWEST_SLOTS = 24


class StripBar(Protocol):
    """Runs first..last of one fate ("query" for the open run), their tokens, and where a click leads."""

    first: int
    last: int
    fate: Fate | str
    tokens: int
    url: str


@register.simple_tag
def run_strip(bars: Sequence[StripBar]) -> SafeString:
    """Draw the strip; every bar is a link, and its height follows the square root of its tokens."""
    if not bars:
        return SafeString()
    return format_html(
        '<svg class="strip" height="{}" role="group" aria-label="{}">{}{}</svg>',
        HEIGHT + LABEL_ROOM,
        f"Runs {bars[0].first} to {bars[-1].last} by fate and size, choose one to jump to it",
        _links(bars),
        _labels(bars),
    )


def _links(bars: Sequence[StripBar]) -> SafeString:
    step = 100 / _slots(bars)
    tallest = max(1, *(bar.tokens for bar in bars)) ** 0.5
    drawn = []
    for index, bar in enumerate(bars):
        height = max(SMALLEST_BAR, round(HEIGHT * bar.tokens**0.5 / tallest))
        x, y = index * step, HEIGHT - height
        wide, inset, narrow = f"{step:.3f}", f"{x + step * 0.12:.3f}", f"{step * 0.76:.3f}"
        drawn.append((bar.url, _title(bar), f"{x:.3f}", wide, HEIGHT, inset, y, narrow, height, pattern(bar.fate)))
    return format_html_join(
        "",
        '<a href="{}" tabindex="-1"><title>{}</title><rect class="slot" x="{}%" width="{}%" height="{}"/>'
        '<rect x="{}%" y="{}" width="{}%" height="{}" fill="url(#p-{})"/></a>',
        drawn,
    )


def _title(bar: StripBar) -> str:
    runs = "Run" if bar.first == bar.last else "Runs"
    word = "open run" if bar.fate == "query" else FATES[bar.fate].word.lower()
    return f"{runs} {run_range(bar.first, bar.last)}: {word}, {number(bar.tokens)} tokens"


def _labels(bars: Sequence[StripBar]) -> SafeString:
    drawn = [(f"{100 * x:.2f}", HEIGHT + 13, anchor, number(position)) for x, anchor, position in _ticks(bars)]
    return format_html_join("", '<text x="{}%" y="{}" text-anchor="{}">{}</text>', drawn)


def _ticks(bars: Sequence[StripBar]) -> list[tuple[float, str, int]]:
    """Return share of the width, anchor and position of each label: both ends and round numbers between."""
    count, last = _slots(bars), bars[-1].last
    ends = [(0.0, "start", bars[0].first), *([(len(bars) / count, "end", last)] if len(bars) > 1 else [])]
    step = round_step((last - bars[0].first) / MOST_LABELS)
    between = [
        ((index + 0.5) / count, "middle", bar.first)
        for index, bar in enumerate(bars)
        if bar.first % step == 0 and 0.04 < index / count < len(bars) / count - 0.06
    ]
    return [ends[0], *between, *ends[1:]]


def _slots(bars: Sequence[StripBar]) -> int:
    """Return for how many bars there is room, so that a few runs do not become slabs."""
    return max(len(bars), FEWEST_SLOTS)


def round_step(least: float) -> int:
    """Return the smallest 10, 20, 50, 100, 200 ... that is at least `least`."""
    power = 10
    while True:
        for factor in (1, 2, 5):
            if factor * power >= least:
                return factor * power
        power *= 10
