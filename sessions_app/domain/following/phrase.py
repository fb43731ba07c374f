"""Words that are followed: found in texts as they stand there, whatever their case, spaces and lines between them."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from sessions_app.domain.search_words import Piece

LONGEST = 200
EXCERPT_LEAD = 60
_ELLIPSIS = Piece("…", hit=False)
# Marks that people type plainly and models and phones do not.
_ALIKE = ("'\u2018\u2019\u02bc", '"\u201c\u201d\u201e\u00ab\u00bb', "-\u2010\u2011\u2013\u2014")
_ALIKE_OF = {mark: marks for marks in _ALIKE for mark in marks}


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words in a row, with one space between them; `pattern` finds them in any text."""

    words: str
    pattern: re.Pattern[str]

    def is_in(self, text: str) -> bool:
        """Whether a text says it."""
        return self.pattern.search(text) is not None

    def pieces(self, text: str) -> Iterator[Piece]:
        """Yield a text in pieces, its hits by themselves."""
        end = 0
        for found in self.pattern.finditer(text):
            if found.start() > end:
                yield Piece(text[end : found.start()], hit=False)
            yield Piece(found.group(), hit=True)
            end = found.end()
        if end < len(text):
            yield Piece(text[end:], hit=False)

    def excerpt(self, text: str, length: int) -> tuple[Piece, ...]:
        """Return the part of a text around its first hit, in pieces; its beginning if there is none."""
        found = self.pattern.search(text)
        start = max(0, found.start() - EXCERPT_LEAD) if found and found.end() > length else 0
        if start:
            start = text.find(" ", start, found.start() if found else None) + 1 or start
        end = max(start + length, found.end() if found else 0)
        shown = tuple(self.pieces(text[start:end]))
        return (*([_ELLIPSIS] if start else []), *shown, *([_ELLIPSIS] if end < len(text) else []))


def read_phrase(text: str) -> Phrase | None:
    """Return the words that a text gives, the first 200 characters of it; None if it is blank."""
    words = unicodedata.normalize("NFC", text)[:LONGEST].split()
    if not words:
        return None
    between = r"\s+".join("".join(map(_character, word)) for word in words)
    return Phrase(" ".join(words), re.compile(between, re.IGNORECASE))


def _character(character: str) -> str:
    """Return what finds a character, composed or not, and marks that are typed in its place."""
    if character in _ALIKE_OF:
        return f"[{re.escape(_ALIKE_OF[character])}]"
    forms = {character, character.casefold(), unicodedata.normalize("NFD", character)}
    found = [re.escape(form) for form in sorted(forms, key=lambda form: (-len(form), form))]
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"
