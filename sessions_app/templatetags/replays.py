"""The chart of a replay: tokens turn by turn, and the axis of turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.queries.replay_views import Bin, ReplayedSide
from sessions_app.templatetags.formats import number, run_range
from sessions_app.templatetags.strips import round_step

register = template.Library()

WIDTH, LEFT, RIGHT = 1040, 44, 10
HEIGHT, TOP, BOTTOM = 166, 16, 20
MOST_LABELS = 8
MOST_LINES = 5
LABEL_ROOM = 40
# A limit far above all prompts would flatten them.
HIGHEST_LIMIT = 1.6

Bins = Mapping[str, Sequence[Bin]]


@dataclass(frozen=True, slots=True)
class Axis:
    """Where turns stand: so many side by side."""

    turns: int

    def x(self, turn: int) -> float:
        """Return where a turn begins."""
        return LEFT + (turn - 1) * (WIDTH - LEFT - RIGHT) / max(self.turns, 1)

    def middle(self, first: int, last: int) -> float:
        """Return the middle of neighbouring turns."""
        return (self.x(first) + self.x(last + 1)) / 2


@dataclass(frozen=True, slots=True)
class Scale:
    """Where tokens stand, with lines at every `step`."""

    most: int
    step: int

    def y(self, tokens: float) -> float:
        """Return the height of an amount."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - tokens / self.most)


@register.simple_tag
def replay_chart(sides: Sequence[ReplayedSide], bins: Bins, turns: int, shown: int, address: str) -> SafeString:
    """Draw the tokens of each turn's prompt; every column leads to its turn by `address`, a query's beginning."""
    axis, scale = Axis(turns), _scale(sides, bins)
    return format_html(
        '<svg class="plot" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}{}{}{}{}</svg>',
        WIDTH,
        HEIGHT,
        _sentence(sides, bins, turns),
        _grid(scale),
        _turn_labels(axis, HEIGHT - 6),
        format_html_join("", "{}", ((_limits(side, scale, sides),) for side in sides)),
        format_html_join("", "{}", ((_line(side.key, bins[side.key], axis, scale),) for side in reversed(sides))),
        format_html_join("", "{}", ((_summaries(side.key, bins[side.key], axis),) for side in sides)),
        _columns(sides, bins, axis, shown, address),
    )


def _scale(sides: Sequence[ReplayedSide], bins: Bins) -> Scale:
    needed = max((each.tokens[1] for side in sides for each in bins[side.key] if each.tokens), default=1)
    limits = [side.budget for side in sides if side.budget and side.budget <= HIGHEST_LIMIT * needed]
    most = max([needed, *limits]) * 1.06
    step = round_step(most / MOST_LINES)
    return Scale(max(round(most), 1), step)


def _grid(scale: Scale) -> SafeString:
    lines = ((f"{scale.y(at):.1f}", f"{scale.y(at) + 3.5:.1f}", _short(at)) for at in range(0, scale.most, scale.step))
    return format_html_join(
        "",
        '<path class="grid" d="M{} {}H{}"/><text class="tick" x="{}" y="{}" text-anchor="end">{}</text>',
        ((LEFT, line, WIDTH - RIGHT, LEFT - 8, text, word) for line, text, word in lines),
    )


def _short(tokens: int) -> str:
    """Write thousands as k where they are whole."""
    return number(tokens) if tokens % 1000 or not tokens else f"{tokens // 1000:,}k"


def _turn_labels(axis: Axis, baseline: int) -> SafeString:
    step = round_step(axis.turns / MOST_LABELS)
    between = [
        turn
        for turn in range(step, axis.turns, step)
        if min(axis.x(axis.turns) - axis.x(turn), axis.x(turn) - axis.x(1)) > LABEL_ROOM
    ]
    turns = dict.fromkeys([1, *between, axis.turns])
    labels = ((f"{axis.middle(turn, turn):.1f}", baseline, number(turn)) for turn in turns)
    return format_html_join("", '<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>', labels)


def _limits(side: ReplayedSide, scale: Scale, sides: Sequence[ReplayedSide]) -> SafeString:
    """Draw a side's budget and from where on it summarizes, as far as the chart reaches; what both share once."""
    letter = f"{side.key.upper()}: " if len(sides) > 1 else ""
    drawn = []
    if side.budget and side.budget <= scale.most:
        same = [each for each in sides if each.budget == side.budget]
        who = letter and f"{' and '.join(each.key.upper() for each in same)}: "
        if same[0] is side:
            drawn.append(("limit", "limit-t", scale.y(side.budget), f"budget {number(side.budget)}", who))
    if side.summarize_at and side.summarize_at <= scale.most:
        words = f"summarize_at {side.values.summarize_at:.2f}"
        drawn.append(("sum-at", "event-t", scale.y(side.summarize_at), words, letter))
    # Those of the second stand at the right, lest they cover the first's.
    x, anchor = (LEFT + 8, "start") if side.key == "a" else (WIDTH - RIGHT - 4, "end")
    return format_html_join(
        "",
        '<path class="{}" d="M{} {}H{}"/><text class="{} halo" x="{}" y="{}" text-anchor="{}">{}{}</text>',
        (
            (line, LEFT, f"{y:.1f}", WIDTH - RIGHT, text, x, f"{y - 4:.1f}", anchor, who, words)
            for line, text, y, words, who in drawn
        ),
    )


def _line(key: str, bins: Sequence[Bin], axis: Axis, scale: Scale) -> SafeString:
    """Draw the most of each column as steps, with a gap where no prompt was built; below it the ground or the least."""
    path, ground, is_open = "", "", False
    for each in bins:
        if each.tokens is None:
            is_open = False
            continue
        left, right = axis.x(each.first), axis.x(each.last + 1)
        least, most = (scale.y(tokens) for tokens in each.tokens)
        path += f"{'V' if is_open else f'M{left:.1f} '}{most:.1f}H{right:.1f}"
        bottom = least if each.first != each.last else scale.y(0)
        ground += f"M{left:.1f} {most:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}Z"
        is_open = True
    is_filled = key == "a" or any(each.first != each.last for each in bins)
    area = format_html('<path class="area-{}" d="{}"/>', key, ground) if is_filled else SafeString()
    return format_html('{}<path class="line-{}" d="{}"/>', area, key, path)


def _summaries(key: str, bins: Sequence[Bin], axis: Axis) -> SafeString:
    """Mark the columns in which summaries were made, A's below and B's above them, and count them at the first."""
    marked = [each for each in bins if each.summaries]
    if not marked:
        return SafeString()
    base = HEIGHT - BOTTOM - (0 if key == "a" else 14)
    marks = format_html_join(
        "",
        '<path class="event" d="M{} {}V{}"/>',
        ((f"{axis.middle(each.first, each.last):.1f}", base - 13, base) for each in marked),
    )
    count, x = sum(each.summaries for each in marked), axis.middle(marked[0].first, marked[0].last)
    words = f"{key.upper()}: {number(count)} {'summary' if count == 1 else 'summaries'}"
    anchor, at = ("end", x - 4) if x - LEFT > 100 else ("start", LEFT + 4)
    label = '<text class="event-t halo" x="{}" y="{}" text-anchor="{}">{}</text>'
    return format_html("{}{}", marks, format_html(label, f"{at:.1f}", base - 4, anchor, words))


def _columns(sides: Sequence[ReplayedSide], bins: Bins, axis: Axis, shown: int, address: str) -> SafeString:
    """Lay a link over each column, whose title is its figures, and a line where the turn that is shown stands."""
    drawn = []
    for group in zip(*(bins[side.key] for side in sides), strict=True):
        first, last = group[0].first, group[0].last
        x, width = axis.x(first), axis.x(last + 1) - axis.x(first)
        drawn.append((f"{address}{last}#turn-x", _told(sides, group), f"{x:.2f}", f"{width:.2f}", HEIGHT))
    return format_html(
        '<path class="cross" transform="translate({} 0)" d="M0 0V{}"/>{}',
        place_of(axis, bins[sides[0].key], shown),
        HEIGHT - BOTTOM,
        format_html_join(
            "",
            '<a class="col" href="{}" tabindex="-1"><title>{}</title>'
            '<rect class="slot" x="{}" y="0" width="{}" height="{}"/></a>',
            drawn,
        ),
    )


def place_of(axis: Axis, bins: Sequence[Bin], shown: int) -> str:
    """Return the middle of the column in which a turn stands."""
    return next((f"{axis.middle(each.first, each.last):.1f}" for each in bins if each.first <= shown <= each.last), "0")


def _told(sides: Sequence[ReplayedSide], group: Sequence[Bin]) -> str:
    first, last = group[0].first, group[0].last
    figures = " · ".join(f"{side.key.upper()} {_figures(each)}" for side, each in zip(sides, group, strict=True))
    return f"turn{'' if first == last else 's'} {run_range(first, last)}: {figures}"


def _figures(each: Bin) -> str:
    if each.tokens is None:
        return "no prompt"
    lost = f", {number(each.lost)} lost" if each.lost else ""
    errors = f", {number(each.errors)} without a prompt" if each.errors else ""
    results = f"{number(each.cut_results)} result{'' if each.cut_results == 1 else 's'}"
    cut = f", {results} cut" if each.cut_results else ""
    return f"{_span(each.tokens)} tokens, cannot see {_span(each.unseen)}{lost}{cut}{errors}"


def _span(ends: tuple[int, int]) -> str:
    return number(ends[0]) if ends[0] == ends[1] else f"{number(ends[0])} to {number(ends[1])}"


def _sentence(sides: Sequence[ReplayedSide], bins: Bins, turns: int) -> str:
    figures = []
    for side in sides:
        tokens = [each.tokens for each in bins[side.key] if each.tokens]
        span = _span((min(least for least, _ in tokens), max(most for _, most in tokens))) if tokens else "no"
        limit = f" of {number(side.budget)}" if side.budget else ""
        figures.append(f"{side.label} {span} tokens{limit}")
    return f"Prompt tokens of {number(turns)} turns: {'; '.join(figures)}"


@register.simple_tag
def replay_readout(sides: Sequence[ReplayedSide], bins: Bins, shown: int) -> str:
    """Say what the column tells in which a turn stands."""
    groups = zip(*(bins[side.key] for side in sides), strict=True)
    return next((_told(sides, group) for group in groups if group[0].first <= shown <= group[0].last), "")
