"""What a file begins with, by which its format is recognized: its first value as far as its first bytes go."""

import json
import re
from typing import Any

from sessions_app.domain.json_streams import BOM

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_CLOSING = {"[": "]", "{": "}"}


def first_value(head: bytes) -> Any:
    """Return the first JSON value in the first bytes of a file, None if there is none.

    Of one that is cut off comes what is whole of it, its lists and objects closed behind that.
    """
    text = head.removeprefix(BOM).decode("utf-8", "replace").lstrip()
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(_closed(text))
    except (ValueError, RecursionError):
        return None


def first_object(head: bytes) -> dict[str, Any]:
    """Return the first value, or of a list its first item, if it is an object; else an empty one."""
    value = first_value(head)
    if isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, dict) else {}


def _closed(text: str) -> str:
    """Return a text cut behind its last bracket, or before its last comma, with what is open there closed."""
    end, closing = 0, []
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in _CLOSING:
            closing.append(_CLOSING[mark])
        elif mark in ("]", "}"):
            if not closing or closing.pop() != mark:
                break
        elif mark != ",":
            continue
        end = token.start() if mark == "," else token.end()
    return text[:end] + "".join(reversed(closing))
