"""JSON laid out for reading: only spaces and line ends change, numbers and repeated keys stay as they were given."""

import json
import re
from collections.abc import Sequence
from typing import Any

from django import template

register = template.Library()

LONGEST = 50_000
_HALVES = re.compile("[\ud800-\udfff]")


class _Literal(str):
    """A number or constant exactly as it was written."""

    __slots__ = ()


class _Pairs(list[tuple[str, Any]]):
    """The members of an object, repetitions included."""


@register.filter
def pretty_json(text: str, line: int) -> str:
    """Indent JSON by two spaces; what fits `line` characters stays in one line; other text is returned as it is."""
    if len(text) > LONGEST or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        parsed = json.loads(
            text, object_pairs_hook=_Pairs, parse_int=_Literal, parse_float=_Literal, parse_constant=_Literal
        )
        return _laid_out(parsed, "", line)
    except (ValueError, RecursionError):
        return text


@register.filter
def as_json(value: Any) -> str:
    """Return a value that is stored as JSON as indented text."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _laid_out(value: Any, indent: str, line: int) -> str:
    flat = _flat(value)
    if not isinstance(value, list) or not value or len(flat) + len(indent) <= line:
        return flat
    deeper = f"{indent}  "
    if isinstance(value, _Pairs):
        return _block([f"{_flat(key)}: {_laid_out(member, deeper, line)}" for key, member in value], "{}", indent)
    return _block([_laid_out(member, deeper, line) for member in value], "[]", indent)


def _block(lines: Sequence[str], brackets: str, indent: str) -> str:
    inner = f",\n{indent}  ".join(lines)
    return f"{brackets[0]}\n{indent}  {inner}\n{indent}{brackets[1]}"


def _flat(value: Any) -> str:
    if isinstance(value, _Literal):
        return value
    if isinstance(value, _Pairs):
        members = ", ".join(f"{_flat(key)}: {_flat(member)}" for key, member in value)
        return f"{{{members}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flat, value))}]"
    # Half of a pair can be written in JSON, but not sent as text.
    return json.dumps(value, ensure_ascii=isinstance(value, str) and bool(_HALVES.search(value)))
