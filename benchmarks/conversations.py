"""The conversations that are measured: the same texts on every side."""

from enum import Enum
from random import Random

WORDS = """
the order of a suitcase for Lisbon was delayed twice and nobody called back before Friday about refund number seven
which I paid by card at the counter so please check my booking and tell me when it will arrive
""".split()  # noqa: SIM905 (easier to read)
MODEL = "gpt-4.1-mini"


class Length(Enum):
    """How many words a question and its answer have beside their number.

    Long turns need as many tokens as those of a customer service with tool results, whose runs needed 313 each in a
    hundred real conversations.
    """

    SHORT = (14, 14)
    LONG = (40, 245)


def turns(count: int, length: Length = Length.SHORT) -> list[tuple[str, str]]:
    """Return pairs of question and answer; fewer are the first ones of more."""
    chance = Random(1)
    asked, said = length.value
    return [(_text(chance, f"question {n}", asked), _text(chance, f"answer {n}", said)) for n in range(1, count + 1)]


def _text(chance: Random, start: str, words: int) -> str:
    return " ".join([start, *chance.choices(WORDS, k=words)]) + "."
