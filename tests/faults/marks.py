"""Marks: what tells a run apart from all others wherever its text is found, in a request, a summary or a prompt."""

import re

_MARK = re.compile(r"\[(\w+\.\d+)\]")


def mark(session: str, number: int) -> str:
    """Return the mark of the so-manieth run that was ever appended to a session."""
    return f"[{session}.{number}]"


def marks_in(text: str) -> list[str]:
    """Return the marks in a text, in order, each as often as it stands there."""
    return [f"[{found}]" for found in _MARK.findall(text)]
