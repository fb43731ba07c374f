"""The ledger of a session's summaries as its page shows it: the entries, newest first, and what they come to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from django.db.models import Count, Q, Sum

from sessions_app.domain.facts.report import KeptReport, from_stored
from sessions_app.models import Session, Summary, SummaryOrigin, SummaryStatus
from sessions_app.models.summaries import UNFINISHED, SummaryQuerySet
from sessions_app.queries.capped_counts import COUNTED_AT_MOST
from sessions_app.queries.token_sums import token_sums

ENTRIES_AT_ONCE = 50
# What an entry may be long by, and a row of the ledger does not show.
_LONG = ("text", "predecessor__text", "predecessor__facts", "adopted_from__text", "adopted_from__facts")


class Look(StrEnum):
    """How an entry stands in the ledger."""

    PENDING = "pending"
    RUNNING = "running"
    FAILED = "failed"
    CANCELLED = "cancelled"
    RETIRED = "retired"
    ADOPTED = "adopted"
    EDITED = "edited"
    MADE = "made"


_LOOKS: Mapping[str, Look] = {
    SummaryStatus.PENDING: Look.PENDING,
    SummaryStatus.RUNNING: Look.RUNNING,
    SummaryStatus.FAILED: Look.FAILED,
    SummaryStatus.CANCELLED: Look.CANCELLED,
    SummaryOrigin.ADOPTED: Look.ADOPTED,
    SummaryOrigin.EDITED: Look.EDITED,
    SummaryOrigin.SUMMARIZER: Look.MADE,
}


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """An entry in the ledger. `tokens_before` are what the summarizer was or would be given.

    `facts` is None where they were not looked for; `retried_as` is the number of the entry that was tried instead.
    """

    entry: Summary
    look: Look
    in_use: bool
    is_newest: bool
    tokens_before: int
    facts: KeptReport | None
    retried_as: int | None

    @property
    def progress(self) -> str:
        """Which entry it is and how far it has come, in an address."""
        return f"{self.entry.number}-{self.look}"

    @property
    def is_unfinished(self) -> bool:
        """Whether it waits for a worker or is being worked on."""
        return self.entry.status in UNFINISHED

    @property
    def is_completed(self) -> bool:
        """Whether it has a text."""
        return self.entry.status == SummaryStatus.COMPLETED

    @property
    def can_be_retried(self) -> bool:
        """Whether it came to nothing and nothing has come after it."""
        return self.is_newest and self.look in (Look.FAILED, Look.CANCELLED)

    @property
    def first(self) -> int:
        """The first run that is in question here and not in the predecessor."""
        return self.entry.covers_from

    @property
    def covers_more(self) -> bool:
        """Whether it covers runs that its predecessor does not."""
        return self.first <= self.entry.covers_through


@dataclass(frozen=True, slots=True)
class Totals:
    """What all entries come to, costs and times only of the newest 10,000; `tokens` are those of the covered runs.

    `unpriced` are entries with a text whose cost is not known and not in the sum.
    """

    entries: int
    cost_usd: Decimal | None
    unpriced: int
    duration_ms: int | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """A page of the ledger, newest first; `older` is the number that the next page is asked before, if there is one."""

    rows: Sequence[LedgerRow]
    older: int | None
    totals: Totals

    @property
    def most_tokens(self) -> int:
        """What the largest request of the page needed."""
        return max((row.tokens_before for row in self.rows), default=0) or 1

    @property
    def unfinished(self) -> LedgerRow | None:
        """The entry that goes on, if it stands on this page."""
        return next((row for row in self.rows if row.is_unfinished), None)


def ledger_of(session: Session, *, before: int | None = None) -> Ledger:
    """Return the entries numbered below `before` (all if None); its cost depends neither on entries nor on runs."""
    entries = _entries(session)
    if before is not None:
        entries = entries.filter(number__lt=before)
    page = list(entries[: ENTRIES_AT_ONCE + 1])
    newest = session.summaries.order_by("-number").values_list("number", flat=True).first() or 0
    shown = page[:ENTRIES_AT_ONCE]
    covered = session.summary.covers_through if session.summary else 0
    tokens = _tokens_through(session, [covered, *_asked_positions(shown)])
    return Ledger(
        rows=list(_rows(session, shown, newest, tokens)),
        older=shown[-1].number if len(page) > ENTRIES_AT_ONCE else None,
        totals=_totals(session, newest, tokens.get(covered, 0)),
    )


def unfinished_row(session: Session) -> LedgerRow | None:
    """Return the entry that waits for a worker or is being worked on."""
    entry = _entries(session).unfinished().first()
    return None if entry is None else _row(session, entry, newest=entry.number, later=None, tokens={})


def status_of(session: Session, number: int) -> str:
    """Return how an entry stands, or an empty text if there is none of this number."""
    return session.summaries.filter(number=number).values_list("status", flat=True).first() or ""


def _entries(session: Session) -> SummaryQuerySet:
    rows = Summary.objects.filter(session=session).order_by("-number")
    return rows.select_related("predecessor", "adopted_from").defer(*_LONG)


def _asked_positions(entries: Sequence[Summary]) -> Iterator[int]:
    """Yield the positions between which lie the runs of requests whose tokens are not stored."""
    for entry in entries:
        if _is_asked(entry):
            yield from (entry.covers_from - 1, entry.covers_through)


def _is_asked(entry: Summary) -> bool:
    """Whether an entry came to nothing before the tokens of its request were stored; one that goes on shows none."""
    return not entry.tokens_before and entry.status not in UNFINISHED


def _tokens_through(session: Session, positions: Sequence[int]) -> Mapping[int, int]:
    sums = token_sums(session, set(positions))
    return {position: sums.through(position) for position in positions}


def _rows(session: Session, entries: Sequence[Summary], newest: int, tokens: Mapping[int, int]) -> Iterator[LedgerRow]:
    for later, entry in zip([None, *entries], entries, strict=False):
        yield _row(session, entry, newest=newest, later=later, tokens=tokens)


def _row(
    session: Session, entry: Summary, *, newest: int, later: Summary | None, tokens: Mapping[int, int]
) -> LedgerRow:
    return LedgerRow(
        entry=entry,
        look=_look(entry),
        in_use=entry.pk == session.summary_id,
        is_newest=entry.number == newest,
        tokens_before=_given(entry, tokens) if _is_asked(entry) else entry.tokens_before,
        facts=from_stored(entry.facts or None),
        retried_as=later.number if later and _is_another_try(entry, later) else None,
    )


def _look(entry: Summary) -> Look:
    if entry.status != SummaryStatus.COMPLETED:
        return _LOOKS[entry.status]
    return Look.RETIRED if entry.retired_at else _LOOKS[entry.origin]


def _given(entry: Summary, tokens: Mapping[int, int]) -> int:
    before = entry.predecessor.tokens_o200k if entry.predecessor else 0
    return before + tokens[entry.covers_through] - tokens[entry.covers_from - 1]


def _is_another_try(entry: Summary, later: Summary) -> bool:
    came_to_nothing = entry.status in (SummaryStatus.FAILED, SummaryStatus.CANCELLED)
    return came_to_nothing and later.origin == SummaryOrigin.SUMMARIZER


def _totals(session: Session, newest: int, tokens: int) -> Totals:
    counted = session.summaries.filter(number__gt=newest - COUNTED_AT_MOST)
    unpriced = Count("pk", filter=Q(status=SummaryStatus.COMPLETED, cost_usd=None))
    sums = counted.aggregate(cost=Sum("cost_usd"), unpriced=unpriced, duration=Sum("duration_ms"))
    return Totals(newest, sums["cost"], sums["unpriced"], sums["duration"], tokens)
