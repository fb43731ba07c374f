"""Where a turn's prompt had the words, and if it did not, why; neighbouring turns alike are one interval."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple


class Place(StrEnum):
    """Where the words were at a turn."""

    WORDS = "words"
    SUMMARY = "summary"
    QUESTION = "question"
    CUT_AWAY = "cut_away"
    NOWHERE = "nowhere"
    NOT_SAID = "not_said"


class Why(StrEnum):
    """What put the words there, or kept them out."""

    IN_RUN = "in_run"
    IN_INSTRUCTIONS = "in_instructions"
    IN_SUMMARY = "in_summary"
    IN_PARENT = "in_parent"
    IN_EXTRACT = "in_extract"
    IN_QUESTION = "in_question"
    ASKED_RESULT_CUT = "asked_result_cut"
    ASKED_RESULT_HIDDEN = "asked_result_hidden"
    ASKED_PART_LEFT_OUT = "asked_part_left_out"
    RESULT_CUT = "result_cut"
    RESULT_HIDDEN = "result_hidden"
    SUMMARIZED_AWAY = "summarized_away"
    EXTRACTED_AWAY = "extracted_away"
    CAPPED = "capped"
    LAST_N = "last_n"
    STRATEGY = "strategy"
    PART_LEFT_OUT = "part_left_out"
    FORMAT = "format"
    UNFINISHED = "unfinished"
    PRUNED = "pruned"
    LOST = "lost"
    NO_PROMPT = "no_prompt"
    NOT_SAID = "not_said"

    @property
    def place(self) -> Place:
        """Where the words are for this reason."""
        return _PLACES.get(self, Place.NOWHERE)


_PLACES: Mapping[Why, Place] = {
    Why.IN_RUN: Place.WORDS,
    Why.IN_INSTRUCTIONS: Place.WORDS,
    Why.IN_SUMMARY: Place.SUMMARY,
    Why.IN_PARENT: Place.SUMMARY,
    Why.IN_EXTRACT: Place.SUMMARY,
    Why.IN_QUESTION: Place.QUESTION,
    Why.ASKED_RESULT_CUT: Place.QUESTION,
    Why.ASKED_RESULT_HIDDEN: Place.QUESTION,
    Why.ASKED_PART_LEFT_OUT: Place.QUESTION,
    Why.RESULT_CUT: Place.CUT_AWAY,
    Why.RESULT_HIDDEN: Place.CUT_AWAY,
    Why.NOT_SAID: Place.NOT_SAID,
}
MISSING = frozenset({Place.CUT_AWAY, Place.NOWHERE})
# What was told before is not in the prompt, even if its question says the same words.
FORGOTTEN = MISSING | {Place.QUESTION}


class Sight(NamedTuple):
    """What a turn's prompt had: `run` is the newest that says the words, `summary` the number of the one in it."""

    why: Why
    run: int | None = None
    summary: int | None = None

    @property
    def place(self) -> Place:
        """Where the words were."""
        return self.why.place


# What kept the words out although their run is in the prompt, where the question says them.
_ASKED: Mapping[Why, Why] = {
    Why.RESULT_CUT: Why.ASKED_RESULT_CUT,
    Why.RESULT_HIDDEN: Why.ASKED_RESULT_HIDDEN,
    Why.PART_LEFT_OUT: Why.ASKED_PART_LEFT_OUT,
    Why.FORMAT: Why.ASKED_PART_LEFT_OUT,
}


def asked_anew(sight: Sight) -> Sight:
    """Return the sight of a turn whose question says the words itself: then they are not nowhere."""
    if sight.place not in MISSING or sight.why is Why.NO_PROMPT:
        return sight
    return sight._replace(why=_ASKED.get(sight.why, Why.IN_QUESTION))


def no_prompt(run: int | None) -> Sight:
    """Return the sight of a turn whose prompt cannot be built; `run` is the newest before it that says the words."""
    return Sight(Why.NOT_SAID) if run is None else Sight(Why.NO_PROMPT, run)


class Part(StrEnum):
    """What of a run says the words."""

    INPUT = "input"
    ANSWER = "answer"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


@dataclass(frozen=True, slots=True)
class Hit:
    """A run that says the words, and what of it does."""

    position: int
    parts: frozenset[Part]


@dataclass(frozen=True, slots=True)
class Interval:
    """The neighbouring turns first..last, whose prompts had the words in one place for one reason.

    `runs` are those that said them, in order, and `summaries` the numbers of those in the prompts.
    """

    first: int
    last: int
    why: Why
    runs: tuple[int, ...]
    summaries: tuple[int, ...]

    @property
    def place(self) -> Place:
        """Where the words were."""
        return self.why.place

    @property
    def is_missing(self) -> bool:
        """Whether they had been said and the prompts had them nowhere."""
        return self.place in MISSING

    @property
    def is_forgotten(self) -> bool:
        """Whether what was told before is in none of the prompts."""
        return self.place in FORGOTTEN

    @property
    def count(self) -> int:
        """How many turns it holds."""
        return self.last - self.first + 1


def intervals_of(sights: Sequence[Sight], *, first: int = 1) -> tuple[Interval, ...]:
    """Return the intervals of the turns first, first + 1, ..., whose sights are given."""
    found = []
    for why, group in groupby(sights, key=lambda sight: sight.why):
        members = list(group)
        runs, summaries = (sight.run for sight in members), (sight.summary for sight in members)
        found.append(Interval(first, first + len(members) - 1, why, _each(runs), _each(summaries)))
        first += len(members)
    return tuple(found)


def _each(numbers: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(number for number in numbers if number is not None))
