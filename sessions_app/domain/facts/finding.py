"""Finding the facts of runs: names, numbers, dates, and what the user says about themselves and theirs.

Precision goes before completeness: rather a fact too few than a list that nobody reads. Tool results are left out; what
matters of them is said by someone.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice

from sessions_app.domain.facts.calendars import COUNTS
from sessions_app.domain.facts.excerpts import belong_together, date_excerpt, number_excerpt, shortened
from sessions_app.domain.facts.lines import sentences_of
from sessions_app.domain.facts.matching import identity_of
from sessions_app.domain.facts.names import is_german, names_in
from sessions_app.domain.facts.specifics import Form, Specific, specifics_in
from sessions_app.domain.facts.speech import COURTESY, QUESTION_ENDS
from sessions_app.domain.facts.statements import statements_in
from sessions_app.domain.facts.values import Fact, FactKind
from sessions_app.domain.facts.words import WORD
from sessions_app.domain.transcript import EventKind, Role, Run

MOST_OF_ASSISTANT = 5
MOST_OF_RUN = 12
LONGEST_RUN = 60_000
LONGEST_MESSAGE = 20_000
_Span = tuple[int, int]
_Said = tuple[Role, str]
_BY_THE_WAY = re.compile(r"\d{1,2}(?![\w.,-]*\d)")


@dataclass(slots=True)
class _Known:
    """What has been found so far, so that nothing is listed twice, and how its language writes words."""

    common: AbstractSet[str]
    german: bool = False
    identities: set[tuple[str, frozenset[str]]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def is_new(self, fact: Fact) -> bool:
        """Whether a fact was not said before; a part of a known name is known."""
        identity = identity_of(fact)
        if not identity[1] or identity in self.identities:
            return False
        if fact.kind is FactKind.NAME and identity[1] <= self.names:
            return False
        self.identities.add(identity)
        if fact.kind is FactKind.NAME:
            self.names |= identity[1]
        return True


def facts_of(runs: Iterable[Run]) -> list[Fact]:
    """Return the facts of runs in the order in which they were said first, at most MOST_OF_RUN of each run."""
    said = [(run.position, _said_in(run)) for run in runs]
    known = _Known(_words_written_small(text for _, messages in said for _, text in messages))
    return [fact for position, messages in said for fact in _facts_of_run(position, messages, known)]


def _said_in(run: Run) -> list[_Said]:
    """Return what the user and the assistant say in a run; of a very long one the beginnings."""
    room = LONGEST_RUN
    said: list[_Said] = []
    for event in run.events:
        if event.kind is EventKind.MESSAGE and event.role in {Role.USER, Role.ASSISTANT} and room > 0:
            said.append((event.role, event.text[: min(room, LONGEST_MESSAGE)]))
            room -= len(said[-1][1])
    return said


def _words_written_small(texts: Iterable[str]) -> set[str]:
    return {match[0] for text in texts for match in WORD.finditer(text) if match[0].islower()}


def _facts_of_run(position: int, said: Sequence[_Said], known: _Known) -> list[Fact]:
    known.german = is_german(" ".join(text for _, text in said))
    of_user = (fact for role, text in said if role is Role.USER for fact in _of_user(text, position, known))
    users = list(islice(of_user, MOST_OF_RUN))
    answers = (text for role, text in said if role is Role.ASSISTANT)
    of_assistant = (fact for text in answers for fact in _of_assistant(text, position, known))
    return users + list(islice(of_assistant, min(MOST_OF_ASSISTANT, MOST_OF_RUN - len(users))))


def _of_user(text: str, position: int, known: _Known) -> Iterator[Fact]:
    for sentence in sentences_of(text):
        details = _details(sentence, position, Role.USER, known)
        statements = [span for span in statements_in(sentence) if _specifics_inside(span, details) <= 1]
        stated = [
            Fact(FactKind.FIRST_PERSON, shortened(sentence[start:end]), position, Role.USER)
            for start, end in statements
        ]
        yield from _fresh(stated, known)
        inside = [detail for detail in details if any(_is_inside(detail[0], statement) for statement in statements)]
        yield from _fresh([detail[1] for detail in details if detail not in inside], known)
        # What a statement says is not listed apart, now or later.
        list(_fresh([fact for _, fact in inside], known))


def _specifics_inside(statement: _Span, details: Sequence[tuple[_Span, Fact]]) -> int:
    """Count the dates and numbers of a statement: with several, each is a fact of its own, that may be lost alone."""
    return sum(_is_inside(span, statement) and fact.kind is not FactKind.NAME for span, fact in details)


def _of_assistant(text: str, position: int, known: _Known) -> Iterator[Fact]:
    for sentence in sentences_of(text, alternatives=False):
        if not sentence.endswith(QUESTION_ENDS) and not COURTESY.search(sentence):
            yield from _fresh([fact for _, fact in _details(sentence, position, Role.ASSISTANT, known)], known)


def _fresh(facts: Iterable[Fact], known: _Known) -> Iterator[Fact]:
    return (fact for fact in facts if known.is_new(fact))


def _is_inside(span: _Span, statement: _Span) -> bool:
    return statement[0] <= span[0] < statement[1]


def _details(sentence: str, position: int, speaker: Role, known: _Known) -> list[tuple[_Span, Fact]]:
    """Return the dates, numbers and names of a sentence and where they stand, in order."""
    specifics = sorted([*specifics_in(sentence), *_written_counts(sentence)], key=lambda each: each.start)
    found = [*_dates(sentence, specifics), *_numbers(sentence, specifics)]
    spans = [(each.start, each.end) for each in specifics]
    found += [
        ((start, end), FactKind.NAME, shortened(sentence[start:end]))
        for start, end in names_in(sentence, common=known.common, german=known.german)
        if not any(first < end and start < last for first, last in spans)
    ]
    facts = ((span, Fact(kind, text, position, speaker)) for span, kind, text in sorted(found) if text)
    return [(span, fact) for span, fact in facts if speaker is Role.USER or not _counts_by_the_way(fact)]


def _counts_by_the_way(fact: Fact) -> bool:
    """Whether a fact is a small number with its unit alone: an assistant's "5 minutes" says little afterwards."""
    return fact.kind is FactKind.NUMBER and _BY_THE_WAY.match(fact.text) is not None


def _dates(sentence: str, specifics: Sequence[Specific]) -> Iterator[tuple[_Span, FactKind, str]]:
    """Yield dates; a time that stands with a date is one with it."""
    place, free_from = 0, 0
    while place < len(specifics):
        first = place
        while place + 1 < len(specifics) and _are_one_date(sentence, specifics[place], specifics[place + 1]):
            place += 1
        dates = specifics[first : place + 1]
        if dates[0].form is Form.DATE:
            yield (dates[0].start, dates[-1].end), FactKind.DATE, date_excerpt(sentence, dates, free_from)
        free_from = dates[-1].end
        place += 1


def _are_one_date(sentence: str, one: Specific, following: Specific) -> bool:
    return one.form is following.form is Form.DATE and belong_together(sentence, one, following)


def _numbers(sentence: str, specifics: Sequence[Specific]) -> Iterator[tuple[_Span, FactKind, str]]:
    free_from = 0
    for specific in specifics:
        if specific.form is not Form.DATE:
            yield (specific.start, specific.end), FactKind.NUMBER, number_excerpt(sentence, specific, free_from)
        free_from = specific.end


def _written_counts(sentence: str) -> Iterator[Specific]:
    """Yield the numbers from two to twelve that are written as words, which count only with a noun."""
    for match in WORD.finditer(sentence):
        count = COUNTS.get(match[0].casefold())
        is_part = sentence[match.start() - 1 : match.start()] == "-" or sentence.startswith("-", match.end())
        if count and not match["unspaced"] and not is_part:
            yield Specific(Form.NUMBER, match.start(), match.end(), frozenset({f"n:{count}"}), is_distinct=False)
