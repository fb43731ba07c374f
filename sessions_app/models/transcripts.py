"""How prompts read a session's lineage from rows: a constant number of queries for each link of the fork chain."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery, Window
from django.db.models.functions import Coalesce, Lag, Lead

from sessions_app.domain import transcript
from sessions_app.domain.transcript import (
    OPEN_STATUSES,
    EventKind,
    LikeRuns,
    MessagePlace,
    ParentContext,
    Role,
    RunInput,
    RunStatus,
    SummaryEntry,
    WeighedRuns,
)
from sessions_app.models.lineages import (
    Stretch,
    clipped,
    conversations_above,
    lineage_of,
    lineage_runs,
    runs_at,
    runs_in,
)
from sessions_app.models.runs import Event, Run, RunQuerySet, event_values
from sessions_app.models.sessions import Session
from sessions_app.models.summaries import Summary, SummaryQuerySet

_MOST_AT_ONCE = 500
# More are taken for all: no model's window holds as many, and counting them would cost as much as the session is long.
_MOST_MESSAGES = 100_000


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
        last = min(position - 1, self.finished_through)
        out = self._first_out(last, not_below=not_below, tokens=tokens)
        wanted = self._runs(not_below if out is None else out[0], last)
        return [row.to_value() for row in wanted.with_events().order_by("-position")]

    def weigh(self, *, not_below: int, tokens: int) -> WeighedRuns:
        """The finished runs p >= not_below, newest first, as many as fit `tokens` by what is stored with them."""
        last = self.finished_through
        out = self._first_out(last, not_below=not_below, tokens=tokens)
        first = not_below if out is None else out[0] + 1
        peculiar = [
            alike
            for stretch in reversed(self._stretches(first, last))
            for alike in _alike(runs_in([stretch]).peculiar())
        ]
        return WeighedRuns(first, self.tokens_between(first, last), None if out is None else out[1], tuple(peculiar))

    def tokens_between(self, first: int, last: int) -> int:
        """What is stored as the tokens of the runs first..last, from sums; 0 if there are none.

        Raises Session.DoesNotExist if they have been deleted since their session was read.
        """
        if first > last:
            return 0
        ends = runs_at(self.lineage, (first, last)).order_by("position")
        sums = list(ends.values_list("tokens_before_o200k", "tokens_o200k"))
        if not sums:
            raise Session.DoesNotExist("Runs of this session have been deleted.")
        return sum(sums[-1]) - sums[0][0]

    def _first_out(self, last: int, *, not_below: int, tokens: int) -> tuple[int, int] | None:
        """Return position and tokens of the newest run p >= not_below for which p..last need more than `tokens`."""
        ceiling: int | None = None
        for stretch in self._stretches(not_below, last):
            runs = Run.objects.filter(session=stretch.session)
            if ceiling is None:
                ceiling = sum(runs.values_list("tokens_before_o200k", "tokens_o200k").get(position=last))
            behind = runs.filter(tokens_before_o200k__lt=ceiling - tokens).order_by("-tokens_before_o200k", "-position")
            newest = behind.values_list("position", "tokens_o200k").first()
            if newest is not None and newest[0] >= stretch.first:
                return newest
        return None

    def newest_answered(self, *, not_below: int) -> transcript.Run | None:
        """The newest finished run p >= not_below in which the assistant said anything."""
        said = Event.objects.filter(kind=EventKind.MESSAGE, run=OuterRef("pk"), role=Role.ASSISTANT)
        for stretch in self._stretches(not_below, self.finished_through):
            newest = stretch.runs.filter(Exists(said)).with_events().order_by("-position").first()
            if newest is not None:
                return newest.to_value()
        return None

    def first_input(self, *, not_below: int) -> RunInput | None:
        """The input of the first finished run p >= not_below that has one."""
        first = self._first_asking(not_below)
        if first is None:
            return None
        run = _asked(first, RunStatus(first.status))
        return RunInput(run, is_all=first.events.count() == len(run.events))

    def oldest_question(self, *, among: int, not_below: int) -> MessagePlace | None:
        """The oldest user message among the newest `among` messages of the finished runs p >= not_below."""
        place = self._newest_message(among, not_below) if among <= _MOST_MESSAGES else None
        if place is None:
            return self._first_question(not_below)
        messages = self._runs(place.position, place.position).get().events.filter(kind=EventKind.MESSAGE)
        roles = list(messages.order_by("-index").values_list("role", flat=True)[: place.messages])
        if Role.USER in roles:
            return MessagePlace(place.position, len(roles) - roles[::-1].index(Role.USER))
        return self._first_question(place.position + 1)

    def newest_summary(self, covers_at_most: int) -> SummaryEntry | None:
        """The newest entry in use that covers at most the runs 1..`covers_at_most`."""
        # A turn that a fork shares was its parent's.
        holder = self._session.pk if self._turn is None else self._asked.session_id
        if self._turn is None and self._session.summary_id is None:
            return None
        newest = self._entries.filter(session=holder, covers_through__lte=covers_at_most).last()
        return None if newest is None else newest.to_value()

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parent conversations, root first; those without a summary are left out."""
        contexts = []
        for parent, usable in islice(conversations_above(self._session), depth):
            # Of two that cover the same that of the fork itself, whatever has come at its parent since.
            newest = self._entries.filter(usable).order_by("covers_through", "session__depth", "number").last()
            if newest is not None:
                contexts.append(ParentContext(str(parent), newest.text))
        return contexts[::-1]

    def as_of(self, turn: int) -> "SessionTranscript":
        """What there was when run `turn` was made, its times being those that its bot gave."""
        return SessionTranscript(self._session, turn)

    @property
    def _entries(self) -> SummaryQuerySet:
        """The summaries in use, or those of them that had been made at the turn."""
        entries = Summary.objects
        return entries.in_use() if self._turn is None else entries.in_use_at(self._asked.created_at)

    @cached_property
    def _asked(self) -> Run:
        """The run of the turn."""
        return lineage_runs(self._session).get(position=self.finished_through + 1)

    def _first_question(self, not_below: int) -> MessagePlace | None:
        asking = self._first_asking(not_below)
        if asking is None:
            return None
        messages = asking.events.filter(kind=EventKind.MESSAGE)
        asked = messages.filter(role=Role.USER).order_by("index").values("index")[:1]
        return MessagePlace(asking.position, messages.filter(index__gte=asked).count())

    def _first_asking(self, not_below: int) -> Run | None:
        """Return the first finished run p >= not_below that has an input."""
        asked = Event.objects.filter(kind=EventKind.MESSAGE, run=OuterRef("pk"), role=Role.USER)
        for stretch in reversed(self._stretches(not_below, self.finished_through)):
            first = stretch.runs.filter(Exists(asked)).order_by("position").first()
            if first is not None:
                return first
        return None

    def _newest_message(self, number: int, not_below: int) -> MessagePlace | None:
        """Return where the newest message of that number stands, counted from 1; None if there are fewer."""
        inside = Event.objects.filter(run=OuterRef("pk"), kind=EventKind.MESSAGE).order_by().values("run")
        # A subquery for each run, so that a few of many runs cost no more than themselves.
        count = Coalesce(Subquery(inside.annotate(count=Count("pk")).values("count")), 0)
        for stretch in self._stretches(not_below, self.finished_through):
            before = stretch.last + 1
            while before > stretch.first:
                newest = stretch.runs.filter(position__lt=before).annotate(messages=count).order_by("-position")
                for position, messages in newest.values_list("position", "messages")[: min(number, _MOST_AT_ONCE)]:
                    if messages >= number:
                        return MessagePlace(position, number)
                    number, before = number - messages, position
        return None

    def _runs(self, first: int, last: int) -> RunQuerySet:
        return runs_in(self._stretches(first, last))

    def _stretches(self, first: int, last: int) -> list[Stretch]:
        """Return what of the lineage lies at the positions first..last, newest first."""
        return clipped(self.lineage, first, last)


def _asked(run: Run, status: RunStatus) -> transcript.Run:
    """Return a run with the user messages of its input alone."""
    messages = run.events.filter(kind=EventKind.MESSAGE, role=Role.USER).order_by("index")
    return replace(run.to_value(event_values(messages)), status=status)


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
