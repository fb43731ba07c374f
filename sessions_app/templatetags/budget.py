"""Token budgets as bars, columns and tables: widths are SVG attributes, so no inline style is needed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.domain.plan import TokenParts
from sessions_app.templatetags.fates import PART_WORDS, pattern
from sessions_app.templatetags.formats import number

register = template.Library()

SMALLEST_SHARE = 1.2
SMALLEST_SHARE_OF_MINI = 2.0
SMALLEST_RESERVE = 6

_BAR_ORDER = ("instructions", "tools", "parent_context", "summary", "runs", "context", "query")
_COLUMN_ORDER = ("instructions", "parent_context", "summary", "tools", "runs", "context", "query")


@dataclass(frozen=True, slots=True)
class LegendRow:
    """One line of the table beside a budget bar."""

    part: str
    tokens: int
    note: str


@register.simple_tag
def bar(parts: Iterable[tuple[str, int]], total: int, label: str, *, mini: bool = False) -> SafeString:
    """Draw amounts side by side as shares of `total`; "free" keeps its place but shows the empty track."""
    shown = [(name, amount) for name, amount in parts if amount > 0]
    widths = _widths(shown, total, SMALLEST_SHARE_OF_MINI if mini else SMALLEST_SHARE)
    return format_html(
        '<svg class="{}" role="img" aria-label="{}">{}</svg>',
        "bar mini" if mini else "bar",
        label,
        _segments([(name, width) for (name, _), width in zip(shown, widths, strict=True)]),
    )


@register.simple_tag
def ratio_bar(after: int, before: int, most: int) -> SafeString:
    """Draw what a summary needs on a track as long as the largest request of its ledger."""
    return format_html(
        '<svg class="bar mini ratio" role="img" aria-label="{}">{}</svg>',
        f"{number(before)} to {number(after)} tokens",
        _segments([("summary", _widths([("summary", after)], most, SMALLEST_SHARE_OF_MINI)[0])]),
    )


@register.simple_tag
def budget_bar(tokens: TokenParts, budget: int, *, mini: bool = False, reserve: int = 0, scale: int = 0) -> SafeString:
    """Draw a prompt's tokens over its budget; a reserve, given only when the model's window binds, stands outside.

    A `scale` beyond the budget is that of a bar beside it; where the budget ends is marked.
    """
    if scale > max(budget, tokens.total):
        return _shorter_bar(tokens, budget, scale)
    drawn = bar(_with_free(tokens, budget), max(budget, tokens.total), _sentence(tokens, budget), mini=mini)
    if not reserve:
        return drawn
    return format_html(
        '<span class="bar-x">{}<svg class="resv-x" width="{}%" role="img" aria-label="{}">'
        '<rect width="100%" height="100%" fill="url(#p-reserved)"/></svg></span>',
        drawn,
        max(SMALLEST_RESERVE, round(100 * reserve / (budget + reserve))),
        f"{number(reserve)} tokens reserved for the answer, outside the budget",
    )


def _shorter_bar(tokens: TokenParts, budget: int, scale: int) -> SafeString:
    parts = [(name, amount) for name, amount in _with_free(tokens, budget) if amount > 0]
    widths = _widths([*parts, ("free", scale - budget)], scale, SMALLEST_SHARE)
    end = f"{100 * budget / scale:.2f}"
    return format_html(
        '<svg class="bar" role="img" aria-label="{}, drawn on the scale of {}">{}'
        '<rect class="beyond" x="{}%" width="100%" height="100%"/><rect class="end" x="{}%" width="2" height="100%"/>'
        "</svg>",
        _sentence(tokens, budget),
        number(scale),
        _segments([(name, width) for (name, _), width in zip(parts, widths, strict=False)]),
        end,
        end,
    )


@register.simple_tag
def prompt_column(tokens: TokenParts, budget: int) -> SafeString:
    """Draw the whole prompt as one column, in the order in which it is sent."""
    drawn, top = [], 0.0
    for name in _COLUMN_ORDER:
        height = 100 * getattr(tokens, name) / max(budget, tokens.total, 1)
        if height:
            drawn.append((f"{top:.2f}", f"{height:.2f}", pattern(name)))
        top += height
    rects = format_html_join("", '<rect y="{}%" width="100%" height="{}%" fill="url(#p-{})"/>', drawn)
    return format_html("<svg>{}</svg>", rects)


@register.inclusion_tag("components/budget_legend.html")
def budget_legend(tokens: TokenParts, budget: int, *, reserve: int = 0, **notes: str) -> dict[str, object]:
    """List a prompt's tokens by part, what is free, and the reserve beside the budget.

    The parts, with the overhead that is not drawn, and what is free add up to the budget. `notes` name what a part
    holds, as `runs="46–57"`.
    """
    *parts, free = _with_free(tokens, budget)
    every = [*parts, ("overhead", tokens.overhead), free, ("reserved", reserve)]
    rows = [LegendRow(name, amount, notes.get(name, "")) for name, amount in every if amount > 0 or name == "free"]
    return {"rows": rows, "budget": budget}


@register.inclusion_tag("components/budget_key.html")
def budget_key(*, reserve: bool = False) -> dict[str, object]:
    """List the swatches of a budget bar with their words."""
    return {"parts": [*_BAR_ORDER, "free", *(["reserved"] if reserve else [])]}


def _with_free(tokens: TokenParts, budget: int) -> list[tuple[str, int]]:
    parts = [(name, int(getattr(tokens, name))) for name in _BAR_ORDER]
    return [*parts, ("free", max(0, budget - tokens.total))]


def _sentence(tokens: TokenParts, budget: int) -> str:
    parts = ", ".join(
        f"{PART_WORDS[name].lower()} {number(amount)}" for name, amount in _with_free(tokens, budget) if amount
    )
    return f"Token budget: {parts}, of {number(budget)}"


def _widths(parts: Sequence[tuple[str, int]], total: int, smallest: float) -> list[float]:
    """Return shares of 100; what small parts get to stay visible is taken from the largest."""
    shares = [(name, 100 * amount / max(total, 1)) for name, amount in parts]
    widths = [share if name == "free" else max(smallest, share) for name, share in shares]
    excess = sum(widths) - 100
    if excess > 0:
        largest = widths.index(max(widths))
        widths[largest] -= excess
    return widths


def _segments(parts: Iterable[tuple[str, float]]) -> SafeString:
    drawn, left = [], 0.0
    for name, width in parts:
        if name != "free":
            drawn.append((f"{left:.2f}", f"{width:.2f}", pattern(name)))
        left += width
    return format_html_join("", '<rect x="{}%" width="{}%" height="100%" fill="url(#p-{})"/>', drawn)
