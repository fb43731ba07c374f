"""The summaries with which followed words left the memory: what each changed in the text before it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.sights import Interval, Why
from sessions_app.domain.search_words import Piece as Said
from sessions_app.domain.text_differences import Change, difference
from sessions_app.models import Session, Summary, lineage_of

SUMMARY_SHOWN = 360
SAME_SHOWN = 120
AROUND = 4


@dataclass(frozen=True, slots=True)
class Changed:
    """A piece of the two texts with what was followed marked."""

    change: Change
    pieces: Sequence[Said]


@dataclass(frozen=True, slots=True)
class DroppingSummary:
    """The entry with which it left the memory; where the one `before` says it, `changes` lead from that text to this.

    Else `start` is the beginning of its text.
    """

    entry: Summary
    before: int | None
    changes: Sequence[Changed]
    start: str
    is_own: bool
    kind: str = "summary"


def dropping_summaries(session: Session, phrase: Phrase, intervals: Sequence[Interval]) -> Iterator[DroppingSummary]:
    """Yield the entries that cover a run that says it without saying it, each once, in order."""
    seen = set()
    for interval in intervals:
        if interval.why is not Why.SUMMARIZED_AWAY or not interval.summaries:
            continue
        holder = _holder(session, interval.first)
        entries = Summary.objects.filter(session=holder, number=interval.summaries[0]).select_related("predecessor")
        for entry in entries:
            if entry.pk not in seen:
                seen.add(entry.pk)
                yield _card(entry, phrase, is_own=holder.pk == session.pk)


def _holder(session: Session, turn: int) -> Session:
    stretches = lineage_of(session)
    return next((each.session for each in stretches if each.first <= turn <= each.last), session)


def _card(entry: Summary, phrase: Phrase, *, is_own: bool) -> DroppingSummary:
    before = entry.predecessor if entry.predecessor and phrase.is_in(entry.predecessor.text) else None
    changes = list(_changes(before.text, entry.text, phrase)) if before else []
    return DroppingSummary(entry, before.number if before else None, changes, entry.text[:SUMMARY_SHOWN], is_own)


def _changes(before: str, after: str, phrase: Phrase) -> Iterator[Changed]:
    """Yield what changed around the place where the words stood; what is long is shown in part."""
    pieces = difference(before, after).pieces
    place = next((at for at, each in enumerate(pieces) if _drops(each.change, each.text, phrase)), 0)
    for each in pieces[max(0, place - AROUND) : place + AROUND + 1]:
        length = SAME_SHOWN if each.change is Change.SAME else SUMMARY_SHOWN
        yield Changed(each.change, phrase.excerpt(each.text, length))


def _drops(change: Change, text: str, phrase: Phrase) -> bool:
    return change is Change.REMOVED and phrase.is_in(text)
