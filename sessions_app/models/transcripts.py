"""How prompts read a session's lineage from rows: a constant number of queries for each link of the fork chain."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions_app.domain import transcript
from sessions_app.domain.transcript import (
    OPEN_STATUSES,
    EventKind,
    MessagePlace,
    ParentContext,
    Role,
    RunInput,
    RunStatus,
    SummaryEntry,
)
from sessions_app.models.runs import Event, Run, RunQuerySet, event_values
from sessions_app.models.sessions import Session
from sessions_app.models.summaries import Summary, SummaryQuerySet


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

    @property
    def messages(self) -> QuerySet[Event]:
        """The messages in them, newest first."""
        inside = Event.objects.filter(
            kind=EventKind.MESSAGE, run__session=self.session, run__position__range=(self.first, self.last)
        )
        return inside.order_by("-run__position", "-index")


def ancestors_of(session: Session) -> Iterator[Session]:
    """Yield the parents from the nearest to the root, one query each."""
    parent = session.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def lineage_of(session: Session) -> list[Stretch]:
    """Return the stretches that make up a session's lineage, newest first; empty ones are left out."""
    stretches = [Stretch(session, session.first_position, session.last_position)]
    shared = session.forked_at
    ancestors = ancestors_of(session)
    while shared:
        holder = next(ancestors)
        stretches.append(Stretch(holder, holder.first_position, shared))
        shared = None if holder.forked_at is None else min(shared, holder.forked_at)
    return [stretch for stretch in stretches if stretch.first <= stretch.last]


def lineage_runs(session: Session, *, first: int = 1, last: int | None = None) -> RunQuerySet:
    """Return the runs first..last of a session's lineage (all if left out), unordered."""
    end = session.last_position if last is None else last
    clipped = [Stretch(each.session, max(each.first, first), min(each.last, end)) for each in lineage_of(session)]
    return _runs_in([stretch for stretch in clipped if stretch.first <= stretch.last])


def _runs_in(stretches: list[Stretch]) -> RunQuerySet:
    if not stretches:
        return Run.objects.none()
    condition = Q()
    for stretch in stretches:
        condition |= Q(session=stretch.session, position__range=(stretch.first, stretch.last))
    return Run.objects.filter(condition)


class SessionTranscript:
    """The TranscriptReader of one session, as it is or as it was when run `turn` was made."""

    def __init__(self, session: Session, turn: int | None = None) -> None:
        self._session = session
        self._turn = turn

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
        if self._turn is not None:
            return self._turn - 1
        return self._session.last_position - (self._open is not None)

    def open_run(self) -> transcript.Run | None:
        """The newest run while it is pending or running."""
        if self._turn is not None:
            return _asked(self._asked, RunStatus.RUNNING)
        return None if self._open is None else self._open.to_value()

    def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[transcript.Run]:
        """Finished runs p with not_below <= p < position, newest first: as many as fit `tokens`, and one more."""
        wanted: list[Stretch] = []
        ceiling: int | None = None
        for stretch in self._stretches(not_below, min(position - 1, self.finished_through)):
            first, last = stretch.first, stretch.last
            runs = Run.objects.filter(session=stretch.session)
            if ceiling is None:
                newest = runs.get(position=last)
                ceiling = newest.tokens_before_o200k + newest.tokens_o200k
            behind = runs.filter(tokens_before_o200k__lt=ceiling - tokens).order_by("-tokens_before_o200k", "-position")
            cut = behind.values_list("position", flat=True).first()
            cut = None if cut is None or cut < first else cut
            wanted.append(Stretch(stretch.session, first if cut is None else cut, last))
            if cut is not None:
                break
        rows = _runs_in(wanted).with_events().order_by("-position")
        return [row.to_value() for row in rows]

    def newest_answered(self, *, not_below: int) -> transcript.Run | None:
        """The newest finished run p >= not_below in which the assistant said anything."""
        said = Event.objects.filter(kind=EventKind.MESSAGE, run=OuterRef("pk"), role=Role.ASSISTANT)
        for stretch in self._stretches(not_below, self.finished_through):
            newest = stretch.runs.filter(Exists(said)).with_events().order_by("-position").first()
            if newest is not None:
                return newest.to_value()
        return None

    def first_input(self, *, not_below: int) -> RunInput | None:
        """The input of the first run p >= not_below that has one, the open run included."""
        asked = Event.objects.filter(kind=EventKind.MESSAGE, run=OuterRef("pk"), role=Role.USER)
        for stretch in reversed(self._stretches(not_below, self.finished_through)):
            first = stretch.runs.filter(Exists(asked)).order_by("position").first()
            if first is not None:
                run = _asked(first, RunStatus(first.status))
                return RunInput(run, is_all=first.events.count() == len(run.events))
        return None

    def oldest_question(self, *, among: int, not_below: int) -> MessagePlace | None:
        """The oldest user message among the newest `among` messages of the finished runs p >= not_below."""
        stretches = self._stretches(not_below, self.finished_through)
        for count, stretch in enumerate(stretches, 1):
            place = stretch.messages.values_list("run__position", "index")[among - 1 : among].first()
            if place is not None:
                return _first_question(stretches[:count], *place)
            among -= stretch.messages.count()
        return _first_question(stretches, not_below, 0)

    def newest_summary(self, covers_at_most: int) -> SummaryEntry | None:
        """The newest entry in use that covers at most the runs 1..`covers_at_most`."""
        if self._session.summary_id is None:
            return None
        newest = self._entries.filter(session=self._session, covers_through__lte=covers_at_most).last()
        return None if newest is None else newest.to_value()

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parents, root first; parents without a summary are left out.

        Behind a fork link only a summary of shared runs counts: what the parent heard later is not the fork's.
        """
        contexts: list[ParentContext] = []
        shared = self._session.forked_at
        for _, parent in zip(range(depth), ancestors_of(self._session), strict=False):
            entries = self._entries.filter(session=parent)
            newest = (entries if shared is None else entries.filter(covers_through__lte=shared)).last()
            if newest is not None:
                contexts.append(ParentContext(str(parent), newest.text))
            grand = parent.forked_at
            shared = grand if grand is None or shared is None else min(shared, grand)
        return contexts[::-1]

    def as_of(self, turn: int) -> "SessionTranscript":
        """What there was when run `turn` was made, its times being those that its bot gave."""
        return SessionTranscript(self._session, turn)

    @property
    def _entries(self) -> SummaryQuerySet:
        """The summaries in use, or those of them that had been made at the turn."""
        entries = Summary.objects.in_use()
        return entries if self._turn is None else entries.filter(completed_at__lte=self._asked.created_at)

    @cached_property
    def _asked(self) -> Run:
        """The run of the turn."""
        return lineage_runs(self._session).get(position=self.finished_through + 1)

    def _stretches(self, first: int, last: int) -> list[Stretch]:
        """Return what of the lineage lies at the positions first..last, newest first."""
        clipped = [Stretch(each.session, max(each.first, first), min(each.last, last)) for each in self.lineage]
        return [stretch for stretch in clipped if stretch.first <= stretch.last]


def _asked(run: Run, status: RunStatus) -> transcript.Run:
    """Return a run with the user messages of its input alone."""
    messages = run.events.filter(kind=EventKind.MESSAGE, role=Role.USER).order_by("index")
    return replace(run.to_value(event_values(messages)), status=status)


def _first_question(stretches: list[Stretch], position: int, index: int) -> MessagePlace | None:
    """Return the first user message from a place on; the stretches are given newest first."""
    from_here = Q(run__position__gt=position) | Q(run__position=position, index__gte=index)
    for stretch in reversed(stretches):
        question = stretch.messages.filter(from_here, role=Role.USER).reverse().select_related("run").first()
        if question is not None:
            behind = Event.objects.filter(kind=EventKind.MESSAGE, run=question.run, index__gte=question.index)
            return MessagePlace(question.run.position, behind.count())
    return None
