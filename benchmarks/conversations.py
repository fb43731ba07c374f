"""The conversations that are measured: the same texts on every side, about forty tokens a turn."""

from random import Random

WORDS = """
the order of a suitcase for Lisbon was delayed twice and nobody called back before Friday about refund number seven
which I paid by card at the counter so please check my booking and tell me when it will arrive
""".split()  # noqa: SIM905 (easier to read)
MODEL = "gpt-4.1-mini"


def turns(count: int) -> list[tuple[str, str]]:
    """Return pairs of question and answer; fewer are the first ones of more."""
    chance = Random(1)
    return [(_text(chance, f"question {n}"), _text(chance, f"answer {n}")) for n in range(1, count + 1)]


def _text(chance: Random, start: str) -> str:
    return " ".join([start, *chance.choices(WORDS, k=14)]) + "."
