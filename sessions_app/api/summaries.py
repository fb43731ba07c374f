"""Summaries: the endpoints."""

from django.db import connection
from django.utils import timezone
from ninja import Query, Router
from ninja.responses import Status

from sessions_app.api.access import READ, WRITE, ApiRequest
from sessions_app.api.idempotency import idempotent
from sessions_app.api.lookups import find_session, find_summary
from sessions_app.api.paging import page_of
from sessions_app.api.summary_schemas import (
    LedgerState,
    RollbackTarget,
    SummaryOut,
    SummaryPage,
    SummaryQuery,
    SummaryText,
    WaitQuery,
    ledger_state,
    summary_out,
)
from sessions_app.domain.errors import FieldError, InvalidInput, NotFound
from sessions_app.models import Session, Summary
from sessions_app.models.connections import one_state
from sessions_app.queries.summary_listing import BY_NUMBER, entries_of
from sessions_app.services import ledgers

router = Router(tags=["summaries"])


@router.get("/sessions/{session_id}/summaries", auth=READ, response=SummaryPage)
@one_state()
def list_summaries(request: ApiRequest, session_id: str, query: Query[SummaryQuery]) -> SummaryPage:
    """List a session's ledger of summaries, newest first."""
    session = find_session(request, session_id)
    rows, cursor = page_of(entries_of(session), BY_NUMBER, limit=query.limit, cursor=query.cursor)
    return SummaryPage(items=[summary_out(entry, session) for entry in rows], next_cursor=cursor)


@router.post("/sessions/{session_id}/summaries", auth=WRITE, response={202: SummaryOut})
@idempotent
def summarize_now(request: ApiRequest, session_id: str, query: Query[WaitQuery]) -> Status[SummaryOut]:
    """Summarize all that may be summarized now. An entry that waits or runs already is the answer."""
    session = find_session(request, session_id)
    entry = ledgers.summarize_now(session=session, actor=request.auth.name, now=timezone.now())
    # Inside a transaction no worker could see the entry.
    if query.wait and not connection.in_atomic_block:
        entry = ledgers.wait_until_ended(entry=entry, seconds=query.wait)
    return Status(202, summary_out(entry, session))


@router.get("/summaries/{summary_id}", auth=READ, response=SummaryOut)
def get_summary(request: ApiRequest, summary_id: str) -> SummaryOut:
    """Get an entry of a ledger."""
    entry = find_summary(request, summary_id)
    return summary_out(entry, entry.session)


@router.post("/summaries/{summary_id}/retry", auth=WRITE, response={202: SummaryOut})
@idempotent
def retry(request: ApiRequest, summary_id: str) -> Status[SummaryOut]:
    """Try an entry that failed or was cancelled again at once, by a new entry."""
    entry = find_summary(request, summary_id)
    again = ledgers.retry(entry=entry, actor=request.auth.name, now=timezone.now())
    return Status(202, summary_out(again, entry.session))


@router.post("/summaries/{summary_id}/cancel", auth=WRITE, response=SummaryOut)
@idempotent
def cancel(request: ApiRequest, summary_id: str) -> SummaryOut:
    """Stop an entry that waits or runs. Nothing is summarized again before something changes."""
    entry = find_summary(request, summary_id)
    return summary_out(ledgers.cancel(entry=entry, now=timezone.now()), entry.session)


@router.put("/summaries/{summary_id}/text", auth=WRITE, response=SummaryOut)
def edit(request: ApiRequest, summary_id: str, payload: SummaryText) -> SummaryOut:
    """Put another text in place of that of the entry in use. It becomes a new entry."""
    entry = find_summary(request, summary_id)
    edited = ledgers.edit(entry=entry, text=payload.text, actor=request.auth.name, now=timezone.now())
    return summary_out(edited, entry.session)


@router.post("/sessions/{session_id}/summaries/rollback", auth=WRITE, response=LedgerState)
@idempotent
def roll_back(request: ApiRequest, session_id: str, payload: RollbackTarget) -> LedgerState:
    """Go back to a completed entry. Summarizing then rests until it is resumed or asked for."""
    session = find_session(request, session_id)
    target = _target(request, session, payload.to)
    stored = ledgers.roll_back(session=session, entry=target, actor=request.auth.name, now=timezone.now())
    return ledger_state(stored)


@router.post("/sessions/{session_id}/summaries/resume", auth=WRITE, response=LedgerState)
@idempotent
def resume(request: ApiRequest, session_id: str) -> LedgerState:
    """End the rest that a rollback began."""
    return ledger_state(ledgers.resume(session=find_session(request, session_id), now=timezone.now()))


def _target(request: ApiRequest, session: Session, public_id: str) -> Summary:
    try:
        entry = find_summary(request, public_id)
    except NotFound:
        entry = None
    if entry is None or entry.session_id != session.pk:
        detail = "There is no such summary in this session."
        raise InvalidInput(detail, errors=[FieldError("/to", detail)])
    return entry
