"""What no database and no UTF-8 text may hold: NUL and lone surrogates become U+FFFD."""

import re
from collections.abc import Mapping
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_ILLEGAL = re.compile("[\0\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Return the text with each illegal character replaced."""
    return _ILLEGAL.sub(REPLACEMENT, text)


def count_illegal(text: str) -> int:
    """Count the characters that `clean_text` would replace."""
    return len(_ILLEGAL.findall(text))


def clean_json(value: Any) -> Any:
    """Return a JSON value with all its texts cleaned, names of objects included."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(name)): clean_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(item) for item in value]
    return value
