"""Signs, in several languages, that a sentence says something worth keeping.

All but TITLED, CODE, NUMBER and NAME are looked for in a text in small letters, which is much faster.
"""

# ruff: noqa: RUF001 (typographic apostrophes and full-width marks are what people write)

import re
from collections.abc import Sequence


def _cue(words: str, stems: str, unspaced: Sequence[str] = ()) -> re.Pattern[str]:
    """Match whole words, beginnings of words, and characters of scripts that put no spaces between words."""
    spaced = rf"\b(?:(?:{'|'.join(words.split())})\b|(?:{'|'.join(stems.split())}))"
    return re.compile("|".join((spaced, *unspaced)))


FIRST_PERSON = _cue(
    "i me my mine we our us ich mir mich mein meine meinem meinen wir unser je mon ma mes nous notre yo mi mis "
    "nosotros io mio mia noi eu meu minha nós я мне мой моя мы наш",
    "i'm i've i'd i'll i’m i’ve i’d i’ll we're we've j'ai j’ai nuestr",
    ("我", "私", "僕", "俺", "나는", "저는", "제"),
)
DECISION = _cue(
    "want need must always prefer instead use will against rather final deadline limit budget maximum only "
    "möchte will "
    "brauche muss immer lieber gegen statt nur höchstens spätestens veux dois préfère contre plutôt seulement quiero "
    "necesito debo prefiero contra solo sólo máximo voglio devo preferisco quero preciso",
    "decid agree confirm choos chose chosen select book cancel refund reserv chang updat remember allerg "
    "intoleran settl "
    "scrap skip stick opt postpon abandon reject declin drop entscheid entschied bestätig buch stornier ändern "
    "verzicht "
    "streich bleib décid réserv annul confirm renonc choisi gard anul descart renunci elegi eleg qued alérg decidi",
    (
        r"go(?:ing)? with|rul(?:e|ed|ing) out|call(?:ed)? off|no later than|at (?:most|least)|en (?:vez|lugar) "
        r"de|au lieu de",
        "决定|決|确认|確認|预订|予約|取消|必须|想要|需要|记住|覚え|放弃|改为|选|過敏|过敏|やめ|にする|にします|"
        "にしました|選|アレルギー|だけ|只",
    ),
)
NEGATION = _cue(
    "not no never none without neither nor cannot nicht kein keine keinen nie ohne pas jamais sans nunca sin não non "
    "mai senza не нет никогда",
    "unfortunately leider malheureusement lamentablemente",
    (r"n['’]t\b", "不", "没", "沒", "無", "ない", "ません", "아니", "않"),
)
CONDITION = re.compile(
    r"\b(?:if|unless|until|provided|except|otherwise|wenn|falls|sofern|außer|bis|si|sauf|sinon|salvo|excepto|se|"
    r"eccetto)\b"
    r"|如果|除非|的话|なら|れば|たら",
    re.IGNORECASE,
)
DATE = _cue(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar "
    "märz mai juni juli oktober dezember lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars "
    "avril juin juillet août septembre octobre novembre décembre lunes martes miércoles jueves viernes sábado "
    "domingo "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre noon midnight mittag",
    "o'clock tomorrow tonight morgen heute demain mañana",
    (
        "星期",
        "曜日",
        "周[一二三四五六日末]",
        "[一二三四五六七八九十百千万两]+[月日号點点时時个個人元円块岁歳公米年楼階号台名度克分]",
    ),
)
QUANTITY = _cue(
    "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand half "
    "twice "
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf deux trois quatre cinq sept huit neuf dix dos "
    "tres cuatro "
    "cinco seis siete ocho nueve diez due tre quattro sei otto nove dieci",
    "dozen dutzend",
)
COMMITMENT = re.compile(
    r"\b(?:i(?:'ve| have|’ve)? (?:just )?(?:now )?(?:booked|sent|opened|changed|cancel+ed|reserved|added|noted|"
    r"scheduled|set|"
    r"filed|ordered|moved|updated|made|put|signed|registered|found|checked|marked|processed|issued|refunded|"
    r"saved|confirmed|"
    r"blocked|created|arranged|asked|written|called|paid|turned|taken|given|sorted|fixed|passed|reported|spoken|"
    r"told|left|"
    r"\w{3,}ed)\b|we(?:'ve| have)? (?:agreed|decided|settled|chose|chosen)|(?:has|have) been (?:successfully )?\w+|"
    r"(?:reference|confirmation|ticket|claim|order|booking|case|tracking|reservation)(?: number| code| id)?[\w "
    r"]{0,30} (?:is|are|:)|"
    r"(?:is|are) (?:now )?(?:booked|confirmed|reserved|cancel+ed|agreed|settled|scheduled)|"
    r"habe .{1,80}(?:gebucht|reserviert|geändert|storniert|notiert|eingetragen|bestellt)|j['’]ai \w+|nous avons|"
    r"he (?:reservado|cambiado|cancelado|anotado|enviado|\w+[ai]do)|hemos)\b|已[经為为]?|しました|いたしました",
    re.IGNORECASE,
)
# Names of values that say which thing it is, how it stands, or how much.
IDENTIFYING = re.compile(
    r"^[\w.-]*(?:id|code|reference|ref|number|no|status|state|name|total|amount|price|cost|due|date|deadline|"
    r"error|result|"
    r"balance|contact|phone|location|room|address|time|reason|note)\b",
    re.IGNORECASE,
)
# Items of a list in one line.
ITEMS = re.compile(r"\d\) |; .*; ")
SETTLED = re.compile(
    r"\b(?:decid|agree|confirm|chos[ei]|choos|select|book|cancel|refund|reserv|chang|updat|entscheid|entschied|"
    r"bestätig|buch|"
    r"gebucht|stornier|geändert|décid|réserv|annul|confirm|decidi|anul)|决定|決|确认|確認|预订|予約|取消",
    re.IGNORECASE,
)
# A code of letters and digits or dashes, as things are filed under.
CODE = re.compile(
    r"(?<![A-Za-z0-9-])(?=[A-Z0-9-]{0,15}\d)(?=[\dA-Z-]{0,15}[A-Z-])[A-Z0-9][A-Z0-9-]{3,20}(?![A-Za-z0-9-])"
)
TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herrn?|Frau|Señora?|Sra?|Mme|Monsieur|Madame|Doctor|Docteur|Doctora?|Don|Doña)\.? "
    r"[A-ZÀ-Þ]"
    r"|\b(?:called|named|name is|name's|heißt|namens|s'appelle|se llama|si chiama)\b|さん|先生|女士|叫|という"
)
YOURS = re.compile(r"\b(?:your|ihre?[nmrs]?|dein\w*|votre|vos|ton|tes|sus?|tus?)\b|您的|你的|お客様")
QUESTION_ENDS = ("?", "？", "؟")
# Codes of capitals, too. From the beginning of a word only, so that a long word is looked through once.
NUMBER = re.compile(r"\b[A-Z]{4,}\b|(?<![^\W\d_])[^\W\d_]*\d[\w.,:/-]*")
# Not the first word of a sentence, which is capitalized anyway.
NAME = re.compile(r"(?<=[\w,;.] )(?!I['’])[A-ZÀ-ÖØ-ÞА-Я][\w'’-]+")
