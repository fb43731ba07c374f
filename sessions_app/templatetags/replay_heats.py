"""What each turn's prompt of a replay holds: a strip of runs beside the other, over the axis of turns."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.domain.plan import Fate
from sessions_app.queries.replay_views import Bin, ReplayedSide
from sessions_app.templatetags.fates import FATES
from sessions_app.templatetags.formats import number
from sessions_app.templatetags.replays import LEFT, RIGHT, WIDTH, Axis, Bins, place_of
from sessions_app.templatetags.strips import round_step

register = template.Library()

HEAT = 152
# Columns that only touch leave seams when they are scaled.
OVERLAP = 0.7


@register.simple_tag
def replay_heat(side: ReplayedSide, bins: Bins, turns: int, shown: int) -> SafeString:
    """Draw what became of every earlier run, a column of turns beside the other, the oldest run on top."""
    axis, shapes = Axis(turns), {fate: list[str]() for fate in Fate}
    for each in bins[side.key]:
        _stack(each, axis, turns, shapes)
    drawn = ((f"url(#p-{fate})", "".join(paths)) for fate, paths in shapes.items() if paths)
    return format_html(
        '<svg class="plot heat" viewBox="0 0 {} {}" role="img" aria-label="{}"><rect class="heat-bg" x="{}" width="{}"'
        ' height="{}"/>{}{}<path class="cross" transform="translate({} 0)" d="M0 0V{}"/></svg>',
        WIDTH,
        HEAT,
        _heat_sentence(side),
        LEFT,
        WIDTH - LEFT - RIGHT,
        HEAT,
        format_html_join("", '<path fill="{}" d="{}"/>', drawn),
        _run_labels(turns),
        place_of(axis, bins[side.key], shown),
        HEAT,
    )


def _stack(each: Bin, axis: Axis, turns: int, shapes: Mapping[Fate, list[str]]) -> None:
    """Add a column's layers to the shapes of their fates; lost runs stay visible however few they are."""
    left, pitch, above = axis.x(each.first), HEAT / max(turns, 1), 0
    width = axis.x(each.last + 1) - left + OVERLAP
    for fate, count in each.layers:
        top, height = above * pitch, count * pitch
        if fate is Fate.LOST:
            height = max(height, 1.5)
        shapes[fate].append(f"M{left:.1f} {top:.1f}h{width:.2f}v{height:.1f}h-{width:.2f}z")
        above += count


def _run_labels(turns: int) -> SafeString:
    last = turns - 1
    if last < 1:
        return SafeString()
    step = round_step(last / 4)
    runs = dict.fromkeys([1, *(run for run in range(step, last, step) if last - run > step / 3), last])
    labels = ((LEFT - 8, f"{max(8.0, HEAT * (run / turns)):.1f}", number(run)) for run in runs)
    return format_html_join("", '<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>', labels)


def _heat_sentence(side: ReplayedSide) -> str:
    columns = side.replay.columns
    fates = [FATES[fate].word.lower() for fate in Fate if any(columns[fate])]
    return f"What becomes of every run at every later turn under {side.label}: {', '.join(fates) or 'nothing to tell'}"
