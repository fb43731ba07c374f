"""Summaries: what requests hold and answers do."""

from datetime import datetime

from ninja import Field

from sessions_app.api.schemas import In, Out, PageQuery, Whole, money
from sessions_app.domain.facts.report import KeptReport, from_stored
from sessions_app.domain.facts.values import FactKind, FactState
from sessions_app.models import Session, Summary, SummaryOrigin, SummaryStatus

LONGEST_WAIT = 30


class WaitQuery(In):
    """How long an answer may wait for the summary."""

    wait: float = Field(
        default=0,
        ge=0,
        le=LONGEST_WAIT,
        description="Answer when the entry has ended, or after so many seconds; not with an Idempotency-Key.",
    )


class SummaryText(In):
    """A person's text for the entry in use."""

    text: str


class RollbackTarget(In):
    """The entry to go back to."""

    to: str = Field(description="The id of a completed entry of the session.")


class FactOut(Out):
    """Something that was said, and whether the summary's text still says it."""

    kind: FactKind
    text: str
    position: Whole = Field(description="The run where it was said first.")
    speaker: str
    state: FactState


class FactsOut(Out):
    """What the summary kept of its predecessor's facts and of those in the runs it newly covers."""

    kept: Whole
    new: Whole = Field(description="Those of the kept that were said in the newly covered runs.")
    gone: Whole = Field(description="They stood in the predecessor's text and left the memory here.")
    missed: Whole = Field(description="They were said in the newly covered runs and never got into a summary.")
    rows: list[FactOut] = Field(description="At most 200; the counts are of all.")


class SummaryOut(Out):
    """An entry of a session's ledger."""

    id: str
    session_id: str
    number: Whole
    status: SummaryStatus
    origin: SummaryOrigin
    in_use: bool = Field(description="Whether it stands in the chain from which prompts take their summary.")
    covers_from: Whole = Field(description="The first run that it covers and its predecessor does not.")
    covers_through: Whole
    text: str
    tokens_before: Whole = Field(description="Of what the summarizer was given.")
    tokens: Whole = Field(description="Of the text.")
    facts: FactsOut | None = Field(description="Null where there is no text.")
    predecessor_id: str | None
    adopted_from_id: str | None = Field(description="The parent's entry that a fork took over.")
    summarizer: str
    model: str
    template: str = Field(description="The version of the template of the request.")
    cost: str | None = Field(description="In USD, of all attempts; null where the price is not known.")
    from_cache: bool = Field(description="Whether the same request had been answered, and paid for, before.")
    duration_ms: Whole | None = Field(description="Of the newest attempt.")
    attempts: Whole
    error: str
    actor: str = Field(description="Who edited it or asked for it.")
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    retired_at: datetime | None = Field(description="Since when a rollback has kept it out of use.")


class SummaryPage(Out):
    """A page of a ledger, newest first."""

    items: list[SummaryOut]
    next_cursor: str | None


class SummaryQuery(PageQuery):
    """Where a page of a ledger starts."""


class LedgerState(Out):
    """How the summarizing of a session stands."""

    session_id: str
    summary_id: str | None = Field(description="The entry in use.")
    covers_through: Whole
    rests_since: datetime | None = Field(description="Since when nothing is summarized, after a rollback.")
    rests_by: str
    next_attempt_at: datetime | None = Field(description="When a failed attempt is repeated.")


def summary_out(entry: Summary, session: Session) -> SummaryOut:
    """Return an entry as an answer."""
    return SummaryOut(
        id=entry.public_id,
        session_id=session.public_id,
        number=entry.number,
        status=SummaryStatus(entry.status),
        origin=SummaryOrigin(entry.origin),
        in_use=entry.status == SummaryStatus.COMPLETED and entry.retired_at is None,
        covers_from=entry.covers_from,
        covers_through=entry.covers_through,
        text=entry.text,
        tokens_before=entry.tokens_before,
        tokens=entry.tokens_o200k,
        facts=_facts(from_stored(entry.facts or None)),
        predecessor_id=_id(entry.predecessor_id),
        adopted_from_id=_id(entry.adopted_from_id),
        summarizer=entry.summarizer,
        model=entry.model,
        template=entry.template,
        cost=None if entry.cost_usd is None else money(entry.cost_usd),
        from_cache=entry.from_cache,
        duration_ms=entry.duration_ms,
        attempts=entry.attempts,
        error=entry.error,
        actor=entry.actor,
        created_at=entry.created_at,
        started_at=entry.started_at,
        ended_at=entry.ended_at,
        retired_at=entry.retired_at,
    )


def ledger_state(session: Session) -> LedgerState:
    """Return the state of a session's ledger as an answer."""
    return LedgerState(
        session_id=session.public_id,
        summary_id=_id(session.summary_id),
        covers_through=session.summary.covers_through if session.summary else 0,
        rests_since=session.rests_since,
        rests_by=session.rests_by,
        next_attempt_at=session.next_attempt_at,
    )


def _id(pk: int | None) -> str | None:
    return None if pk is None else f"sum_{pk}"


def _facts(report: KeptReport | None) -> FactsOut | None:
    if report is None:
        return None
    rows = [
        FactOut(
            kind=row.fact.kind,
            text=row.fact.text,
            position=row.fact.position,
            speaker=row.fact.speaker,
            state=row.state,
        )
        for row in report.rows
    ]
    return FactsOut(kept=report.kept, new=report.new, gone=report.gone, missed=report.missed, rows=rows)
