"""JSON as the standard has it and every database can hold it: no NaN, no number beyond a double."""

import json
import math
from typing import Any, NoReturn

LONGEST_INTEGER = 300
# Deeper values might not be read or written again by every client.
DEEPEST = 64
TOO_DEEP = f"Lists and objects may be nested {DEEPEST} levels deep at most."
_SHOWN = 20


def strict_json(text: str) -> Any:
    """Return the value that a text is; raises ValueError, or RecursionError for one that is nested too deeply."""
    return json.loads(text, parse_constant=refuse_constant, parse_float=_finite_float, parse_int=_short_int)


def is_shallow(value: Any, levels: int = DEEPEST) -> bool:
    """Whether lists and objects are nested at most so many levels deep."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(is_shallow(item, levels - 1) for item in inner)


def refuse_constant(constant: str) -> NoReturn:
    """Raise ValueError for NaN and the infinities, which Python reads otherwise."""
    raise ValueError(f"{constant} is not a number of JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:_SHOWN]} is too large")
    return number


def _short_int(text: str) -> int:
    if len(text) > LONGEST_INTEGER:
        raise ValueError(f"the number {text[:_SHOWN]}... is too large")
    return int(text)
