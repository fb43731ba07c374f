"""Names in a sentence: what is written with a capital letter that grammar does not ask for."""

# ruff: noqa: RUF001 (typographic apostrophes are what people write)

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from sessions_app.domain.facts.calendars import MONTHS, WEEKDAYS
from sessions_app.domain.facts.lines import LABEL
from sessions_app.domain.facts.stop_words import ENGLISH_STOP_WORDS, STOP_WORDS

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪĮİĶĻŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŹŻŽА-ЯЁІЇЄΑ-Ω"
_CAPITALIZED = rf"[{_UPPER}][\w'’-]{{1,40}}"
_PARTICLE = "(?:de|da|do|van|von|der|den|del|di|la|of|the|&)"
_RUN = re.compile(rf"(?<![\w@#/.'’-]){_CAPITALIZED}(?: (?:{_PARTICLE} ){{0,2}}{_CAPITALIZED}){{0,4}}")
_TITLED = re.compile(
    r"\b(?:Herrn?|Frau|Familie|Mr|Mrs|Ms|Dr|Prof|Señora?|Mme|M)\.? (?:(?:Dr|Prof)\.? )?"
    rf"{_CAPITALIZED}(?: {_CAPITALIZED})?"
)
_TO_A_PLACE = re.compile(
    rf"\b(?:nach|aus) (?!Hause|Absprache|Ankunft|Abflug|Versehen|Wunsch|Zeit|Plan|Rücksprache|Angst)({_CAPITALIZED})"
)
# "Seattle (SEA)" is one name.
_ABBREVIATED = re.compile(r"\w \($")
_SPELT = re.compile(r"[A-ZÀ-ÖØ-Þ]{3,8}")
_ADDRESSED = re.compile(
    "[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林高罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾萧蕭田董潘袁蔡蒋蔣余于杜叶葉程魏苏蘇吕呂丁任卢盧姚沈钟鍾姜崔谭譚陆陸范汪廖石金韦韋贾賈夏付方邹鄒熊白孟秦邱侯江尹薛"
    r"][\u4e00-\u9fff]{0,2}(?:先生|女士|小姐|医生|醫生|经理|經理|老师|老師)"
    r"|(?!お?客|名|皆|何|奥|神|誰|者|母|父|兄|姉)[\u4e00-\u9fff]{1,4}(?:さん|様|さま)"
    r"|(?<![\u4e00-\u9fff])[\u4e00-\u9fff]{2,3}先生"
    "|[《「『][^》」』\n]{2,30}[》」』]"
)
_GERMAN = re.compile(
    r"\b(?:der|das|und|ist|nicht|ich|eine|einen|wir|mit|für|auf|dem|zu|zum|zur|von|im|haben|bitte|ihnen|ihre|uns|auch|"
    r"oder|keine|werden|wird|sind|bei|uhr|die)\b",
    re.IGNORECASE,
)
_NOT_NAMES = """
    id ids ok okay faq url api json html pdf dob eta asap am pm est edt pst pdt cst utc gmt cet usd eur gbp chf jpy
    cny mr mrs ms dr prof herr herrn frau sir madam hi hello hey dear thanks thank yes no please ps re fyi btw dm tv
    pc ui it stop option options step flight english german menge anzahl minuten stunden tage wochen monate jahre
    uhr anfang ende mitte kilo gramm meter
"""
NO_NAMES = frozenset(_NOT_NAMES.split())
# Written with capitals in headings and forms.
_PLAIN = """
    account additional address basic business cabin card center class code credit customer date day debit details
    economy email first form gift information insurance list manager method month name note number option order payment
    phone plan premium price question reservation round seat service standard status summary support team ticket time
    total travel trip type user way week year
"""
PLAIN_WORDS = frozenset(_PLAIN.split())
_Span = tuple[int, int]


def is_german(text: str) -> bool:
    """Whether a text is German, about: there each noun has a capital letter."""
    return len({match[0].casefold() for match in _GERMAN.finditer(text)}) >= 2


def names_in(sentence: str, *, common: AbstractSet[str], german: bool) -> list[_Span]:
    """Return where names stand in a sentence; `common` are the words that are also written small."""
    label = LABEL.match(sentence)
    spans = [match.span() for match in _ADDRESSED.finditer(sentence)]
    if not any(character.islower() for character in sentence):
        return spans
    if german:
        spans += [match.span() for match in _TITLED.finditer(sentence)]
        spans += [match.span(1) for match in _TO_A_PLACE.finditer(sentence)]
    runs = _RUN.finditer(sentence, label.end() if label else 0)
    found = (_name(sentence, _words_of_name(run, common, german=german), german=german) for run in runs)
    return _apart([*spans, *filter(None, found)])


def _words_of_name(run: re.Match[str], common: AbstractSet[str], *, german: bool) -> list[_Span]:
    """Return where the words of a run of capitalized words stand, without those that only begin or hold together."""
    words = [(run.start() + word.start(), run.start() + word.end()) for word in re.finditer(r"\S+", run[0])]
    plain = [_plain(run.string[start:end]) for start, end in words]
    stop_words = STOP_WORDS if german else ENGLISH_STOP_WORDS
    is_name = [not (word in NO_NAMES or word in stop_words or word in MONTHS or word in WEEKDAYS) for word in plain]
    if len(words) > 1 and _begins_a_sentence(run.string, run.start()):
        is_name[0] &= plain[0] not in STOP_WORDS and not (run.start() == 0 and plain[0] in common)
    is_plain = all(word in common or word in PLAIN_WORDS for word, kept in zip(plain, is_name, strict=True) if kept)
    if is_plain or run.string.startswith(":", run.end()):
        return []
    return words[is_name.index(True) : len(words) - is_name[::-1].index(True)]


def _name(sentence: str, words: Sequence[_Span], *, german: bool) -> _Span | None:
    """Return where a name stands: a word inside a sentence, or several; in German, where nouns look alike, several."""
    if not words:
        return None
    start, end = words[0][0], words[-1][1]
    end -= 2 * sentence.endswith(("'s", "’s"), start, end)
    if _SPELT.fullmatch(sentence, start, end):
        return None if _ABBREVIATED.search(sentence, max(0, start - 3), start) else (start, end)
    capitals = sum(sentence[place].isupper() for place, _ in words)
    is_unsure = capitals == 1 or german
    if german and capitals < max(2, len(words)):
        return None
    return None if is_unsure and _begins_a_sentence(sentence, start) else (start, end)


def _begins_a_sentence(text: str, place: int) -> bool:
    before = text[max(0, place - 8) : place].rstrip(" \"'(*“„«-–")
    return not before.endswith(_INSIDE)


# What a sentence has before a word that is not its first.
_INSIDE = tuple("abcdefghijklmnopqrstuvwxyzäöüßéèáíóúñçàâêîôûабвгдежзийклмнопрстуфхцчшщъыьэюя0123456789,;)’'")


def _plain(word: str) -> str:
    return word.casefold().removesuffix("'s").removesuffix("’s")


def _apart(spans: list[_Span]) -> list[_Span]:
    """Return spans in order, without those that begin inside one before."""
    kept: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept
