"""How much of a sentence is shown with a date or a number, so that one knows what it is about."""

# ruff: noqa: RUF001 (typographic apostrophes are what people write)

import re
from collections.abc import Sequence

from sessions_app.domain.facts.specifics import Form, Specific
from sessions_app.domain.facts.words import UNSPACED, UNSPACED_STOPS, is_stop_word

LONGEST_FACT = 80
# A number of so many digits is worth a line without a word beside it.
LONG_NUMBER = 5
_BEFORE = re.compile(rf"(?:(?:[^\W_{UNSPACED}][\w'’&-]{{0,30}}:? ){{1,5}}|(?P<unspaced>[{UNSPACED}]{{1,8}}\s?))$")
_HOLDING_TOGETHER = re.compile(rf"^(?:{UNSPACED_STOPS})+")
_JOINS = frozenset({"and", "or", "but", "with", "&", "und", "oder", "mit", "y", "o", "con", "et", "ou", "avec"})
MOST_WORDS_BEFORE = 4
_AFTER = re.compile(rf"[ -][^\W\d_{UNSPACED}]{{2,30}}")
_AFTER_UNSPACED = re.compile(
    f"\\s?(?!{UNSPACED_STOPS})(?:[位名][\u3400-\u9fff]{{0,2}}|[\u3400-\u9fff]{{1,2}}|[\u30a0-\u30ff]{{1,8}}|[\uac00-\ud7af]{{1,4}})"
)
_EACH = re.compile(r" (?:each|(?:per|pro|por|par|a) [^\W\d_]{2,20})\b")
_TOGETHER = re.compile(r"[\s,(]{0,2}(?:at|um|on|the|the of|a las|à|alle|às|am|den|T|from|ab|в|의|の)?\s?")
_COUNTS_FOR = re.compile(
    r"(?:\b(?:gate|room|seat|row|aged?|number|no\.?|nr\.?|nummer|zimmer|platz|gleis|platform|terminal|floor|apartment|"
    r"unit|line|bus|child of|son of|daughter of|turned|turns|code|pin|zip|plz|habitación|número|chambre|numéro)"
    r"(?: is| ist| es| est|:)?|[^\W\d_]:) ?#?$",
    re.IGNORECASE,
)
_ENUMERATES = re.compile(r"[.)](?:\s\S|$)")
_COUNTED_WITHOUT_MEANING = """
    option options thing things question questions detail details way ways step steps point points reason reasons
    choice choices time times other others of more and or fragen frage dinge mal uhr veces cosas fois choses kinds
    types second seconds moment moments business next previous last first best main following flights total
    altogether insgesamt
"""
_EMPTY_NOUNS = frozenset(_COUNTED_WITHOUT_MEANING.split())


def date_excerpt(sentence: str, dates: Sequence[Specific], not_before: int) -> str:
    """Return dates and times that stand together, with the words before them."""
    start = _start(sentence, dates[0].start, not_before)
    return shortened(sentence[start : dates[-1].end])


def number_excerpt(sentence: str, number: Specific, not_before: int) -> str:
    """Return an amount, a code or a number with what it counts; empty for a number that counts nothing."""
    if number.form is Form.NUMBER:
        return shortened(_count(sentence, number, not_before))
    each = _EACH.match(sentence, number.end)
    start = _start(sentence, number.start, not_before)
    return shortened(sentence[start : each.end() if each else number.end])


def belong_together(sentence: str, one: Specific, following: Specific) -> bool:
    """Whether two dates or times are one: with nothing between them but "at" and the like."""
    return bool(_TOGETHER.fullmatch(sentence, one.end, following.start))


def shortened(text: str) -> str:
    """Return a text on one line, cut to LONGEST_FACT characters with an ellipsis, at a word if it has any."""
    line = " ".join(text.split()).strip(" ,;:.-–(\"'“”")
    if len(line) <= LONGEST_FACT:
        return line
    end = line.rfind(" ", LONGEST_FACT // 2, LONGEST_FACT)
    return line[: end if end > 0 else LONGEST_FACT - 1].rstrip(" ,;:") + "…"


def _count(sentence: str, number: Specific, not_before: int) -> str:
    end = _end_of_noun(sentence, number.end)
    is_year = _is_year(sentence[number.start : number.end])
    if end > number.end and not is_year:
        return sentence[number.start : end]
    before = sentence[max(not_before, number.start - 24) : number.start]
    if before.rstrip().endswith(":") and _ENUMERATES.match(sentence, number.end):
        return ""
    start = _start(sentence, number.start, not_before)
    says_enough = number.is_distinct and not is_year and (start < number.start or number.end - start >= LONG_NUMBER)
    return sentence[start : number.end] if says_enough or _COUNTS_FOR.search(before) else ""


def _end_of_noun(sentence: str, place: int) -> int:
    """Return where the one to three words end that say what a number counts."""
    unspaced = _AFTER_UNSPACED.match(sentence, place)
    if unspaced:
        return unspaced.end()
    end = place
    for _ in range(3):
        word = _AFTER.match(sentence, end)
        if not word or is_stop_word(word[0][1:]) or word[0][1:].casefold() in _EMPTY_NOUNS:
            break
        end = word.end()
    return end


def _is_year(number: str) -> bool:
    return len(number) == 4 and number.isdecimal() and 1900 <= int(number) < 2100


def _start(sentence: str, place: int, not_before: int) -> int:
    """Return where the words before a place begin that belong to it, without leading ones that say nothing."""
    tail = sentence[max(not_before, place - 60) : place]
    before = _BEFORE.search(tail)
    if not before:
        return place
    if before["unspaced"]:
        return place - len(_HOLDING_TOGETHER.sub("", before[0]))
    words = list(re.finditer(r"\S+", before[0]))
    first = max(
        [0, len(words) - MOST_WORDS_BEFORE, *(index + 1 for index, word in enumerate(words) if word[0] in _JOINS)]
    )
    if 0 < first < len(words) and words[first - 1][0][0].isupper() and words[first][0][0].isupper():
        first += 1
    telling = (word.start() for word in words[first:] if not is_stop_word(word[0].rstrip(":")))
    return place - len(before[0]) + next(telling, len(before[0]))
