"""Numbers, settings, ranges and times in words."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString

from sessions_app.domain.memory_settings import UNLIMITED

register = template.Library()

NOTHING = "–"
SMALLEST_MONEY = Decimal("0.0001")


@register.filter
def number(value: int | None) -> str:
    """Write a whole number with thousands separators; None is a dash."""
    return NOTHING if value is None else f"{value:,}"


@register.filter
def percent_of(part: int, whole: int) -> str:
    """Write `part` as a share of `whole` in percent, one digit."""
    return f"{100 * part / whole:.1f} %" if whole else NOTHING


@register.filter
def money(dollars: Decimal | None) -> str:
    """Write an amount of US dollars, small ones to a hundredth of a cent; None is a dash."""
    if dollars is None:
        return NOTHING
    if not dollars:
        return "$0"
    if dollars < SMALLEST_MONEY:
        return f"<${SMALLEST_MONEY}"
    return f"${dollars:,.4f}" if dollars < 1 else f"${dollars:,.2f}"


@register.filter
def duration(milliseconds: int | None) -> str:
    """Write how long something took; None is a dash."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:,.1f} s"
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return f"{minutes:,} min {seconds} s"


@register.filter
def setting_value(value: Any) -> str:
    """Write the value of a memory setting; None is no limit."""
    match value:
        case None:
            return UNLIMITED
        case bool():
            return "on" if value else "off"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.2f}"
        case _:
            return str(value)


@register.simple_tag
def run_range(first: int, last: int) -> str:
    """Write a range of lineage positions, a single one as itself."""
    return number(first) if first == last else f"{number(first)}–{number(last)}"


@register.simple_tag
def relative_time(when: datetime | None, now: datetime | None = None) -> SafeString:
    """Write how long ago something was, as a date after a week; the exact time is the tooltip."""
    if when is None:
        return format_html("{}", NOTHING)
    return _time_element(when, _age(when, now or timezone.now()))


@register.simple_tag
def time_passed(since: datetime, now: datetime | None = None) -> SafeString:
    """Write how long something has been going on, in seconds at first; the exact time of its start is the tooltip."""
    age = (now or timezone.now()) - since
    seconds = f"{max(0, age // timedelta(seconds=1))} s"
    return _time_element(since, seconds if age < timedelta(minutes=1) else _age(since, since + age))


@register.simple_tag
def time_of_day(when: datetime | None) -> SafeString:
    """Write the hour and minute of an event; date and seconds are the tooltip."""
    if when is None:
        return format_html("{}", NOTHING)
    return _time_element(when, timezone.localtime(when).strftime("%H:%M"))


@register.simple_tag
def moment(when: datetime | None, now: datetime | None = None) -> SafeString:
    """Write the hour and minute of an event, on another day than today the day; date and seconds are the tooltip."""
    if when is None:
        return format_html("{}", NOTHING)
    day, today = timezone.localtime(when), timezone.localtime(now or timezone.now())
    return _time_element(when, f"{day:%H:%M}" if day.date() == today.date() else _date(day, today))


@register.simple_tag
def day_and_time(when: datetime | None, now: datetime | None = None) -> SafeString:
    """Write the hour and minute of an event, behind the day if that is not today; seconds are the tooltip."""
    if when is None:
        return format_html("{}", NOTHING)
    day, today = timezone.localtime(when), timezone.localtime(now or timezone.now())
    return _time_element(when, f"{day:%H:%M}" if day.date() == today.date() else f"{_date(day, today)}, {day:%H:%M}")


@register.simple_tag
def whole_day(day: date, now: datetime | None = None) -> SafeString:
    """Write a day with its name; that of today and yesterday are these words."""
    today = timezone.localtime(now or timezone.now()).date()
    names = {today: "Today", today - timedelta(days=1): "Yesterday"}
    return format_html(
        '<time datetime="{}">{}, {}</time>', day.isoformat(), names.get(day, f"{day:%A}"), _date(day, today)
    )


@register.simple_tag
def at_moment(when: datetime | None, now: datetime | None = None) -> SafeString:
    """Write a moment inside a sentence: at 14:20, on another day than today on 28 Nov."""
    written = moment(when, now)
    return format_html("{} {}", "at" if ":" in strip_tags(written) else "on", written)


def _time_element(when: datetime, text: str) -> SafeString:
    exact = timezone.localtime(when)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        exact.isoformat(timespec="seconds"),
        exact.strftime("%Y-%m-%d %H:%M:%S %Z"),
        text,
    )


def _age(when: datetime, now: datetime) -> str:
    age = now - when
    if age < timedelta(minutes=1):
        return "now"
    if age < timedelta(hours=1):
        return f"{age // timedelta(minutes=1)} min"
    if age < timedelta(days=1):
        return f"{age // timedelta(hours=1)} h"
    if age < timedelta(days=7):
        return f"{age.days} d"
    return _date(timezone.localtime(when), timezone.localtime(now))


def _date(day: date, today: date) -> str:
    return f"{day.day} {day:%b}" if day.year == today.year else f"{day.day} {day:%b %Y}"
