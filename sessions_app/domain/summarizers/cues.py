"""Signs, in several languages, that a sentence says something worth keeping, or only something polite."""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

import re
from collections.abc import Sequence


def _cue(words: str, stems: str, unspaced: Sequence[str] = ()) -> re.Pattern[str]:
    """Match whole words, beginnings of words, and characters of scripts that put no spaces between words."""
    spaced = rf"\b(?:(?:{'|'.join(words.split())})\b|(?:{'|'.join(stems.split())}))"
    return re.compile("|".join((spaced, *unspaced)), re.IGNORECASE)


FIRST_PERSON = _cue(
    "i me my mine we our us ich mir mich mein meine meinem meinen wir unser je mon ma mes nous notre yo mi mis "
    "nosotros io mio mia noi eu meu minha nós я мне мой моя мы наш",
    "i'm i've i'd i'll i’m i’ve i’d i’ll we're we've j'ai j’ai nuestr",
    ("我", "私", "僕", "俺", "나는", "저는", "제"),
)
DECISION = _cue(
    "want need must always prefer instead use will möchte will brauche muss immer lieber veux dois préfère quiero "
    "necesito debo prefiero voglio devo preferisco quero preciso",
    "decid agree confirm choos chose chosen select book cancel refund reserv chang updat remember allerg entscheid "
    "entschied bestätig buch stornier ändern décid réserv annul confirma anul",
    (r"go(?:ing)? with", "决定", "決", "确认", "確認", "预订", "予約", "取消", "必须", "想要", "需要", "记住", "覚え"),
)
NEGATION = _cue(
    "not no never none without neither nor cannot nicht kein keine keinen nie ohne pas jamais sans nunca sin não non "
    "mai senza не нет никогда",
    "unfortunately leider malheureusement lamentablemente",
    (r"n['’]t\b", "不", "没", "沒", "無", "ない", "ません", "아니", "않"),
)
COURTESY = re.compile(
    r"\b(?:thank|thanks|you(?:'|’)re welcome|please let me know|let me know if|feel free|happy to help|glad to|"
    r"how (?:can|may) i (?:help|assist)|anything else|any (?:other|further|more) questions|"
    r"need (?:any )?(?:further|more) assistance|i apologi[sz]e|i(?:'|’)?m sorry for|safe travels|"
    r"have a (?:great|nice|good|wonderful)|i understand your|could you please|would you like|"
    r"please (?:confirm|provide)|to (?:assist|help) you|vielen dank|danke|gerne|merci|gracias|grazie|obrigad)"
    r"|谢谢|ありがとう|感谢",
    re.IGNORECASE,
)
PHRASE = re.compile(
    r"\W*(?:hi|hello|hey|good (?:morning|evening|day)|thanks|thank you|great|ok|okay|sure|hallo|guten tag|danke|"
    r"bonjour|merci|hola|gracias|ciao|grazie|olá|你好|谢谢|こんにちは)\b",
    re.IGNORECASE,
)
QUESTION_ENDS = ("?", "？", "؟")
# Codes of capitals, too. From the beginning of a word only, so that a long word is looked through once.
NUMBER = re.compile(r"\b[A-Z]{4,}\b|(?<![^\W\d_])[^\W\d_]*\d[\w.,:/-]*")
# Not the first word of a sentence, which is capitalized anyway.
NAME = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-ÞА-Я][\w'’-]+")
