from datetime import date, datetime

import pytest

from sessions_app.domain.moments import read_moment

TODAY = date(2026, 11, 30)
NEWEST = datetime.fromisoformat("2026-11-28T15:20:30")


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("15:20", "2026-11-28T15:20", "2026-11-28T15:21"),
        ("16:05", "2026-11-27T16:05", "2026-11-27T16:06"),
        ("4:05 pm", "2026-11-27T16:05", "2026-11-27T16:06"),
        ("12:05 am", "2026-11-28T00:05", "2026-11-28T00:06"),
        ("15:20:29", "2026-11-28T15:20:29", "2026-11-28T15:20:30"),
        ("yesterday 16:05", "2026-11-29T16:05", "2026-11-29T16:06"),
        (" Yesterday at 16:05 ", "2026-11-29T16:05", "2026-11-29T16:06"),
        ("16:05 today", "2026-11-30T16:05", "2026-11-30T16:06"),
        ("yesterday", "2026-11-29T00:00", "2026-11-30T00:00"),
        ("2026-11-29 16:05", "2026-11-29T16:05", "2026-11-29T16:06"),
        ("2026-11-29T16:05:07", "2026-11-29T16:05:07", "2026-11-29T16:05:08"),
        ("2026-02-28", "2026-02-28T00:00", "2026-03-01T00:00"),
        ("29 Nov, 16:05", "2026-11-29T16:05", "2026-11-29T16:06"),
        ("24 December", "2025-12-24T00:00", "2025-12-25T00:00"),
        ("24 Dec 2024, 9:00", "2024-12-24T09:00", "2024-12-24T09:01"),
    ],
)
def test_a_time_is_read_as_people_write_it(text, start, end):
    meant = read_moment(text, today=TODAY, newest=NEWEST)
    assert (meant.start, meant.end) == (datetime.fromisoformat(start), datetime.fromisoformat(end))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "25:00",
        "16:60",
        "13:05 pm",
        "0:05 am",
        "116:05",
        "2026-02-29",
        "2026-13-01 9:00",
        "0001-01-01",
        "9999-12-31",
        "40 Nov",
        "3 foo",
        "16:05 tomorrow",
        "१६:०५",
        "16:05 16:06",
        "yesterday yesterday 16:05",
    ],
)
def test_what_is_no_time_is_none(text):
    assert read_moment(text, today=TODAY, newest=NEWEST) is None
