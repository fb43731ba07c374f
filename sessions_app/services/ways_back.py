"""What brings words back into a turn's prompt; a change of settings counts if the prompt built with it has them."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from threading import Semaphore
from typing import Final

from sessions_app.domain.errors import FactsAreBusy
from sessions_app.domain.following.followed import Following
from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.recorded import are_told_by_sums
from sessions_app.domain.following.sights import Place, Sight, Why
from sessions_app.domain.following.ways import Way, WayKind
from sessions_app.domain.memory_settings import Strategy
from sessions_app.models import (
    Run,
    Session,
    Summary,
    SummaryStatus,
    ancestors_of,
    runs_elsewhere,
)
from sessions_app.services.following import Memory, following_of
from sessions_app.services.one_at_a_time import one_at_a_time
from sessions_app.services.prompts import as_stored, effective_settings
from sessions_app.services.ways_of_settings import is_missing, ways_of_settings

MOST_ELSEWHERE: Final = 5
# Over so many turns facts are followed at once; over more, one at a time in a process. Fewer where prompts are built.
LIVE_TURNS: Final = 2_000
LIVE_TURNS_BUILT: Final = 100
_LONG_ONES = Semaphore(1)
_BUSY = "Another fact that takes long is being followed; the server does one at a time. Try again in a moment."


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A run of another session of the tree that says the words; `is_above`: an ancestor's, behind the fork.

    `newest` is the newest finished run of that session.
    """

    run: Run
    is_above: bool
    newest: int

    @property
    def session(self) -> Session:
        """The session that it stands in."""
        return self.run.session


@dataclass(frozen=True, slots=True)
class FollowedFact:
    """All that following a fact comes to; the ways are those at `turn`, None: in the prompt to come."""

    following: Following
    turn: int | None
    ways: list[Way]
    elsewhere: list[Elsewhere]


def said_elsewhere(*, session: Session, phrase: Phrase) -> list[Elsewhere]:
    """Return the newest runs of the tree that say the words and are not in the session's history."""
    above = {ancestor.pk for ancestor in ancestors_of(session)}
    found = runs_elsewhere(session, phrase, most=MOST_ELSEWHERE)
    open_in = Run.objects.unfinished().filter(session__in={run.session_id for run in found})
    are_open = set(open_in.values_list("session", flat=True))
    return [
        Elsewhere(run, run.session_id in above, run.session.last_position - (run.session_id in are_open))
        for run in found
    ]


def ways_back(*, session: Session, following: Following, turn: int | None) -> list[Way]:
    """Return what would have shown the words at a turn, or shows them in the prompt to come; none if they are there."""
    with as_stored(session) as stored:
        return list(_ways_at(Memory(stored, following.phrase), following, turn))


def ways_at(*, session: Session, phrase: Phrase, turn: int) -> list[Way]:
    """Return what brings words back into the prompt of a turn that is known to have them not."""
    with as_stored(session) as stored:
        return list(_ways(Memory(stored, phrase), turn))


def follow_fact(*, session: Session, phrase: Phrase, at: int | None) -> FollowedFact:
    """Follow words over the turns of a session, with the ways to bring them back at a turn, and where else they are.

    Raises FactsAreBusy where that takes long and another such one is being followed.
    """
    alone = one_at_a_time(_LONG_ONES, FactsAreBusy(_BUSY)) if _takes_long(session) else nullcontext()
    with alone, as_stored(session) as stored:
        memory = Memory(stored, phrase)
        following = following_of(memory)
        turn = following.focus(at)
        ways = list(_ways_at(memory, following, turn))
        return FollowedFact(following, turn, ways, said_elsewhere(session=stored, phrase=phrase))


def _takes_long(session: Session) -> bool:
    is_told = are_told_by_sums(effective_settings(session=session).values)
    return session.last_position > (LIVE_TURNS if is_told else LIVE_TURNS_BUILT)


def _ways_at(memory: Memory, following: Following, turn: int | None) -> Iterator[Way]:
    sight = following.next if turn is None else following.sights[turn - following.first]
    if sight is not None and is_missing(sight):
        yield from _ways(memory, turn)


def _ways(memory: Memory, turn: int | None) -> Iterator[Way]:
    now = memory.seen_with(turn, {})
    if turn is not None and not is_missing(now):
        yield Way(WayKind.TODAY, {}, now.place, sent=memory.sent_with(turn, {}))
    else:
        yield from ways_of_settings(memory, turn, now)
    newest = memory.session.last_position + (not memory.turns.is_open)
    if turn in (None, newest):
        yield from _of_summaries(memory, now)
    if now.run is not None and now.run < memory.session.last_position:
        place = memory.seen_with(now.run + 1, {}).place
        if place in (Place.WORDS, Place.SUMMARY):
            yield Way(WayKind.FORK, place=place, run=now.run, sent=memory.sent_with(now.run + 1, {}))


def _of_summaries(memory: Memory, now: Sight) -> Iterator[Way]:
    """Yield what can be done in the ledger, where a summary is sent: edit it, go back to one that says the words."""
    session, values = memory.session, memory.turns.today.values
    if values.strategy is not Strategy.SUMMARY or not memory.said.hits:
        return
    if session.summary is not None:
        yield Way(WayKind.EDIT_SUMMARY, number=session.summary.number)
        yield from _earlier_entries(memory)
    finished = session.last_position - memory.turns.is_open
    covered = session.summary.covers_through if session.summary else 0
    is_lost = now.why in (Why.LOST, Why.EXTRACTED_AWAY)
    if is_lost and now.run is not None and covered < now.run <= finished - values.offset:
        yield Way(WayKind.SUMMARIZE, run=now.run)


def _earlier_entries(memory: Memory) -> Iterator[Way]:
    """Yield the newest earlier entry that says the words, if the prompt would have them with it."""
    session, prompts = memory.session, memory.recorded(memory.turns.today)
    if session.summary is None or prompts is None:
        return
    entries = Summary.objects.filter(session=session, status=SummaryStatus.COMPLETED).exclude(pk=session.summary.pk)
    for entry in entries.filter(covers_through__lte=session.summary.covers_through).order_by("-number"):
        if not memory.phrase.is_in(entry.text):
            continue
        turn = session.last_position + (not memory.turns.is_open)
        sight = prompts.sight(turn, entry.to_value(), memory.turns.parents(turn, memory.turns.today))
        if sight is not None and not is_missing(sight):
            yield Way(WayKind.USE_SUMMARY, number=entry.number, place=sight.place)
        return
