"""Cutting what was said into pieces that can stand alone: sentences, and lists kept with the line above them."""

# ruff: noqa: RUF001 (full-width marks are what people write)

import re
from collections.abc import Iterable, Iterator

from sessions_app.domain.summarizers import fillers

LONGEST_PIECE = 300
LONGEST_TEXT = 200_000
# In bytes, since scripts without spaces say more with each character.
SHORT = 16
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "｡", "।", "؟")

# Not behind titles and initials, nor between a German day and its month.
_TITLES = "Mr Mrs Ms Dr Prof St Nr Sr Sra Hr Fr Mme Tel ca bzw"
_NO_TITLE = "".join(rf"(?<!\b{word}\.)" for word in _TITLES.split())
_MONTHS = "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
_BOUNDARY = re.compile(
    rf"(?<=[.!?…])(?<!\b[A-Z]\.){_NO_TITLE}['\")\]]? (?!(?:{_MONTHS})\b)(?=[^\sa-z0-9])|(?<=[。！？｡।؟])(?=.)"
)
_WORDS = re.compile(r"\w+")
_LIST_ITEM = re.compile(r"(?:[-*•+–]|(\d{1,3})[.)])\s+(?=\S)")
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)([^*_`\n]{1,200})\1")


def pieces_of(text: str) -> list[str]:
    """Return a text's pieces in order, each a single line of at most LONGEST_PIECE characters with something to read.

    Of a text longer than LONGEST_TEXT only the beginning and the end are read.
    """
    if len(text) > LONGEST_TEXT:
        text = f"{text[: LONGEST_TEXT // 2]}\n{text[-LONGEST_TEXT // 2 :]}"
    pieces: list[str] = []
    for paragraph in _joined_lists(text.splitlines()):
        for sentence in _joined_words(_BOUNDARY.split(paragraph)):
            pieces.extend(_chunks(sentence))
    return [piece for piece in pieces if any(character.isalnum() for character in piece)]


def byte_length(text: str) -> int:
    """Return how many bytes a text has, lone surrogates included."""
    return len(text.encode(errors="surrogatepass"))


def plain_words(text: str) -> str:
    """Return a text by which to tell that two say the same."""
    return " ".join(_WORDS.findall(text.casefold()))


def can_share_a_line(piece: str, following: str) -> bool:
    """Whether two pieces, written one behind the other, would be told apart again."""
    return len(_BOUNDARY.split(f"{piece[-2:]} {following[:1]}")) > 1


def _joined_lists(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without markup; the items of a list stand behind the line that introduces them."""
    gathered = ""
    in_list = False
    for line in map(_plain, lines):
        item = _LIST_ITEM.match(line)
        fits = len(gathered) + len(line) + 2 <= LONGEST_PIECE
        introduced = gathered.endswith((":", "："))
        if item and fits and (in_list or introduced):
            gathered += (" " if introduced else "; ") + _item_text(line, item)
        elif line:
            yield gathered
            gathered = _item_text(line, item) if item else line
        in_list = bool(item) or (in_list and not line)
    yield gathered


def _joined_words(sentences: Iterable[str]) -> Iterator[str]:
    """Yield sentences; a word or two, which say nothing alone, stand before the next, unless they are a phrase."""
    held = ""
    for sentence in sentences:
        joined = f"{held} {sentence}".strip()
        if byte_length(sentence) < SHORT and byte_length(joined) < 2 * SHORT and not fillers.PHRASE.match(sentence):
            held = joined
        else:
            yield joined
            held = ""
    yield held


def _plain(line: str) -> str:
    return _EMPHASIS.sub(r"\2", " ".join(line.split()).lstrip("#> "))


def _item_text(line: str, item: re.Match[str]) -> str:
    """Keep an item's number, in a form that does not look like the end of a sentence."""
    return (f"{item[1]}) " if item[1] else "") + line[item.end() :]


def _chunks(sentence: str) -> Iterator[str]:
    """Yield the sentence, cut between words where it is too long, or anywhere if it has no spaces."""
    text = sentence.strip()
    start = 0
    while len(text) - start > LONGEST_PIECE:
        end = text.rfind(" ", start + LONGEST_PIECE // 2, start + LONGEST_PIECE)
        end = start + LONGEST_PIECE if end < 0 else end
        yield text[start:end].strip()
        start = end
    yield text[start:].strip()
