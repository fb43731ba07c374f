"""How much a piece of something said is worth to a memory, and which words and signs it is known by."""

import heapq
import math
import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from sessions_app.domain.summarizers import cues, fillers
from sessions_app.domain.summarizers.memory_lines import ASSISTANT, NOTE, SYSTEM, TOOL, USER, Age
from sessions_app.domain.summarizers.sentences import SENTENCE_ENDS, SHORT, byte_length

WEIGHTS = {USER: 2.0, ASSISTANT: 0.7, TOOL: 1.8, SYSTEM: 1.5, NOTE: 1.5}
OTHER_WEIGHT = 2.0
# What the same thing said again is worth more.
SAID_AGAIN = 0.5
# Of what is kept only where there is room for it.
LEAST_VALUE = 0.1
MOST_PIECES = 2_000
# How the length of a piece, in bytes, makes it worth less, and what is left of it if all of its words are known.
FIXED_SIZE = 24
DENSITY = 0.65
OF_KNOWN = 0.3
HALF_KNOWN = 0.5
MUCH_MORE_OR_NOTHING = ("…", "[]", "{}", "no result")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of something said: `place` is its own among all pieces, `value` what it is worth alone."""

    place: int
    speaker: str
    text: str
    age: Age
    value: float
    words: frozenset[str] = frozenset()


def best_pieces(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the pieces that are worth anything, with their words; of very many only the best of each age."""
    worthy = [piece for piece in pieces if piece.value > 0]
    best = [piece for age in Age for piece in _best([piece for piece in worthy if piece.age is age])]
    return [replace(piece, words=words_of(piece.text)) for piece in best]


def _best(pieces: list[Piece]) -> list[Piece]:
    if len(pieces) <= MOST_PIECES:
        return pieces
    return heapq.nlargest(MOST_PIECES, pieces, key=lambda piece: (rank_of(piece, frozenset()), piece.place))


def rank_of(piece: Piece, known: AbstractSet[str]) -> float:
    """Return what a piece is worth for its length beside words that are known already."""
    novel = len(piece.words - known) / len(piece.words) if piece.words else HALF_KNOWN
    worth = piece.value * (OF_KNOWN + (1 - OF_KNOWN) * novel)
    return worth / math.pow(FIXED_SIZE + byte_length(piece.text), DENSITY)


def words_of(text: str) -> frozenset[str]:
    """Return what a text is known by: its numbers and words, and of scripts without spaces each two characters."""
    words: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            words.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif len(word) > 3 or any(character.isdigit() for character in word):
            words.add(word)
    return frozenset(words)


def value_of(speaker: str, text: str) -> float:
    """Return what a piece is worth, by who says it and by the signs of a fact in it; not above 0 if nothing."""
    if speaker == TOOL:
        value = WEIGHTS[TOOL] + 0.5 * min(4, len(cues.NUMBER.findall(text)) + len(cues.NAME.findall(text)))
        return value + 1.0 * (" gave " in text) - 2.0 * text.endswith(MUCH_MORE_OR_NOTHING)
    small = text.lower()
    says_little = 3.0 * bool(fillers.COURTESY.search(small))
    says_little += 2.0 * (byte_length(text) < SHORT and not cues.NUMBER.search(text))
    says_little += 1.5 * text.endswith(cues.QUESTION_ENDS)
    value, specific = WEIGHTS.get(speaker, OTHER_WEIGHT) - says_little, _specific(text, small)
    if text.endswith(cues.QUESTION_ENDS):
        return value + specific
    value += _of_assistant(small, specific) if speaker == ASSISTANT else _of_others(small, specific)
    return value if says_little else max(LEAST_VALUE, value)


def _specific(text: str, small: str) -> float:
    """Return what the numbers, codes, dates and names in a text are worth."""
    value = 0.6 * min(3, len(cues.NUMBER.findall(text))) + 0.3 * min(3, len(cues.NAME.findall(text)))
    value += 0.6 * bool(cues.DATE.search(small)) + 0.3 * bool(cues.QUANTITY.search(small))
    return value + 0.6 * bool(cues.TITLED.search(text)) + 0.6 * bool(cues.CODE.search(text))


def _of_assistant(small: str, specific: float) -> float:
    """Return what a text says beyond who says it: little but for what was done or holds for this user."""
    commits = bool(cues.COMMITMENT.search(small))
    value = 0.6 * bool(cues.SETTLED.search(small)) + 0.5 * bool(cues.NEGATION.search(small)) + 1.8 * commits
    value += specific if commits or cues.YOURS.search(small) else 0.5 * specific
    value -= 0.5 * (not small.endswith(SENTENCE_ENDS))
    return value - 1.0 * bool(fillers.ADVICE.search(small)) - 0.7 * bool(cues.ITEMS.search(small))


def _of_others(small: str, specific: float) -> float:
    value = 1.0 * bool(cues.DECISION.search(small)) + 0.8 * bool(cues.NEGATION.search(small))
    value += 1.2 * bool(cues.FIRST_PERSON.search(small)) - 0.8 * bool(fillers.ANECDOTE.search(small))
    return value + specific
