"""Times as people write them: a time of day, a day, or both."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

_TIME = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:\s?(?P<half>[ap])\.?m\.?)?", re.ASCII)
_DAY = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)", re.ASCII)
_NAMED_DAY = re.compile(r"(?P<day>\d\d?)\.? (?P<month>[a-z]{3,9})(?: (?P<year>\d{4}))?", re.ASCII)
_JOINT = re.compile(r"(?:\bat|(?<=\d)t)$", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEARS = range(1970, 9999)
_NOON = 12


@dataclass(frozen=True, slots=True)
class MeantTime:
    """The time that is meant, by the clock on the wall: from `start` up to, and without, `end`."""

    start: datetime
    end: datetime


def read_moment(text: str, *, today: date, newest: datetime) -> MeantTime | None:
    """Return the minute, second or day that a text names, or None; no zone is meant or given.

    A time of day alone is the last one up to `newest`; a day without its year is the last one up to `today`.
    """
    words = " ".join(text.lower().replace(",", " ").split())
    clock = _TIME.search(words)
    if clock is None:
        day = _day(words, today)
        return None if day is None else MeantTime(_midnight(day), _midnight(day) + timedelta(days=1))
    at = _time(clock)
    named = _JOINT.sub("", f"{words[: clock.start()].strip()} {words[clock.end() :].strip()}".strip()).strip()
    day = _day(named, today) if named else newest.date()
    if at is None or day is None:
        return None
    start = datetime.combine(day, at)
    if not named and start > newest:
        start -= timedelta(days=1)
    return MeantTime(start, start + (timedelta(minutes=1) if clock["second"] is None else timedelta(seconds=1)))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min)


def _time(found: re.Match[str]) -> time | None:
    hour, half = int(found["hour"]), found["half"]
    if half and not 1 <= hour <= _NOON:
        return None
    try:
        return time(
            hour % _NOON + _NOON * (half == "p") if half else hour, int(found["minute"]), int(found["second"] or 0)
        )
    except ValueError:
        return None


def _day(words: str, today: date) -> date | None:
    if words in ("today", "yesterday"):
        return today - timedelta(days=words == "yesterday")
    try:
        if found := _DAY.fullmatch(words):
            day = date(int(found["year"]), int(found["month"]), int(found["day"]))
        elif (found := _NAMED_DAY.fullmatch(words)) and found["month"][:3] in _MONTHS:
            day = date(int(found["year"] or today.year), _MONTHS.index(found["month"][:3]) + 1, int(found["day"]))
            if not found["year"] and day > today:
                day = day.replace(year=day.year - 1)
        else:
            return None
    except ValueError:
        return None
    return day if day.year in _YEARS else None
