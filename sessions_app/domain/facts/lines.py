"""A message as the sentences in which facts are looked for: without markup, code and lists of alternatives."""

# ruff: noqa: RUF001 (full-width marks are what people write)

import re
from collections import Counter
from collections.abc import Iterator

from sessions_app.domain.facts.calendars import MONTHS

LONGEST_SENTENCE = 1000
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_EMPHASIS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|`")
_BULLET = re.compile(r"\s*(?:[#>|]+\s*|[-*•+–]\s+|\(?\d{1,3}[.)]\s+|[a-zA-Z][.)]\s+)*")
# Not at "30. Juni".
_SENTENCE_END = re.compile(
    r"(?:(?<=[!?…])|(?<=[^\d]\.)|(?<=\d\.)(?!\s(?i:" + "|".join(MONTHS) + r")\b))['\")\]]?\s+(?=[^\sa-z])"
    r"|(?<=[。！？｡।؟])"
)
LABEL = re.compile(r"([^\W\d][^:：\n]{0,40})[:：](?:\s|$)")


def sentences_of(text: str, *, alternatives: bool = True) -> Iterator[str]:
    """Yield the sentences of a message.

    Without `alternatives`, lines whose label ("Departure: ...") comes more than once are left out: such a list says
    what there is to choose from.
    """
    lines = [_plain(line) for line in _FENCED.sub("\n", text).splitlines()]
    labels = Counter(label for line in lines if (label := _label(line)))
    for line in lines:
        if alternatives or labels[_label(line)] <= 1:
            for sentence in _SENTENCE_END.split(line):
                yield from _pieces(sentence.strip())


def _pieces(sentence: str) -> Iterator[str]:
    """Yield a sentence, an endless one in pieces."""
    while len(sentence) > LONGEST_SENTENCE:
        end = sentence.rfind(" ", 1, LONGEST_SENTENCE)
        end = LONGEST_SENTENCE if end < 0 else end
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    if sentence:
        yield sentence


def _label(line: str) -> str:
    match = LABEL.match(line)
    return match[1] if match else ""


def _plain(line: str) -> str:
    stripped = _EMPHASIS.sub("", line)
    bullet = _BULLET.match(stripped)
    return " ".join(stripped[bullet.end() if bullet else 0 :].split())
