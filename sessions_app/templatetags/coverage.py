"""The chart of a ledger: a line for each entry, over the positions of the runs that it covers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.queries.next_summaries import NextSummary
from sessions_app.queries.summary_ledgers import LedgerRow, Look
from sessions_app.templatetags.formats import number, run_range
from sessions_app.templatetags.strips import round_step

register = template.Library()

MOST_ROWS = 24
ROOMY_ROWS = 12
WIDTH = 740
LEFT = 40
GAP = 1.5
LETTER = 5.7
FEWEST_RUNS = 12
MOST_LABELS = 7
LABEL_ROOM = 44

_WORDS = {
    Look.PENDING: ("waiting", ""),
    Look.RUNNING: ("running", ""),
    Look.FAILED: ("failed", "bad"),
    Look.CANCELLED: ("cancelled", "mute"),
    Look.RETIRED: ("rolled back", "mute"),
    Look.ADOPTED: ("adopted from the parent", ""),
    Look.EDITED: ("edited by a person", ""),
    Look.MADE: ("", ""),
}
_OUTLINED = (Look.PENDING, Look.RUNNING, Look.CANCELLED, Look.RETIRED)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where positions stand: `runs` of them side by side."""

    runs: int

    def x(self, position: int) -> float:
        """Return where a position begins."""
        return LEFT + (position - 1) * (WIDTH - LEFT - 4) / max(self.runs, FEWEST_RUNS)

    def between(self, first: int, last: int) -> tuple[float, float]:
        """Return where runs begin and how wide they are, at least a hair."""
        return self.x(first), max(1.0, self.x(last + 1) - self.x(first) - GAP)


@register.simple_tag
def coverage(rows: Sequence[LedgerRow], coming: NextSummary, last_position: int) -> SafeString:
    """Draw the newest rows, oldest first, below them the runs that no summary covers, and the positions."""
    shown, scale = rows[:MOST_ROWS][::-1], Scale(max(last_position, 1))
    pitch = 15 if len(shown) <= ROOMY_ROWS else 11
    drawn = [_entry(row, scale, top=2 + index * pitch, height=pitch * 2 // 3) for index, row in enumerate(shown)]
    below = len(shown) * pitch + 2
    waiting, bottom = _waiting(shown, coming, scale, below)
    axis = bottom + 16
    return format_html(
        '<svg class="plot cov" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg>',
        WIDTH,
        axis + 4,
        _sentence(shown, last_position),
        format_html_join("", "{}", ((line,) for line in drawn)),
        waiting,
        _axis(last_position, scale, axis),
    )


def _entry(row: LedgerRow, scale: Scale, *, top: int, height: int) -> SafeString:
    through = row.entry.covers_through
    word, css_class = _WORDS[row.look]
    return format_html(
        '<text class="tick" x="{}" y="{}" text-anchor="end">#{}</text>{}{}{}',
        LEFT - 10,
        top + height - 1,
        number(row.entry.number),
        _bar(scale.between(1, min(row.first - 1, through)), top, height, "") if row.first > 1 else "",
        _newly(row, scale, top, height) if row.covers_more else "",
        _word(word, css_class, scale.x(through + 1), top + height - 1) if word else "",
    )


def _newly(row: LedgerRow, scale: Scale, top: int, height: int) -> SafeString:
    place = scale.between(row.first, row.entry.covers_through)
    if row.look in _OUTLINED:
        x, width = place
        return _rect(f'class="cov-out{" mute" if _WORDS[row.look][1] else ""}"', (x, width), top + 0.5, height - 1)
    return _bar(place, top, height, "lost" if row.look is Look.FAILED else "summarized")


def _bar(place: tuple[float, float], top: float, height: int, pattern: str) -> SafeString:
    return _rect(f'fill="url(#p-{pattern})"' if pattern else 'class="s-summarized"', place, top, height)


def _rect(paint: str, place: tuple[float, float], top: float, height: int) -> SafeString:
    x, width = place
    return format_html(
        '<rect {} x="{}" y="{}" width="{}" height="{}"/>',
        SafeString(paint),
        f"{x:.1f}",
        top,
        f"{width:.1f}",
        height,
    )


def _word(word: str, css_class: str, edge: float, baseline: float) -> SafeString:
    """Write a word behind a bar, or on its end where there is no room."""
    fits = edge + 7 + LETTER * len(word) < WIDTH
    x, anchor, halo = (edge + 7, "start", "") if fits else (edge - 6, "end", " halo")
    line = '<text class="event-t {}{}" x="{}" y="{}" text-anchor="{}">{}</text>'
    return format_html(line, css_class, halo, f"{x:.1f}", baseline, anchor, word)


def _waiting(rows: Sequence[LedgerRow], coming: NextSummary, scale: Scale, top: int) -> tuple[SafeString, int]:
    """Draw the finished runs that are in no summary, nor being summarized, and return where that ends."""
    first = max([coming.first, *(row.entry.covers_through + 1 for row in rows if row.is_unfinished)])
    if first > coming.finished:
        return SafeString(), top - 5
    x, width = scale.between(first, coming.finished)
    text = _waiting_words(first, coming)
    room, baseline = LETTER * len(text) + 8, top + 9
    if x - LEFT > room:
        place, anchor = x - 8, "end"
    elif x + width + room < WIDTH:
        place, anchor = x + width + 8, "start"
    else:
        place, anchor, baseline = x + width, "end", top + 21
    label = format_html(
        '<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>', f"{place:.1f}", baseline, anchor, text
    )
    return format_html("{}{}", _bar((x, width), top, 10, "kept"), label), baseline + 1


def _waiting_words(first: int, coming: NextSummary) -> str:
    runs = f"run{'' if first == coming.finished else 's'} {run_range(first, coming.finished)}"
    verb = "is" if first == coming.finished else "are"
    if not coming.summarizes:
        return f"{runs} {verb} in no summary"
    offset = f"offset {number(coming.settings.offset)}"
    if first >= coming.first_kept_out:
        return f"{offset}: {runs} {verb} not summarized yet"
    if coming.first_kept_out > coming.finished:
        return f"{runs} {verb} not summarized yet"
    return f"{runs} {verb} not summarized yet, {offset} keeps {run_range(coming.first_kept_out, coming.finished)} out"


def _axis(last: int, scale: Scale, baseline: int) -> SafeString:
    label = '<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>'
    ticks = [(f"{(scale.x(p) + scale.x(p + 1)) / 2:.1f}", baseline, number(p)) for p in _positions(last, scale)]
    return format_html_join("", label, ticks)


def _positions(last: int, scale: Scale) -> Iterator[int]:
    """Yield the first position, round ones, and the last; none too near to the last."""
    if last < 1:
        return
    yield 1
    step = round_step(last / MOST_LABELS)
    for position in range(step, last, step):
        if min(scale.x(last) - scale.x(position), scale.x(position) - scale.x(1)) > LABEL_ROOM:
            yield position
    if last > 1:
        yield last


def _sentence(rows: Sequence[LedgerRow], last_position: int) -> str:
    lines = [f"#{row.entry.number} runs 1–{row.entry.covers_through}{_told(row)}" for row in rows]
    return f"Runs covered by each summary, of {last_position}: {'; '.join(lines) or 'none yet'}"


def _told(row: LedgerRow) -> str:
    word, _ = _WORDS[row.look]
    return f", {word}" if word else ""
