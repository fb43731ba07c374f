"""What people do with a session's ledger of summaries: ask for an entry, stop it, change its text, go back."""

import time
from datetime import datetime
from decimal import Decimal
from threading import Semaphore

from django.db import transaction

from sessions_app.domain.errors import Conflict, FieldError, InvalidInput, NotFound
from sessions_app.domain.facts.report import from_stored, kept, to_stored
from sessions_app.domain.language_models import language_model
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.models import Session, SessionTranscript, Summary, SummaryAbsence, SummaryOrigin, SummaryStatus
from sessions_app.models.summaries import UNFINISHED
from sessions_app.services.prompts import effective_settings
from sessions_app.services.wishes import lock_for_change, wish_for_hearers

WAIT_STEP = 0.2
# A quarter of the threads that the web server has: with all exports that are sent, two are left for the rest.
MOST_WAITING = 2
_WAITING = Semaphore(MOST_WAITING)
GONE = "There is no such summary."
RETRIED = (SummaryStatus.FAILED, SummaryStatus.CANCELLED)


def newest_aged(*, session: Session) -> int:
    """Return the newest run that may be summarized: finished, and not one of the newest `offset`; 0 if none may."""
    offset = effective_settings(session=session).values.offset
    return max(0, SessionTranscript(session).finished_through - offset)


def summarize_now(*, session: Session, actor: str, now: datetime) -> Summary:
    """Ask for a summary of all runs that may be summarized, and end a rest; an entry that waits or runs is the answer.

    Raises Conflict if there is nothing to summarize.
    """
    with transaction.atomic():
        stored = lock_for_change(session=session, now=now)
        unfinished = stored.summaries.unfinished().first()
        if unfinished is not None:
            return unfinished
        through, covered = newest_aged(session=stored), _covered(stored)
        if through <= covered:
            raise Conflict(nothing_to_summarize(session=stored))
        return _ask(stored, through=through, actor=actor, now=now)


def nothing_to_summarize(*, session: Session) -> str:
    """Say why there is nothing to summarize now; empty if there is something."""
    finished, covered = SessionTranscript(session).finished_through, _covered(session)
    offset = effective_settings(session=session).values.offset
    if finished - offset > covered:
        return ""
    so_far = f"{covered} are in the summary" if covered else "none is in a summary yet"
    return f"Nothing to summarize: the newest {offset} of {finished} finished runs stay out (offset), {so_far}."


def retry(*, entry: Summary, actor: str, now: datetime) -> Summary:
    """Try a failed or cancelled entry again at once, by a new one; only the newest can be, and not during a rest."""
    with transaction.atomic():
        stored, entry = _locked(entry, now)
        if entry.status not in RETRIED:
            raise Conflict(f"Summary #{entry.number} is {entry.status}; only a failed or cancelled one is retried.")
        newest = _newest(stored)
        if newest.pk != entry.pk:
            raise Conflict(f"Summary #{newest.number} has come since; retry that one, or summarize now.")
        if stored.rests_since is not None:
            raise Conflict("Summarizing rests since a rollback; resume it, or summarize now.")
        return _ask(stored, through=entry.covers_through, actor=actor, now=now)


def cancel(*, entry: Summary, now: datetime) -> Summary:
    """Stop an entry that waits or runs; nothing is tried again before something changes."""
    with transaction.atomic():
        stored, entry = _locked(entry, now)
        if entry.status not in UNFINISHED:
            raise Conflict(f"Summary #{entry.number} is {entry.status}; only one that waits or runs is cancelled.")
        _stop(stored, "It was cancelled.", now)
        entry.refresh_from_db()
    return entry


def edit(*, entry: Summary, text: str, actor: str, now: datetime) -> Summary:
    """Put a person's text in place of that of the entry in use, as a new entry that covers the same runs."""
    # Counted before the lock, however long it is.
    text = _checked(entry.session, text)
    with transaction.atomic():
        stored, entry = _locked(entry, now)
        if stored.summary_id != entry.pk:
            raise Conflict(f"Summary #{entry.number} is not the one in use; only that can be edited.")
        _stop(stored, f"Summary #{entry.number}, which it was made from, was edited.", now)
        edited = Summary.objects.create(
            session=stored,
            number=_newest(stored).number + 1,
            status=SummaryStatus.COMPLETED,
            origin=SummaryOrigin.EDITED,
            predecessor=entry,
            covers_through=entry.covers_through,
            text=text,
            tokens_before=entry.tokens_o200k,
            tokens_o200k=STORED_COUNTER.text(text),
            facts=to_stored(kept(previous=from_stored(entry.facts or None), runs=(), text=text)),
            cost_usd=Decimal(0),
            actor=actor,
            created_at=now,
            ended_at=now,
        )
        Session.objects.filter(pk=stored.pk).update(summary=edited, next_attempt_at=None)
        wish_for_hearers(session=stored, now=now)
    return edited


def roll_back(*, session: Session, entry: Summary, actor: str, now: datetime) -> Session:
    """Put a completed entry and those it was made from into use again, and let summarizing rest."""
    with transaction.atomic():
        stored = lock_for_change(session=session, now=now)
        target = stored.summaries.filter(pk=entry.pk).first()
        if target is None:
            raise NotFound("There is no such summary in this session.")
        if target.status != SummaryStatus.COMPLETED:
            raise Conflict(f"Summary #{target.number} is {target.status}; only a completed one can come into use.")
        if target.pk == stored.summary_id:
            raise Conflict(f"Summary #{target.number} is in use already.")
        _stop(stored, f"The session was rolled back to summary #{target.number}.", now)
        chain = _chain(target)
        stored.summaries.in_use().exclude(pk__in=chain).update(retired_at=now)
        _use_again(chain, now)
        stored.summary, stored.rests_since, stored.rests_by = target, now, actor
        stored.next_attempt_at, stored.summarize_through = None, 0
        stored.save(update_fields=["summary", "rests_since", "rests_by", "next_attempt_at", "summarize_through"])
        wish_for_hearers(session=stored, now=now)
    return stored


def _use_again(chain: list[int], now: datetime) -> None:
    """Put those of the entries that were out of use into use, and note from when they were not."""
    retired = Summary.objects.filter(pk__in=chain).exclude(retired_at=None)
    absences = [
        SummaryAbsence(entry=entry, since=entry.retired_at, until=now)
        for entry in retired.only("retired_at")
        if entry.retired_at
    ]
    SummaryAbsence.objects.bulk_create(absences)
    retired.update(retired_at=None)


def resume(*, session: Session, now: datetime) -> Session:
    """End the rest that a rollback began."""
    with transaction.atomic():
        stored = lock_for_change(session=session, now=now)
        if stored.rests_since is None:
            raise Conflict("Summarizing does not rest in this session.")
        stored.rests_since, stored.rests_by = None, ""
        stored.save(update_fields=["rests_since", "rests_by"])
    return stored


def wait_until_ended(*, entry: Summary, seconds: float) -> Summary:
    """Return the entry as it is when it has ended, or as it is after so many seconds.

    Where as many wait as may at once, it is returned as it is now, so that others are answered.
    """
    if _WAITING.acquire(blocking=False):
        try:
            _wait_until_ended(entry, seconds)
        finally:
            _WAITING.release()
    try:
        entry.refresh_from_db()
    except Summary.DoesNotExist:
        raise NotFound(GONE) from None
    return entry


def _wait_until_ended(entry: Summary, seconds: float) -> None:
    patience = time.monotonic() + seconds
    while time.monotonic() < patience and Summary.objects.unfinished().filter(pk=entry.pk).exists():
        time.sleep(WAIT_STEP)


def _locked(entry: Summary, now: datetime) -> tuple[Session, Summary]:
    stored = lock_for_change(session=entry.session, now=now)
    found = stored.summaries.filter(pk=entry.pk).first()
    if found is None:
        raise NotFound(GONE)
    return stored, found


def _ask(session: Session, *, through: int, actor: str, now: datetime) -> Summary:
    session.summarize_through, session.next_attempt_at = through, None
    session.rests_since, session.rests_by = None, ""
    session.save(update_fields=["summarize_through", "next_attempt_at", "rests_since", "rests_by"])
    newest = session.summaries.order_by("number").last()
    return Summary.objects.create(
        session=session,
        number=newest.number + 1 if newest else 1,
        status=SummaryStatus.PENDING,
        predecessor=session.summary,
        covers_through=through,
        actor=actor,
        created_at=now,
    )


def _stop(session: Session, reason: str, now: datetime) -> None:
    stopped = {"status": SummaryStatus.CANCELLED, "error": reason, "ended_at": now, "lease_until": None}
    session.summarize_through, session.next_attempt_at = 0, None
    session.save(update_fields=["summarize_through", "next_attempt_at"])
    session.summaries.unfinished().update(**stopped)


def _newest(session: Session) -> Summary:
    return session.summaries.order_by("-number")[0]


def _covered(session: Session) -> int:
    return session.summary.covers_through if session.summary else 0


def _chain(entry: Summary) -> list[int]:
    """Return the keys of an entry and of those it was made from."""
    made_from = dict(Summary.objects.filter(session=entry.session_id).values_list("pk", "predecessor"))
    chain = [entry.pk]
    while (before := made_from[chain[-1]]) is not None:
        chain.append(before)
    return chain


def _checked(session: Session, text: str) -> str:
    settings = effective_settings(session=session).values
    counter = language_model(settings.model).counter
    text = clean_text(text).strip()
    tokens = counter.scaled(counter.text(text))
    if not text:
        raise _refused("A summary has a text.")
    if tokens > settings.max_summary_tokens:
        raise _refused(f"The text needs {tokens:,} tokens; max_summary_tokens allows {settings.max_summary_tokens:,}.")
    return text


def _refused(detail: str) -> InvalidInput:
    return InvalidInput(detail, errors=[FieldError("/text", detail)])
