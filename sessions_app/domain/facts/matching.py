"""Whether a text still says a fact, whatever its wording: by its numbers, names and words that say something."""

import math
from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sessions_app.domain.facts.calendars import COUNTS
from sessions_app.domain.facts.specifics import Form, specifics_in
from sessions_app.domain.facts.values import Fact, FactKind
from sessions_app.domain.facts.words import WORD, is_stop_word, keys_of, pairs, stem

# So far apart, in characters, what belongs together may stand.
REACH = 160
REACH_OF_A_NUMBER = 60
# More places of one key are not looked at, so that the search for a fact is bounded.
MOST_PLACES = 50
# Of words at least so many must be there; of pairs of letters, of which one changed letter spoils two, fewer.
SHARE_OF_WORDS = 0.6
SHARE_OF_PAIRS = 0.5
SHARE_BESIDE_NUMBERS = 0.3


@dataclass(frozen=True, slots=True)
class Needs:
    """What a text must say: of each group any one key, and so many of the words, all within reach of each other."""

    groups: tuple[frozenset[str], ...]
    words: tuple[str, ...]
    words_needed: int
    reach: int


def needs_of(fact: Fact) -> Needs:
    """Return what a text must say for a fact to be in it."""
    specifics = list(specifics_in(fact.text))
    if fact.kind is FactKind.DATE:
        specifics = [specific for specific in specifics if specific.form is Form.DATE]
    groups = [specific.keys for specific in specifics] if fact.kind is not FactKind.NAME else []
    words = tuple(dict.fromkeys(keys_of(_without(fact.text, [(each.start, each.end) for each in specifics]))))
    if fact.kind is FactKind.NUMBER:
        counted = [frozenset({word}) for word in words if word.startswith("n:")]
        groups, words = groups or counted[:1], tuple(word for word in words if not word.startswith("n:"))
    distinct = {specific.form for specific in specifics if specific.is_distinct}
    reach = REACH_OF_A_NUMBER if fact.kind is FactKind.NUMBER else REACH
    return Needs(tuple(groups), words, _words_needed(fact.kind, words, distinct), reach + 2 * len(fact.text))


def identity_of(fact: Fact) -> tuple[str, frozenset[str]]:
    """Return what is the same for a fact that is said again in other words, as far as that can be told."""
    needs = needs_of(fact)
    is_amount = fact.kind is FactKind.NUMBER and any(each.form is Form.AMOUNT for each in specifics_in(fact.text))
    keys = frozenset(min(group, key=lambda key: ("." in key, key)) for group in needs.groups)
    by_words = fact.kind in {FactKind.NAME, FactKind.FIRST_PERSON} or (needs.words_needed and not is_amount)
    return fact.kind, keys | frozenset(needs.words) if by_words else keys


def _words_needed(kind: FactKind, words: Sequence[str], distinct: AbstractSet[Form]) -> int:
    """Return how many of the words must be there beside the dates and codes that say enough, or a number."""
    if kind is FactKind.DATE or (kind is not FactKind.NAME and distinct & {Form.DATE, Form.CODE}):
        return 0
    if kind is FactKind.NUMBER and distinct:
        return 0
    if kind is FactKind.NUMBER:
        return min(1, len(words))
    unspaced = sum(1 for word in words if (match := WORD.match(word)) and match["unspaced"])
    if kind is FactKind.FIRST_PERSON and distinct:
        return math.ceil(SHARE_BESIDE_NUMBERS * len(words))
    by_pairs = kind is FactKind.FIRST_PERSON and 2 * unspaced > len(words)
    return math.ceil((SHARE_OF_PAIRS if by_pairs else SHARE_OF_WORDS) * len(words))


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in reversed(spans):
        text = f"{text[:start]} {text[end:]}"
    return text


class TextIndex:
    """Where the keys of a text stand in it."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[int]] = defaultdict(list)
        for specific in specifics_in(text):
            for key in specific.keys:
                self._places[key].append(specific.start)
        for match in WORD.finditer(text):
            self._add_word(match[0], match.start(), unspaced=bool(match["unspaced"]))

    def _add_word(self, word: str, start: int, *, unspaced: bool) -> None:
        if unspaced:
            for place, pair in enumerate(pairs(word)):
                self._places[pair].append(start + place)
            for place, letter in enumerate(word):
                self._places[letter].append(start + place)
                self._add_count(letter, start + place)
        elif not is_stop_word(word):
            self._places[stem(word)].append(start)
            self._add_count(word.casefold(), start)

    def _add_count(self, word: str, place: int) -> None:
        if word in COUNTS:
            self._places[f"n:{COUNTS[word]}"].append(place)

    def says(self, fact: Fact) -> bool:
        """Whether the text says a fact."""
        needs = needs_of(fact)
        found = [*({*group} for group in needs.groups), *({word} for word in needs.words)]
        places = sorted((place, each) for each, keys in enumerate(found) for place in self._places_of(keys))
        return _stand_together(places, needs)

    def _places_of(self, keys: set[str]) -> list[int]:
        return sorted(place for key in keys for place in self._places.get(key, ())[:MOST_PLACES])


def _stand_together(places: Sequence[tuple[int, int]], needs: Needs) -> bool:
    """Whether somewhere all groups, and as many words as needed, are within reach; `places` are in order."""
    counts: dict[int, int] = defaultdict(int)
    first, groups, words = 0, 0, 0
    for place, each in places:
        counts[each] += 1
        if counts[each] == 1:
            groups, words = _moved(each, needs, groups, words, by=1)
        while place - places[first][0] > needs.reach:
            left = places[first][1]
            counts[left] -= 1
            if not counts[left]:
                groups, words = _moved(left, needs, groups, words, by=-1)
            first += 1
        if groups == len(needs.groups) and words >= needs.words_needed:
            return True
    return False


def _moved(each: int, needs: Needs, groups: int, words: int, *, by: int) -> tuple[int, int]:
    return (groups + by, words) if each < len(needs.groups) else (groups, words + by)
