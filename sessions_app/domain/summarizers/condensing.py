"""Leaving out of a sentence what says nothing: how it begins, polite words, and clauses without a fact."""

import re

from sessions_app.domain.summarizers import cues, fillers
from sessions_app.domain.summarizers.sentences import byte_length

LEAST_BYTES = 10
LONGEST_TRAILER = 60
_SUBJECT = (
    "(?:I|we|my|our|he|she|they|it|you|this|that|there|please|ich|wir|mein|er|sie|es|bitte|je|nous|mon|ma|il|elle|on)"
)
# Before a clause that can stand without what is in front of it, and before one that cannot.
_NEW_CLAUSE = rf"(?:, (?=(?:but|so|aber|mais|pero) )|, (?=(?:and|und|et) {_SUBJECT}\b)|; | [-–—] )"
_SUBORDINATE = r", (?=(?:because|since|as|though|although|while|which|weil|da|obwohl|car|parce|porque|aunque|thanks)\b)"
_SIGNS = (cues.FIRST_PERSON, cues.DECISION, cues.NEGATION, cues.DATE)
_NEW = re.compile(_NEW_CLAUSE, re.IGNORECASE)
_ANY = re.compile(f"{_NEW_CLAUSE}|{_SUBORDINATE}", re.IGNORECASE)


def condensed(sentence: str) -> str:
    """Return a sentence without its lead-in and without clauses that bear no fact; its words stay in order.

    A clause that sets a condition stays, and with it all the others.
    """
    text = _without_trailer(_without_lead_in(sentence))
    borders = list(_ANY.finditer(text))
    if not borders or cues.CONDITION.search(text.lower()) or cues.ITEMS.search(text):
        return text
    end = len(text)
    for border in reversed(borders):
        if _bears_a_fact(text[border.end() : end]):
            break
        end = border.start()
    start = 0
    for border in _NEW.finditer(text, 0, end):
        if _bears_a_fact(text[start : border.start()]):
            break
        start = border.end()
    part = text[start:end]
    if len(part) == len(text) or not _bears_a_fact(part) or byte_length(part) < LEAST_BYTES:
        return text
    return _without_lead_in(part) + ("" if end == len(text) else text[-1] if text[-1] in ".!?" else ".")


def _without_lead_in(text: str) -> str:
    begun = fillers.CONJUNCTION.sub("", fillers.LEAD_IN.sub("", text, count=1), count=1)
    return begun if byte_length(begun) >= LEAST_BYTES else text


def _without_trailer(text: str) -> str:
    trailer = fillers.TRAILER.search(text, max(0, len(text) - LONGEST_TRAILER))
    return text[: trailer.start()] + text[trailer.end() :] if trailer else text


def _bears_a_fact(clause: str) -> bool:
    small = clause.lower()
    if fillers.COURTESY.search(small):
        return False
    return bool(cues.NUMBER.search(clause) or cues.NAME.search(clause)) or any(sign.search(small) for sign in _SIGNS)
