"""What a session's lineage consists of: the sessions above it, and the stretches of runs that each of them holds."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import BooleanField, ExpressionWrapper, Q

from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.models.runs import Run, RunQuerySet
from sessions_app.models.sessions import Session

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

    @property
    def runs(self) -> RunQuerySet:
        """The runs, unordered."""
        return Run.objects.filter(session=self.session, position__range=(self.first, self.last))


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
    return runs_in(clipped(lineage_of(session), first, session.last_position if last is None else last))


def lineage_runs_at(session: Session, positions: Collection[int]) -> RunQuerySet:
    """Return the runs at some positions of a session's lineage, unordered."""
    return runs_at(lineage_of(session), positions)


def runs_at(stretches: Sequence[Stretch], positions: Collection[int]) -> RunQuerySet:
    """Return the runs of the stretches at some positions, unordered, at a cost of those alone.

    Where a range is asked for as well, SQLite goes through all of that.
    """
    inside = [(each, [p for p in positions if each.first <= p <= each.last]) for each in stretches]
    conditions = [Q(session=each.session, position__in=chosen) for each, chosen in inside if chosen]
    return Run.objects.filter(_any_of(conditions)) if conditions else Run.objects.none()


def clipped(stretches: Sequence[Stretch], first: int, last: int) -> list[Stretch]:
    """Return what of the stretches lies at the positions first..last, in their order."""
    inside = [Stretch(each.session, max(each.first, first), min(each.last, last)) for each in stretches]
    return [stretch for stretch in inside if stretch.first <= stretch.last]


def runs_in(stretches: Sequence[Stretch]) -> RunQuerySet:
    """Return the runs of the stretches, unordered."""
    if not stretches:
        return Run.objects.none()
    each = [Q(session=stretch.session, position__range=(stretch.first, stretch.last)) for stretch in stretches]
    return Run.objects.filter(_any_of(each))


def _any_of(conditions: Sequence[Q]) -> Q:
    parts = range(0, len(conditions), _ALTERNATIVES)
    some = [reduce(or_, conditions[start : start + _ALTERNATIVES]) for start in parts]
    return reduce(or_, (Q(ExpressionWrapper(one, BooleanField())) for one in some))


def has_parent_conversation(session: Session) -> bool:
    """Whether a session is a child, or a fork of one: whether anything could be handed down to it."""
    return next(conversations_above(session), None) is not None


def conversations_above(session: Session) -> Iterator[tuple[Session, Q]]:
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
