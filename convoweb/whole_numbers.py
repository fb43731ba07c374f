"""Whole numbers among the variables of the environment."""

import os

from django.core.exceptions import ImproperlyConfigured

MOST = 2**31 - 1


def read(name: str, *, default: int, least: int = 0, most: int = MOST) -> int:
    """Return the number that a variable says, `default` if it is not set; raises ImproperlyConfigured for others."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not least <= int(text[:11]) <= most:
        raise ImproperlyConfigured(f"{name} is a whole number from {least:,} to {most:,}; this is {text[:40]!r}.")
    return int(text)
