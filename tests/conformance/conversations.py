"""Random conversations in the words of both sides, and our prompts of them."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.plan import Fate, Part, Prompt
from sessions_app.domain.transcript import SummaryEntry
from tests.conformance.real_packages import CASES, SEED
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, settings

MODELS = ["gpt-4o", "gpt-4"]
SPECIAL = "<|endoftext|>"
VOCABULARY = """
the order was late and nobody called me back about it please look again tomorrow 42 3.14 don't naïve
灯台の 記録係 です نص عربي Ελλάδα 🧵🪁 👨\u200d🌾 {} [] "quoted" User: Assistant: - * # https://example.org/a?b=c
"""
WORDS = [*VOCABULARY.split(), "a\n", "\t"]
ENDS = ["", "", "", ".", "?", " ", "\n", "\n\n", "  \n\n ", "…"]
SUMMARY_SENTENCE = "Summary of the conversation so far: "
# What a summary is of and how long it may be are matters of their own.
WIDE = {"max_input_tokens": 1_000_000, "max_summary_tokens": 1_000_000, "offset": 0, "on_gap": "warn"}

Exchange = tuple[str, str]


def cases(name: str, count: int = CASES) -> Iterator[Random]:
    """Yield a source of chance for each case, the same in each run with the same seed."""
    for number in range(count):
        yield Random(f"{SEED} {name} {number}")


def text(chance: Random, longest: int = 30) -> str:
    if chance.random() < 0.05:
        return chance.choice(["", " ", "\n", "Assistant:"])
    return " ".join(chance.choices(WORDS, k=chance.randint(1, longest))) + chance.choice(ENDS)


def exchanges(chance: Random, fewest: int = 0, most: int = 8) -> list[Exchange]:
    return [(text(chance), text(chance)) for _ in range(chance.randint(fewest, most))]


def transcript(
    runs: Sequence[Exchange], *, summary: str | None = None, index: int = 0, **fields: Any
) -> InMemoryTranscript:
    entries = [SummaryEntry("s1", 1, index, summary)] if summary is not None and index else []
    return InMemoryTranscript([exchange(*each) for each in runs], summaries=entries, **fields)


def text_prompt(reader: InMemoryTranscript, *, query: str | None = None, base: Any = None, **overrides: Any) -> Prompt:
    """Build our prompt as Griptape's string."""
    given = {"format": "text"} | WIDE | overrides
    more = {} if base is None else {"base": base}
    return build_prompt(reader=reader, settings=settings(**given), query=query, **more)


def told(prompt: Prompt) -> list[list[str]]:
    """Return the messages of the memory as [role, text], as Griptape has them."""
    parts = (Part.SUMMARY, Part.RUNS)
    return [[segment.role, segment.text] for segment in prompt.segments if segment.part in parts]


def kept(prompt: Prompt) -> int:
    return sum(each.count for each in prompt.fates if each.fate is Fate.KEPT)
