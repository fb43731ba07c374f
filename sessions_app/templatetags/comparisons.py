"""Figures under two settings side by side, and by how much they differ."""

from decimal import ROUND_HALF_UP, Decimal

from django import template

from sessions_app.templatetags.formats import NOTHING, number

register = template.Library()

MINUS = "\N{MINUS SIGN}"
DIGITS = 3
SMALLEST = Decimal("0.00001")


@register.simple_tag
def figure_value(value: int | Decimal | None) -> str:
    """Write a number, or an amount of US dollars, which is a Decimal; None is a dash."""
    return exact_money(value) if isinstance(value, Decimal) else number(value)


@register.simple_tag
def figure_change(value: int | Decimal | None) -> str:
    """Write by how much a figure differs, with its sign; none is 0."""
    if value is None:
        return NOTHING
    if not value:
        return "0"
    if isinstance(value, Decimal) and abs(value) < SMALLEST:
        return f"{exact_money(abs(value))} {'more' if value > 0 else 'less'}"
    return f"+{figure_value(value)}" if value > 0 else MINUS + figure_value(-value)


@register.filter
def exact_money(dollars: Decimal | None) -> str:
    """Write an amount of US dollars to three digits that count, or to the cent, or as very small; None is a dash."""
    if dollars is None:
        return NOTHING
    if not dollars:
        return "$0"
    if dollars < SMALLEST:
        return f"less than ${SMALLEST:f}"
    smallest = Decimal(1).scaleb(min(-2, dollars.adjusted() - DIGITS + 1))
    return f"${dollars.quantize(smallest, rounding=ROUND_HALF_UP):,f}"
