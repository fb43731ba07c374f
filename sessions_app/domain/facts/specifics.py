"""Dates, times, amounts, codes and addresses in a text, in the common forms, and how each is written plainly.

The plain forms are what a fact and a summary are compared by: "4:20 pm" and "16:20", "1,500 EUR" and "1500 €" have one
in common. What can be read in two ways, like 05/06/2026, has both.
"""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sessions_app.domain.facts.calendars import MONTHS, UNSPACED_WEEKDAYS, WEEKDAYS
from sessions_app.domain.facts.forms import FORMS

_FORM = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in FORMS.items()))
_WITHOUT_DIGITS = re.compile("|".join(f"(?P<{name}>{FORMS[name]})" for name in ("email", "weekday", "cjk_weekday")))
_DIGITS = re.compile(r"\d+")
_AFTERNOON = re.compile(r"[Pp]\.?[Mm]|下午|晚上|午後|오후")
_MORNING = re.compile(r"[Aa]\.?[Mm]|上午|早上|午前|오전")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|er|ème)", re.IGNORECASE)


class Form(StrEnum):
    """What a specific is."""

    DATE = "date"
    AMOUNT = "amount"
    CODE = "code"
    NUMBER = "number"


DISTINCT_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Specific:
    """A specific at its place in a text; any one of its keys stands for it.

    One that is distinct says enough by itself; another, like a small number, only with a word beside it.
    """

    form: Form
    start: int
    end: int
    keys: frozenset[str]
    is_distinct: bool = True


def specifics_in(text: str) -> Iterator[Specific]:
    """Yield the specifics of a text in order."""
    form_of = _FORM if _DIGITS.search(text) else _WITHOUT_DIGITS
    for match in form_of.finditer(text):
        form, keys = _READERS[match.lastgroup or ""](match[0])
        if keys:
            distinct = form in {Form.DATE, Form.CODE} or _digits(match[0]) >= DISTINCT_DIGITS
            yield Specific(form, match.start(), match.end(), frozenset(keys), distinct)


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


_Reading = tuple[Form, list[str]]


def _date(days: Iterable[tuple[int, int]]) -> _Reading:
    return Form.DATE, [f"d:{month:02}-{day:02}" for month, day in days if 1 <= month <= 12 and 1 <= day <= 31]


def _numbers(text: str) -> list[int]:
    return [int(digits) for digits in _DIGITS.findall(text)]


def _month_in(text: str) -> int:
    return next(MONTHS[word] for word in re.findall(r"[^\W\d_]+", text.casefold()) if word in MONTHS)


def _iso(text: str) -> _Reading:
    _, month, day = _numbers(text)
    return _date([(month, day)])


def _dotted(text: str) -> _Reading:
    day, month = _numbers(text)[:2]
    return _date([(month, day)])


def _slashed(text: str) -> _Reading:
    first, second = _numbers(text)[:2]
    return _date([(first, second), (second, first)])


def _named_month(text: str) -> _Reading:
    return _date([(_month_in(text), _numbers(text)[0])])


def _month_year(text: str) -> _Reading:
    return Form.DATE, [f"m:{_numbers(text)[0]}-{_month_in(text):02}"]


def _cjk_date(text: str) -> _Reading:
    month, day = _numbers(text)[-2:]
    return _date([(month, day)])


def _time(text: str) -> _Reading:
    """Read a time; one of the first half of the day that does not say which half may be of either."""
    numbers = _numbers(text)
    hour = numbers[0]
    minute = 30 if text.endswith("半") else numbers[1] if len(numbers) > 1 else 0
    if _AFTERNOON.search(text):
        hours = [hour % 12 + 12]
    elif _MORNING.search(text):
        hours = [hour % 12]
    else:
        hours = [hour, hour + 12] if 1 <= hour < 12 and not text.startswith("0") else [hour]
    return Form.DATE, [f"t:{each:02}:{minute:02}" for each in hours if minute < 60]


def _weekday(text: str) -> _Reading:
    name = text.casefold()
    return Form.DATE, [f"w:{WEEKDAYS.get(name) or WEEKDAYS[name.removesuffix('s')]}"]


def _cjk_weekday(text: str) -> _Reading:
    return Form.DATE, [f"w:{UNSPACED_WEEKDAYS[text[0] if text[1] == '曜' else text[-1]]}"]


def _amount(text: str) -> _Reading:
    return Form.AMOUNT, _plain_numbers(text)


def _number(text: str) -> _Reading:
    return Form.NUMBER, _plain_numbers(text)


def _code(text: str) -> _Reading:
    """Read a code, which has letters and digits; a word has no digits, a number no letters."""
    if text.isdecimal():
        return _number(text)
    if text.isalpha() or not any(map(str.isdigit, text)) or _ORDINAL.fullmatch(text):
        return Form.CODE, []
    letters = "".join(filter(str.isalnum, text))
    return Form.CODE, [f"c:{letters.casefold()}"]


def _address(text: str) -> _Reading:
    return Form.CODE, [f"a:{text.casefold()}"]


def _phone(text: str) -> _Reading:
    return Form.CODE, [f"n:{''.join(_DIGITS.findall(text))}"]


def _plain_numbers(text: str) -> list[str]:
    """Return how a number may be read: 1.500 is one and a half to some and fifteen hundred to others."""
    number = re.search(r"\d[\d.,'’\u00a0\u202f]*", text)
    digits = re.sub(r"['’\u00a0\u202f]", "", number[0].rstrip(".,") if number else "")
    marks = [mark for mark in digits if mark in ".,"]
    if not marks:
        return [f"n:{_canonical(digits)}"]
    whole, _, rest = digits.rpartition(marks[-1])
    joined = re.sub(r"[.,]", "", whole)
    if len(set(marks)) > 1:
        return [f"n:{_canonical(joined, rest)}"]
    grouped = [f"n:{_canonical(joined + rest)}"] if len(rest) == 3 and not whole.startswith("0") else []
    return grouped + ([f"n:{_canonical(joined, rest)}"] if len(marks) == 1 else [])


def _canonical(whole: str, decimals: str = "") -> str:
    plain = "".join(str(int(digit)) for digit in whole).lstrip("0") or "0"
    rest = decimals.rstrip("0")
    return f"{plain}.{rest}" if rest else plain


_READERS: Mapping[str, Callable[[str], _Reading]] = {
    "email": _address,
    "iso": _iso,
    "dotted": _dotted,
    "dotted_short": _dotted,
    "slashed": _slashed,
    "day_month": _named_month,
    "month_day": _named_month,
    "month_year": _month_year,
    "cjk_date": _cjk_date,
    "clock": _time,
    "twelve": _time,
    "uhr": _time,
    "heure": _time,
    "cjk_time": _time,
    "weekday": _weekday,
    "cjk_weekday": _cjk_weekday,
    "phone": _phone,
    "card": _phone,
    "money": _amount,
    "measure": _amount,
    "flight": _code,
    "number": _number,
    "code": _code,
}
