"""Words as keys: rewording a statement changes their endings and their order, but rarely their beginnings."""

# ruff: noqa: RUF001 (typographic apostrophes are what people write)

import re
import unicodedata

from sessions_app.domain.facts.calendars import COUNTS
from sessions_app.domain.facts.stop_words import STOP_WORDS

# Scripts that put no spaces between words, and Korean, whose words grow at their ends: looked for by pairs of letters.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
WORD = re.compile(rf"(?P<unspaced>[{UNSPACED}]+)|(?P<word>[^\W\d_{UNSPACED}]+(?:['’][^\W\d_{UNSPACED}]+)*)")
LONGEST_KEY = 6
SHORTEST_STEM = 3
ENDINGS = ("ies", "ing", "ed", "es", "ic", "en", "er", "em", "s", "e", "n", "y")


# Hiragana are the endings and particles of Japanese; the others, words of Chinese that hold a sentence together.
UNSPACED_STOPS = "[\u3040-\u309f我私僕俺你您他她它们們的了着在是和与也都很就还還这這那有吗呢吧啊请請]"
_UNSPACED_STOPS = re.compile(f"(?:{UNSPACED_STOPS}|[个個])+")


def keys_of(text: str) -> list[str]:
    """Return the keys of a text's words that say something, in order."""
    return [key for match in WORD.finditer(text) for key in _keys_of_word(match)]


def _keys_of_word(match: re.Match[str]) -> list[str]:
    """Return the key of a word, none for one that says nothing; the pairs of letters of one that has no spaces."""
    if match["unspaced"]:
        parts = [part for part in _UNSPACED_STOPS.split(match[0]) if part]
        return [key for part in [part for part in parts if len(part) > 1] or parts for key in pairs(part)]
    if match[0].casefold() in COUNTS:
        return [f"n:{COUNTS[match[0].casefold()]}"]
    return [] if is_stop_word(match[0]) else [stem(match[0])]


def pairs(letters: str) -> list[str]:
    """Return each two neighbouring letters; a single one is alone."""
    return [letters[place : place + 2] for place in range(max(1, len(letters) - 1))]


def is_stop_word(word: str) -> bool:
    """Whether a word only holds a sentence together."""
    return word.replace("’", "'").casefold() in STOP_WORDS


def stem(word: str) -> str:
    """Return the beginning that the forms of a word have in common, about."""
    letters = unicodedata.normalize("NFKD", word.casefold().replace("’", "'").removesuffix("'s"))
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    ending = next((end for end in ENDINGS if plain.endswith(end) and len(plain) - len(end) >= SHORTEST_STEM), "")
    return (plain if plain.endswith("ss") else plain.removesuffix(ending))[:LONGEST_KEY]
