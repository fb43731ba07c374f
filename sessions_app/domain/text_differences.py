"""What changed between two texts, by words: what is the same, what was added, what was removed.

Words that stand only once in both texts hold the comparison in place; what is between them is compared word by word
where it is short enough and not too much is, else it is taken as replaced. So long texts, too, take no long time.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, pairwise
from typing import NamedTuple

from sessions_app.domain.facts.words import UNSPACED

# So many pairs of words are compared at most, of one stretch between two fixed words and of all together.
MOST_COMPARISONS = 100_000
MOST_TOGETHER = 1_000_000
MOST_DEPTH = 16
# A word between two changes of at least so many words is the same by chance.
LONG_CHANGE = 2
_TOKEN = re.compile(rf"([{UNSPACED}]|[^\W{UNSPACED}]+(?:['’.,:/-][^\W{UNSPACED}]+)*|[^\w\s])(\s*)")  # noqa: RUF001


class Change(StrEnum):
    """What became of a piece of text."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of one of the texts, or of both, spaces and line ends included."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True)
class TextDifference:
    """The pieces in order; without those added they are the old text, without those removed the new one."""

    pieces: tuple[Piece, ...]
    added: int
    removed: int


_Token = tuple[str, str]
_Pair = tuple[int, int]


class _Stretch(NamedTuple):
    """The words old[start:end] and new[new_start:new_end], between `depth` times fixed words."""

    start: int
    end: int
    new_start: int
    new_end: int
    depth: int


def difference(before: str, after: str) -> TextDifference:
    """Return what changed, with how many words were added and removed; of scripts without spaces, characters."""
    old, new = _tokens(before), _tokens(after)
    pairs = _without_islands(_pairs([word for word, _ in old], [word for word, _ in new]), len(old), len(new))
    pairs = _slid(pairs, old, new)
    pieces = list(_pieces(old, new, pairs))
    grouped = groupby(_removed_first(pieces), key=lambda piece: piece.change)
    together = [Piece(change, "".join(piece.text for piece in group)) for change, group in grouped]
    counts = Counter(piece.change for piece in pieces if any(map(str.isalnum, piece.text)))
    return TextDifference(tuple(together), counts[Change.ADDED], counts[Change.REMOVED])


def _tokens(text: str) -> list[_Token]:
    """Return words and marks, each with the spaces behind it; spaces at the beginning are behind an empty word."""
    indent = len(text) - len(text.lstrip())
    tokens = [(match[1], match[2]) for match in _TOKEN.finditer(text, indent)]
    return [("", text[:indent]), *tokens] if indent else tokens


def _pieces(old: Sequence[_Token], new: Sequence[_Token], pairs: Iterable[_Pair]) -> Iterator[Piece]:
    """Yield each word, or the spaces behind one where only they changed, in order."""
    place = new_place = 0
    for same, new_same in [*pairs, (len(old), len(new))]:
        yield from (Piece(Change.REMOVED, "".join(token)) for token in old[place:same])
        yield from (Piece(Change.ADDED, "".join(token)) for token in new[new_place:new_same])
        if same < len(old):
            yield from _same_word(old[same], new[new_same])
        place, new_place = same + 1, new_same + 1


def _same_word(old: _Token, new: _Token) -> Iterator[Piece]:
    if old == new:
        yield Piece(Change.SAME, "".join(old))
        return
    changed = ((Change.SAME, old[0]), (Change.REMOVED, old[1]), (Change.ADDED, new[1]))
    yield from (Piece(change, text) for change, text in changed if text)


def _removed_first(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces so that what stands in one place now comes behind what stood there before."""
    for _, group in groupby(pieces, key=lambda piece: piece.change is Change.SAME):
        yield from sorted(group, key=lambda piece: piece.change is Change.ADDED)


def _without_islands(pairs: Sequence[_Pair], old_length: int, new_length: int) -> list[_Pair]:
    """Leave out single words that are the same by chance, amid longer stretches that changed."""
    bounds = [(-1, -1), *pairs, (old_length, new_length)]
    changed = [max(place - before, new - new_before) - 1 for (before, new_before), (place, new) in pairwise(bounds)]
    return [pair for pair, gaps in zip(pairs, pairwise(changed), strict=True) if min(gaps) < LONG_CHANGE]


def _slid(pairs: Sequence[_Pair], old: Sequence[_Token], new: Sequence[_Token]) -> list[_Pair]:
    """Match a word before something added or removed with that thing's last word where that has the same spaces."""
    slid: list[_Pair] = []
    for (place, new_place), (following, new_following) in pairwise(pairs):
        last, new_last = following - 1, new_following - 1
        if old[place] != new[new_place] and last == place and old[place] == new[new_last]:
            slid.append((place, new_last))
        elif old[place] != new[new_place] and new_last == new_place and old[last] == new[new_place]:
            slid.append((last, new_place))
        else:
            slid.append((place, new_place))
    return [*slid, *pairs[-1:]]


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[_Pair]:
    """Return the places of words that are the same in both, in order."""
    pairs: list[_Pair] = []
    stretches, left = [_Stretch(0, len(old), 0, len(new), 0)], MOST_TOGETHER
    while stretches:
        stretch, ends = _trimmed(stretches.pop(), old, new)
        pairs += ends
        words, new_words = old[stretch.start : stretch.end], new[stretch.new_start : stretch.new_end]
        fixed = _fixed(words, new_words) if stretch.depth < MOST_DEPTH else []
        comparisons = len(words) * len(new_words)
        if not fixed and comparisons <= min(MOST_COMPARISONS, left):
            left -= comparisons
            pairs += _moved(_longest_common(words, new_words), stretch)
        pairs += _moved(fixed, stretch)
        stretches += _between(stretch, _moved(fixed, stretch)) if fixed else []
    return sorted(pairs)


def _moved(pairs: Iterable[_Pair], stretch: _Stretch) -> list[_Pair]:
    return [(stretch.start + place, stretch.new_start + new_place) for place, new_place in pairs]


def _trimmed(stretch: _Stretch, old: Sequence[str], new: Sequence[str]) -> tuple[_Stretch, list[_Pair]]:
    """Return a stretch without what is the same at its beginning and at its end, and those pairs."""
    pairs: list[_Pair] = []
    start, end, new_start, new_end, depth = stretch
    while start < end and new_start < new_end and old[start] == new[new_start]:
        pairs.append((start, new_start))
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
        pairs.append((end, new_end))
    return _Stretch(start, end, new_start, new_end, depth), pairs


def _between(stretch: _Stretch, fixed: Sequence[_Pair]) -> Iterator[_Stretch]:
    """Yield what is before, between and behind the fixed words of a stretch."""
    bounds = [(stretch.start - 1, stretch.new_start - 1), *fixed, (stretch.end, stretch.new_end)]
    for (before, new_before), (place, new_place) in pairwise(bounds):
        yield _Stretch(before + 1, place, new_before + 1, new_place, stretch.depth + 1)


def _fixed(old: Sequence[str], new: Sequence[str]) -> list[_Pair]:
    """Return the longest series, in order in both, of words that stand exactly once in each."""
    places = {word: place for place, word in enumerate(new)}
    counts, new_counts = Counter(old), Counter(new)
    once = [(place, places[word]) for place, word in enumerate(old) if counts[word] == new_counts[word] == 1]
    return _longest_ascending(once)


def _longest_ascending(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Return the longest series whose second places ascend, too: of all series of a length, the lowest end is kept."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, new_place) in enumerate(pairs):
        length = bisect_left(ends, new_place)
        ends[length : length + 1] = [new_place]
        last[length : length + 1] = [index]
        before.append(last[length - 1] if length else -1)
    series: list[_Pair] = []
    index = last[-1] if last else -1
    while index >= 0:
        series.append(pairs[index])
        index = before[index]
    return series[::-1]


def _longest_common(old: Sequence[str], new: Sequence[str]) -> list[_Pair]:
    """Return the longest common series of words, by comparing each with each."""
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for place in reversed(range(len(old))):
        row, below = lengths[place], lengths[place + 1]
        for new_place in reversed(range(len(new))):
            same = old[place] == new[new_place]
            row[new_place] = below[new_place + 1] + 1 if same else max(below[new_place], row[new_place + 1])
    pairs: list[_Pair] = []
    place = new_place = 0
    while place < len(old) and new_place < len(new):
        if old[place] == new[new_place]:
            pairs.append((place, new_place))
            place, new_place = place + 1, new_place + 1
        elif lengths[place + 1][new_place] >= lengths[place][new_place + 1]:
            place += 1
        else:
            new_place += 1
    return pairs
