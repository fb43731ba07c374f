"""The strip of turns of a followed fact: where the words were at each, who says them, which summary drops them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import urlencode

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.domain.following.sights import Hit, Interval, Place, Why
from sessions_app.domain.following.telling import PLACE_WORDS
from sessions_app.domain.memory_settings import UNLIMITED, Layer
from sessions_app.queries.fact_ways import WayRow
from sessions_app.templatetags.formats import number, run_range, setting_value
from sessions_app.templatetags.strips import round_step

register = template.Library()

WIDTH, TOP, HEIGHT, EDGE = 800, 30, 24, 3
MOST_CELLS = 120
MOST_DRAWN = 300
MOST_TICKS = 6
LABEL_WIDTH = 84
_LOOKS = {
    Place.WORDS: "kept",
    Place.SUMMARY: "summarized",
    Place.QUESTION: "query",
    Place.CUT_AWAY: "pruned",
    Place.NOWHERE: "lost",
    Place.NOT_SAID: "free",
}


@register.filter
def place_look(place: Place) -> str:
    """Return the color and pattern of a place, by the name of the fate that it looks like."""
    return _LOOKS[place]


@register.filter
def place_word(place: Place) -> str:
    """Return the word that stands for a place on pages."""
    return PLACE_WORDS[place]


@register.filter
def way_label(way: WayRow) -> str:
    """Return what a way of settings is called: its changes, or the layer that has them already."""
    least = "" if way.layer else " or more"
    names = " and ".join(_named(change.name, change.value, least) for change in way.changes)
    if way.layer is None:
        return names
    return f"{names}, as {'the project has it' if way.layer is Layer.PROJECT else 'it is built in'}"


def _named(name: str, value: object, least: str) -> str:
    text = setting_value(value)
    if name == "max_input_tokens":
        return f"Budget {text}" + ("" if value == UNLIMITED else least)
    return f"Strategy {text}" if name == "strategy" else f"{name} {text}"


@register.simple_tag
def turn_strip(intervals: Sequence[Interval], hits: Sequence[Hit], words: str, chosen: int | None) -> SafeString:
    """Draw the strip; every turn, or of many every interval, is a link that chooses it."""
    if not intervals:
        return SafeString()
    scale = _Scale(intervals[0].first, intervals[-1].last)
    intervals = list(_drawn(intervals, scale))
    return format_html(
        '<svg class="plot probe-p" viewBox="0 0 {} 78" role="group" aria-label="{}">{}{}{}</svg>',
        WIDTH,
        _sentence(intervals),
        format_html_join("", _CELL, _cells(scale, intervals, words, chosen)),
        format_html_join("", "{}", ((mark,) for mark in _marks(scale, intervals, hits))),
        format_html_join("", '<text x="{}" y="68" text-anchor="{}">{}</text>', _ticks(scale)),
    )


_CELL = (
    '<a href="{}" tabindex="-1"{}><title>{}</title>'
    '<rect class="pr-{}" fill="url(#p-{})" x="{}" y="30" width="{}" height="24" rx="1.5"/></a>'
)
_CHOSEN = SafeString(' aria-current="true"')


def _drawn(intervals: Sequence[Interval], scale: "_Scale") -> Iterable[Interval]:
    """Yield the intervals; of very many those that are too narrow as one, without the words if any is."""
    if len(intervals) <= MOST_DRAWN:
        yield from intervals
        return
    least, waiting = (scale.last - scale.first) // MOST_DRAWN + 1, list[Interval]()
    for interval in intervals:
        waiting.append(interval)
        if interval.last - waiting[0].first + 1 >= least or interval is intervals[-1]:
            shown = next((each for each in waiting if each.is_missing), waiting[0])
            yield replace(shown, first=waiting[0].first, last=interval.last)
            waiting = []


class _Scale:
    """Where turns stand between the edges of the picture."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.step = (WIDTH - 2 * EDGE) / max(last - first + 1, 24)

    def x(self, turn: int) -> float:
        """Return where a turn begins."""
        return EDGE + (turn - self.first) * self.step


def _cells(
    scale: _Scale, intervals: Sequence[Interval], words: str, chosen: int | None
) -> Iterable[tuple[str, SafeString, str, str, str, str, str]]:
    one_by_one = scale.last - scale.first < MOST_CELLS
    for interval in intervals:
        word, look = PLACE_WORDS[interval.place].lower(), _LOOKS[interval.place]
        turns = range(interval.first, interval.last + 1) if one_by_one else [interval.first]
        for turn in turns:
            last = turn if one_by_one else interval.last
            name = f"Turn{'s' if last > turn else ''} {run_range(turn, last)}: {word}"
            width = (last - turn + 1) * scale.step - (1.6 if one_by_one else 0)
            address = f"?{urlencode({'words': words, 'at': turn})}"
            mark = _CHOSEN if chosen is not None and turn <= chosen <= last else SafeString()
            yield address, mark, name, look, look, _short(scale.x(turn)), _short(max(width, 0.6))


def _marks(scale: _Scale, intervals: Sequence[Interval], hits: Sequence[Hit]) -> Iterable[SafeString]:
    """Yield who says it above, and at which summary it comes or goes; a label that finds no room is left out."""
    taken = 0.0
    for hit in hits:
        x = scale.x(hit.position + 1) - scale.step / 2
        if hit.position < scale.first or hit.position > scale.last or x - LABEL_WIDTH / 2 < taken:
            continue
        taken = x + LABEL_WIDTH / 2
        label = f"run {number(hit.position)} says it"
        yield format_html('<path class="pr-hit" d="M{} 15V29"/>', _short(x))
        yield format_html('<text class="pr-t" x="{}" y="11" text-anchor="{}">{}</text>', *_held(x), label)
    for interval in intervals[1:]:
        if interval.why in (Why.IN_SUMMARY, Why.SUMMARIZED_AWAY) and interval.summaries:
            x, is_drop = scale.x(interval.first) - 0.8, interval.why is Why.SUMMARIZED_AWAY
            look = "lost" if is_drop else "summarized"
            label = f"#{interval.summaries[0]}{' drops it' if is_drop else ''}"
            yield format_html('<path class="pr-sum" data-fate="{}" d="M{} 20V54"/>', look, _short(x))
            yield format_html(
                '<text class="pr-s" data-fate="{}" x="{}" y="26" text-anchor="end">{}</text>',
                look,
                _short(x - 3),
                label,
            )


def _short(length: float) -> str:
    return f"{length:.1f}"


def _held(x: float) -> tuple[str, str]:
    """Keep a label inside of the picture."""
    half = LABEL_WIDTH / 2
    if x < half:
        return _short(EDGE), "start"
    return (_short(WIDTH - EDGE), "end") if x > WIDTH - half else (_short(x), "middle")


def _ticks(scale: _Scale) -> Iterable[tuple[str, str, str]]:
    yield _short(EDGE), "start", number(scale.first)
    step = round_step((scale.last - scale.first) / MOST_TICKS)
    for turn in range(scale.first - scale.first % step + step, scale.last, step):
        x = scale.x(turn) + scale.step / 2
        if 40 < x < scale.x(scale.last + 1) - 50:
            yield _short(x), "middle", number(turn)
    if scale.last > scale.first:
        yield _short(scale.x(scale.last + 1)), "end", number(scale.last)


def _sentence(intervals: Sequence[Interval]) -> str:
    told = (f"{PLACE_WORDS[each.place].lower()} in turns {run_range(each.first, each.last)}" for each in intervals[:30])
    return f"Turns {run_range(intervals[0].first, intervals[-1].last)}: {', '.join(told)}"
