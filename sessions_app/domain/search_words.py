"""Words as search compares them: of texts, of what is searched for, and where the one stands in the other.

Case and accents do not count. Scripts that put no spaces between words give one word a character, so that what is
searched for is found as the same characters in a row.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

WORDS_INDEXED = 16_000
CHARACTERS_INDEXED = 200_000
LONGEST_WORD = 64
WORDS_SOUGHT = 32
QUERY_READ = 2_000
EXCERPT_LENGTH = 160
_LEAD = 40

# Thai, Lao, Burmese, Khmer, the syllables of Japanese, and Han characters.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED += "\uff66-\uff9f\U00020000-\U0003ffff"
_SYMBOLS = "\u2190-\u2bff\U0001f000-\U0001faff"
_MARKS = "".join(chr(code) for code in range(0x300, 0xFE30) if unicodedata.category(chr(code)).startswith("M"))
_WORD = re.compile(
    rf"(?:[^\W_{_UNSPACED}][{_MARKS}]*)+|[{_UNSPACED}{_SYMBOLS}][{_MARKS}]*",
)
_ASCII_WORD = re.compile("[a-z0-9]+")
_ACCENTS = re.compile("[\u0300-\u036f\ufe00-\ufe0f]")
_TERM = re.compile(r'["“”]([^"“”]*)["“”]|(\S+)')
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Term:
    """Words that have to stand in a row; where it is `open`, the last may go on with further letters."""

    words: tuple[str, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class Sought:
    """What is searched for: all terms have to stand in one text. Without any, nothing is found."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an excerpt; `hit`: it is what was searched for."""

    text: str
    hit: bool


def words_of(texts: Iterable[str]) -> list[str]:
    """Return the words of texts that are indexed: the first 16,000, and no more than 200,000 characters."""
    found = list(islice((word for text in texts for word, _, _ in _words(text)), WORDS_INDEXED))
    room = CHARACTERS_INDEXED
    for place, word in enumerate(found):
        room -= len(word) + 1
        if room < 0:
            return found[:place]
    return found


def read_query(text: str) -> Sought:
    """Return what a person or a bot searches for; any text can be read, and only its first 32 words count.

    What stands in quotation marks is one term of whole words. Else every word of two letters or more finds all that
    begin with it, and what is parted by no space (an id, a number with a hyphen) is one term.
    """
    terms, room = dict[Term, None](), WORDS_SOUGHT
    for quoted, plain in _TERM.findall(text[:QUERY_READ]):
        words = tuple(word for word, _, _ in islice(_words(quoted or plain), room))
        room -= len(words)
        if words:
            terms[Term(words, open=not quoted and len(words[-1]) > 1)] = None
    return Sought(tuple(terms))


def marked(text: str, sought: Sought) -> Iterator[Piece]:
    """Yield a text in pieces, its hits by themselves."""
    end = 0
    for begin, stop, _ in _hits(text, sought):
        if begin >= end:
            yield Piece(text[end:begin], hit=False)
            yield Piece(text[begin:stop], hit=True)
            end = stop
    yield Piece(text[end:], hit=False)


def excerpt(texts: Sequence[str], sought: Sought) -> tuple[Piece, ...]:
    """Return the part of the texts in which most terms stand near each other, in pieces; empty if none does."""
    best: tuple[int, str, int] = (0, "", 0)
    for text in texts:
        count, start = _densest(_hits(text, sought))
        if count > best[0]:
            best = (count, text, start)
    return tuple(_pieces(best[1], best[2], sought)) if best[0] else ()


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the words of a text, each with where it begins and ends there."""
    if text.isascii():
        for match in _ASCII_WORD.finditer(text.lower()):
            yield match.group()[:LONGEST_WORD], match.start(), match.end()
        return
    for match in _WORD.finditer(text):
        for word in _WORD.findall(_folded(match.group())):
            yield word[:LONGEST_WORD], match.start(), match.end()


def _folded(word: str) -> str:
    return word.lower() if word.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKD", word).casefold())


def _hits(text: str, sought: Sought) -> list[tuple[int, int, int]]:
    """Return where terms stand in a text: begin, end, and which term it is."""
    places = list(islice(_words(text), WORDS_INDEXED))
    words = [word for word, _, _ in places]
    hits = []
    for number, term in enumerate(sought.terms):
        size = len(term.words)
        for place, word in enumerate(words):
            if word.startswith(term.words[0]) and _stands(term, words[place : place + size]):
                hits.append((places[place][1], places[place + size - 1][2], number))
    return sorted(hits)


def _stands(term: Term, words: Sequence[str]) -> bool:
    if len(words) < len(term.words) or tuple(words[:-1]) != term.words[:-1]:
        return False
    return words[-1].startswith(term.words[-1]) if term.open else words[-1] == term.words[-1]


def _densest(hits: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
    """Return how many terms stand within an excerpt's length at most, and where the first such stretch begins."""
    best, last = (0, 0), 0
    for first, (start, _, _) in enumerate(hits):
        last = max(last, first)
        while last < len(hits) and hits[last][1] <= start + EXCERPT_LENGTH - _LEAD:
            last += 1
        count = len({number for _, _, number in hits[first : max(last, first + 1)]})
        best = max(best, (count, -start))
    return best[0], -best[1]


def _pieces(text: str, hit: int, sought: Sought) -> Iterator[Piece]:
    start = _word_begin(text, hit)
    if start:
        yield Piece("…", hit=False)
    yield from marked(_SPACE.sub(" ", text[start : start + EXCERPT_LENGTH]), sought)
    if start + EXCERPT_LENGTH < len(text):
        yield Piece("…", hit=False)


def _word_begin(text: str, hit: int) -> int:
    """Return where an excerpt begins that leads to a hit: behind a space, if there is one."""
    earliest = max(0, hit - _LEAD)
    space = text.find(" ", earliest, hit) if earliest else -1
    return space + 1 if space >= 0 else earliest
