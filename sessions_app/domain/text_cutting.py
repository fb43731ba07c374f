"""Cutting a text so that it fits, with a mark that says so."""

import re
from collections.abc import Callable, Sequence

CUT_MARK = " [shortened]"
# Full stops and their like: Latin ones before a space, those of CJK, Hindi and Arabic anywhere, and line ends.
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026])(?=\s)|(?<=[\u3002\uff01\uff1f\uff61\u0964\u061f])|(?=\n)")
_WORD_END = re.compile(r"(?<=\S)(?=\s)")


def cut_at_sentence(text: str, *, fits: Callable[[str], bool]) -> str | None:
    """Return the text if it fits, else its longest marked beginning that fits, or None if not even a word does.

    The cut is at the end of a sentence; only if the first sentence does not fit, it is at the end of a word.
    """
    if fits(text):
        return text
    return _cut(text, _SENTENCE_END, fits) or _cut(text, _WORD_END, fits)


def cut_anywhere(text: str, *, fits: Callable[[str], bool]) -> str | None:
    """Return the text if it fits, else its longest marked beginning that fits, or None if not even a letter does."""
    if fits(text):
        return text
    longest = last_that_fits(range(1, len(text)), lambda position: fits(_marked(text, position)))
    return None if longest is None else _marked(text, longest)


def cut_to_length(text: str, characters: int) -> str:
    """Return the text if it is not longer than so many characters and the mark, else its marked beginning."""
    return text if len(text) <= characters + len(CUT_MARK) else _marked(text, characters)


def _cut(text: str, end: re.Pattern[str], fits: Callable[[str], bool]) -> str | None:
    indent = len(text) - len(text.lstrip())
    beginnings = [match.start() for match in end.finditer(text) if match.start() > indent]
    longest = last_that_fits(beginnings, lambda position: fits(_marked(text, position)))
    return None if longest is None else _marked(text, longest)


def _marked(text: str, position: int) -> str:
    return text[:position].rstrip() + CUT_MARK


def last_that_fits(positions: Sequence[int], fits: Callable[[int], bool]) -> int | None:
    """Return the last of the positions, in ascending order, that fits as all before it do.

    Gallops, then halves, so that the cost depends on what fits and not on the length of the text.
    """
    step = 1
    while step <= len(positions) and fits(positions[step - 1]):
        step *= 2
    low, high = step // 2, min(step - 1, len(positions))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(positions[middle - 1]) else (low, middle - 1)
    return positions[low - 1] if low else None
