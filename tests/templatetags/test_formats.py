from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils.html import strip_tags

from sessions_app.templatetags.formats import (
    at_moment,
    duration,
    moment,
    money,
    number,
    percent_of,
    relative_time,
    run_range,
    setting_value,
    time_of_day,
    time_passed,
)

NOW = datetime(2026, 11, 29, 14, 4, 30, tzinfo=UTC)


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (999, "999"), (1234567, "1,234,567"), (None, "–")])
def test_it_separates_thousands(value, text):
    assert number(value) == text


def test_it_writes_a_share_with_one_digit():
    assert percent_of(587, 8000) == "7.3 %"
    assert percent_of(1, 0) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "unlimited"), (True, "on"), (False, "off"), (12000, "12,000"), (0.4, "0.40"), ("summary", "summary")],
)
def test_it_writes_the_value_of_a_setting(value, text):
    assert setting_value(value) == text


def test_it_writes_a_range_of_runs():
    assert run_range(1, 1042) == "1–1,042"
    assert run_range(7, 7) == "7"


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=26, seconds=59), "26 min"),
        (timedelta(hours=23, minutes=59), "23 h"),
        (timedelta(days=6, hours=23), "6 d"),
        (timedelta(days=7), "22 Nov"),
        (timedelta(days=400), "25 Oct 2025"),
        (timedelta(minutes=-3), "now"),
    ],
)
def test_it_says_how_long_ago_something_was(age, text):
    assert strip_tags(relative_time(NOW - age, NOW)) == text


@pytest.mark.parametrize(
    ("age", "text"),
    [(timedelta(seconds=14), "14 s"), (timedelta(seconds=75), "1 min"), (timedelta(seconds=-2), "0 s")],
)
def test_it_counts_what_is_going_on_in_seconds_at_first(age, text):
    assert strip_tags(time_passed(NOW - age, NOW)) == text


def test_it_carries_the_exact_time():
    drawn = relative_time(NOW - timedelta(hours=1), NOW)

    assert 'datetime="2026-11-29T13:04:30+00:00"' in drawn
    assert 'title="2026-11-29 13:04:30 UTC"' in drawn


def test_it_writes_a_dash_where_no_time_is_known():
    assert (relative_time(None), time_of_day(None)) == ("–", "–")


def test_it_writes_the_time_of_day():
    assert strip_tags(time_of_day(NOW)) == "14:04"


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (None, "–"),
        (Decimal(0), "$0"),
        (Decimal("0.00000001"), "<$0.0001"),
        (Decimal("0.00264"), "$0.0026"),
        (Decimal("1234.5"), "$1,234.50"),
    ],
)
def test_it_writes_money_as_fine_as_it_is_small(dollars, text):
    assert money(dollars) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(None, "–"), (40, "40 ms"), (6_240, "6.2 s"), (59_900, "59.9 s"), (125_000, "2 min 5 s")]
)
def test_it_writes_how_long_something_took(milliseconds, text):
    assert duration(milliseconds) == text


@pytest.mark.parametrize(
    ("ago", "text"),
    [(timedelta(hours=1), "13:04"), (timedelta(hours=15), "28 Nov"), (timedelta(days=400), "25 Oct 2025")],
)
def test_it_writes_a_moment_of_today_by_the_clock_and_others_by_the_day(ago, text):
    assert strip_tags(moment(NOW - ago, NOW)) == text
    assert moment(None) == "–"
    assert strip_tags(at_moment(NOW - ago, NOW)) == f"{'at' if ':' in text else 'on'} {text}"
