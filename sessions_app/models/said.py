"""Which runs of a lineage say some words, and where else in a project they are said."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Q

from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.sights import Hit, Part
from sessions_app.domain.search_words import Sought, read_query
from sessions_app.domain.transcript import EventKind, Role
from sessions_app.models.lineages import clipped, lineage_of, lineage_runs, runs_in
from sessions_app.models.runs import Event, Run
from sessions_app.models.search_index import places_of
from sessions_app.models.sessions import Session

RUNS_READ = 20_000
# Where the database cannot tell which texts may say the words, all of these are read.
RUNS_READ_WHOLE = 2_000
MOST_HITS = 500
_WORDS_APART = 6
_TEXTS = ("text", "tool_name", "arguments", "result", "error")
_SAID = (EventKind.MESSAGE, EventKind.TOOL_CALL)


@dataclass(frozen=True, slots=True)
class Said:
    """The runs that say the words, oldest first; turns before `searched_from` may have said them, too."""

    hits: tuple[Hit, ...]
    searched_from: int = 1

    @property
    def positions(self) -> list[int]:
        """The positions of the runs."""
        return [hit.position for hit in self.hits]


def runs_saying(session: Session, phrase: Phrase) -> Said:
    """Return the runs of a lineage that say the words, the newest 500 of them, among the newest 20,000 runs.

    Of words that no letter, digit or sign is in which databases compare as it stands, among the newest 2,000.
    """
    first = max(1, session.last_position - _runs_read(phrase) + 1)
    events = Event.objects.filter(run__in=lineage_runs(session, first=first), kind__in=_SAID)
    rows = events.filter(_maybe(phrase)).order_by("-run__position")
    found: dict[int, set[Part]] = defaultdict(set)
    for position, kind, role, *texts in rows.values_list("run__position", "kind", "role", *_TEXTS).iterator():
        if len(found) == MOST_HITS and position not in found:
            first = min(found) + 1
            break
        for part in _parts(phrase, kind, role, texts):
            found[position].add(part)
    hits = tuple(Hit(position, frozenset(parts)) for position, parts in sorted(found.items()))
    return Said(hits, first)


def runs_elsewhere(session: Session, phrase: Phrase, *, most: int) -> list[Run]:
    """Return the newest runs of other sessions of the tree that say the words and are not of the lineage.

    Looked at are the newest 20,000 of these runs, or 2,000 as above.
    """
    own = lineage_runs(session).values("pk")
    others = Run.objects.filter(session__in=Session.objects.in_tree_of(session).exclude(pk=session.pk))
    newest = others.exclude(pk__in=own).order_by("-pk").values("pk")[: _runs_read(phrase)]
    events = Event.objects.filter(run__in=newest, kind__in=_SAID)
    rows = events.filter(_maybe(phrase)).order_by("-pk")
    found: dict[int, None] = {}
    for pk, kind, role, *texts in rows.values_list("run", "kind", "role", *_TEXTS)[:RUNS_READ].iterator():
        if len(found) == most:
            break
        if any(_parts(phrase, kind, role, texts)):
            found[pk] = None
    runs = Run.objects.select_related("session").in_bulk(found)
    return [runs[pk] for pk in found]


def runs_saying_apart(session: Session, phrase: Phrase, *, most: int) -> tuple[list[int], bool]:
    """Return the positions of the runs that say most of some words, if not in a row, and whether one says all.

    Looked up are the longest six words, of each the newest 500 runs; more than half of them, and two, have to be said.
    """
    terms = sorted(read_query(phrase.words).terms, key=lambda term: -sum(map(len, term.words)))[:_WORDS_APART]
    counts = Counter[int]()
    first = max(1, session.last_position - RUNS_READ + 1)
    stretches = clipped(lineage_of(session), first, session.last_position)
    runs = runs_in(stretches)
    for term in terms:
        places = places_of(
            [stretch.session.pk for stretch in stretches], Sought((term,)), project_pk=session.project_id
        )
        if places is not None:
            counts.update(places.runs_among(runs).order_by("-position").values_list("position", flat=True)[:MOST_HITS])
    needed = max(2, len(terms) // 2 + 1)
    found = sorted(((count, position) for position, count in counts.items() if count >= needed), reverse=True)[:most]
    return [position for _, position in found], bool(found) and found[0][0] == len(terms)


def _parts(phrase: Phrase, kind: str, role: str, texts: Iterable[str | None]) -> Iterator[Part]:
    text, name, arguments, result, error = (each or "" for each in texts)
    if kind == EventKind.MESSAGE:
        if phrase.is_in(text):
            yield Part.ANSWER if role == Role.ASSISTANT else Part.INPUT
        return
    if phrase.is_in(name) or phrase.is_in(arguments):
        yield Part.TOOL_CALL
    if phrase.is_in(result) or phrase.is_in(error):
        yield Part.TOOL_RESULT


def _runs_read(phrase: Phrase) -> int:
    return RUNS_READ if _compared(phrase) else RUNS_READ_WHOLE


def _maybe(phrase: Phrase) -> Q:
    """Return a condition that all texts with the words meet."""
    compared = _compared(phrase)
    return reduce(or_, (Q(**{f"{name}__icontains": compared}) for name in _TEXTS)) if compared else Q()


def _compared(phrase: Phrase) -> str:
    """Return the longest piece of the words that databases find wherever these are said, empty if there is none.

    They compare the case of plain letters alone; what has no case and is composed of nothing stands in texts as it is.
    """
    pieces = "".join(each if _is_compared(each) else " " for each in phrase.words).split()
    return max(pieces, key=len, default="")


def _is_compared(character: str) -> bool:
    if character.isascii():
        return character.isalnum()
    forms = (character.lower(), character.upper(), character.casefold(), unicodedata.normalize("NFD", character))
    return all(form == character for form in forms) and unicodedata.category(character)[0] in "LNS"
