"""How prompts read a session's lineage from rows: a constant number of queries for each link of the fork chain."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import islice
from operator import or_
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, F, Q, Window
from django.db.models.functions import Lag, Lead

from sessions_app.domain import transcript
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.domain.transcript import (
    OPEN_STATUSES,
    EventKind,
    LikeRuns,
    ParentContext,
    RunStatus,
    SummaryEntry,
    WeighedRuns,
)
from sessions_app.models.runs import Run, RunQuerySet
from sessions_app.models.sessions import Session
from sessions_app.models.summaries import Summary

_ANCESTORS = """
    WITH RECURSIVE above AS (
        SELECT id, parent_id, public_id, title, forked_at, 1 AS level FROM sessions_app_session WHERE id = %s
        UNION ALL
        SELECT parents.id, parents.parent_id, parents.public_id, parents.title, parents.forked_at, above.level + 1
        FROM above JOIN sessions_app_session AS parents ON parents.id = above.parent_id WHERE above.level < %s
    )
    SELECT id, parent_id, public_id, title, forked_at FROM above ORDER BY level
"""
# SQLite refuses a condition of a thousand alternatives in a row, but not one of alternatives between alternatives.
_ALTERNATIVES = 100


@dataclass(frozen=True, slots=True)
class Stretch:
    """The runs first..last of a lineage that one session holds itself."""

    session: Session
    first: int
    last: int


def ancestors_of(session: Session, *, at_most: int = LARGEST_INTEGER) -> list[Session]:
    """Return the parents from the nearest to the root by one query, with id, title and `forked_at` alone."""
    if session.parent_id is None:
        return []
    return list(Session.objects.raw(_ANCESTORS, [session.parent_id, at_most]))


def lineage_of(session: Session) -> list[Stretch]:
    """Return the stretches that make up a session's lineage, newest first; empty ones are left out.

    Raises Session.DoesNotExist if a session that holds some of it has been deleted since this one was read.
    """
    stretches = [Stretch(session, session.first_position, session.last_position)]
    shared = session.forked_at
    above = iter(ancestors_of(session) if shared else ())
    while shared:
        holder = next(above, None)
        if holder is None:
            raise Session.DoesNotExist("A session that holds runs of this one has been deleted.")
        stretches.append(Stretch(holder, holder.first_position, shared))
        shared = None if holder.forked_at is None else min(shared, holder.forked_at)
    return [stretch for stretch in stretches if stretch.first <= stretch.last]


def lineage_runs(session: Session, *, first: int = 1, last: int | None = None) -> RunQuerySet:
    """Return the runs first..last of a session's lineage (all if left out), unordered."""
    return _runs_in(_clipped(lineage_of(session), first, session.last_position if last is None else last))


def _clipped(stretches: Sequence[Stretch], first: int, last: int) -> list[Stretch]:
    clipped = [Stretch(each.session, max(each.first, first), min(each.last, last)) for each in stretches]
    return [stretch for stretch in clipped if stretch.first <= stretch.last]


def _runs_in(stretches: Sequence[Stretch]) -> RunQuerySet:
    if not stretches:
        return Run.objects.none()
    each = [Q(session=stretch.session, position__range=(stretch.first, stretch.last)) for stretch in stretches]
    some = [reduce(or_, each[start : start + _ALTERNATIVES]) for start in range(0, len(each), _ALTERNATIVES)]
    return Run.objects.filter(reduce(or_, (Q(ExpressionWrapper(one, BooleanField())) for one in some)))


class SessionTranscript:
    """The TranscriptReader of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def lineage(self) -> list[Stretch]:
        """The stretches of the lineage, newest first."""
        return lineage_of(self._session)

    @cached_property
    def _open(self) -> Run | None:
        newest = Run.objects.with_events().filter(session=self._session, status__in=OPEN_STATUSES)
        return newest.filter(position=self._session.last_position).first()

    @property
    def instructions(self) -> str:
        """The session's system prompt, maybe empty."""
        return self._session.instructions

    @property
    def finished_through(self) -> int:
        """The position of the newest finished run; 0 if there is none."""
        return self._session.last_position - (self._open is not None)

    def open_run(self) -> transcript.Run | None:
        """The newest run while it is pending or running."""
        return None if self._open is None else self._open.to_value()

    def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[transcript.Run]:
        """Finished runs p with not_below <= p < position, newest first: as many as fit `tokens`, and one more."""
        last = min(position - 1, self.finished_through)
        out = self._first_out(last, not_below=not_below, tokens=tokens)
        wanted = _clipped(self.lineage, not_below if out is None else out[0], last)
        return [row.to_value() for row in _runs_in(wanted).with_events().order_by("-position")]

    def weigh(self, *, not_below: int, tokens: int) -> WeighedRuns:
        """The finished runs p >= not_below, newest first, as many as fit `tokens` by what is stored with them."""
        last = self.finished_through
        out = self._first_out(last, not_below=not_below, tokens=tokens)
        first = not_below if out is None else out[0] + 1
        peculiar = [
            alike
            for stretch in reversed(_clipped(self.lineage, first, last))
            for alike in _alike(_runs_in([stretch]).peculiar())
        ]
        return WeighedRuns(first, self.tokens_between(first, last), None if out is None else out[1], tuple(peculiar))

    def tokens_between(self, first: int, last: int) -> int:
        """What is stored as the tokens of the runs first..last, from sums; 0 if there are none."""
        if first > last:
            return 0
        ends = _runs_in(_clipped(self.lineage, first, last)).filter(position__in=(first, last)).order_by("position")
        sums = list(ends.values_list("tokens_before_o200k", "tokens_o200k"))
        return sum(sums[-1]) - sums[0][0]

    def _first_out(self, last: int, *, not_below: int, tokens: int) -> tuple[int, int] | None:
        """Return position and tokens of the newest run p >= not_below for which p..last need more than `tokens`."""
        ceiling: int | None = None
        for stretch in _clipped(self.lineage, not_below, last):
            runs = Run.objects.filter(session=stretch.session)
            if ceiling is None:
                ceiling = sum(runs.values_list("tokens_before_o200k", "tokens_o200k").get(position=last))
            behind = runs.filter(tokens_before_o200k__lt=ceiling - tokens).order_by("-tokens_before_o200k", "-position")
            newest = behind.values_list("position", "tokens_o200k").first()
            if newest is not None and newest[0] >= stretch.first:
                return newest
        return None

    def newest_summary(self, covers_at_most: int) -> SummaryEntry | None:
        """The newest entry in use that covers at most the runs 1..`covers_at_most`."""
        if self._session.summary_id is None:
            return None
        entries = Summary.objects.in_use().filter(session=self._session, covers_through__lte=covers_at_most)
        newest = entries.last()
        return None if newest is None else newest.to_value()

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parent conversations, root first; those without a summary are left out."""
        contexts = []
        for parent, usable in islice(_conversations_above(self._session), depth):
            newest = Summary.objects.in_use().filter(usable).last()
            if newest is not None:
                contexts.append(ParentContext(str(parent), newest.text))
        return contexts[::-1]


def has_parent_conversation(session: Session) -> bool:
    """Whether a session is a child, or a fork of one: whether anything could be handed down to it."""
    return next(_conversations_above(session), None) is not None


def _conversations_above(session: Session) -> Iterator[tuple[Session, Q]]:
    """Yield the parent conversations, the nearest first, each with the condition of the summaries that are of it.

    A fork and what it was forked from are one conversation, so that nothing is handed down to a fork that it shares;
    behind a fork link only summaries of shared runs count: what the parent heard later is not the fork's.
    """
    nearest, usable, shared = None, Q(), session.forked_at
    for parent in ancestors_of(session):
        if shared is None:
            if nearest is not None:
                yield nearest, usable
            nearest, usable = parent, Q(session=parent)
        elif nearest is not None:
            usable |= Q(session=parent, covers_through__lte=shared)
        grand = parent.forked_at
        shared = grand if grand is None or shared is None else min(shared, grand)
    if nearest is not None:
        yield nearest, usable


def _alike(peculiar: RunQuerySet) -> Iterator[LikeRuns]:
    """Read the first and the last of each stretch of neighbours with one status and the same other kinds of events."""
    same: dict[str, Any] = {"partition_by": ["status", "other_kinds"], "order_by": "position"}
    runs = peculiar.annotate(before=Window(Lag("position"), **same), after=Window(Lead("position"), **same))
    begins = Q(before=None) | Q(before__lt=F("position") - 1)
    ends = Q(after=None) | Q(after__gt=F("position") + 1)
    edges = runs.filter(begins | ends).order_by("position")
    first = 0
    for at, status, kinds, before, after in edges.values_list("position", "status", "other_kinds", "before", "after"):
        first = at if before is None or before < at - 1 else first
        if after is None or after > at + 1:
            yield LikeRuns(first, at, RunStatus(status), frozenset(map(EventKind, kinds.split())))
