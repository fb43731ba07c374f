"""Claims on a session's one unfinished summary: a lease that only its holder can complete, fail or lose."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import structlog
from django.db import Error, connection, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, Now

from sessions_app.domain.errors import ConvowebError, SummarizerFailed
from sessions_app.domain.summaries import Summarized, retry_seconds
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import ProjectSummarizer, Session, Summary, SummaryStatus
from sessions_app.models.summaries import SummaryQuerySet
from sessions_app.services.trees import lock_tree_of
from sessions_app.services.wishes import wish_for_hearers

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=30)
LONGEST_ERROR = 1_000


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to complete an entry, good as long as its token stands in the row; it is for runs first..through."""

    session: Session
    entry: Summary
    token: str
    first: int
    through: int

    @property
    def previous(self) -> str:
        """The text to build on, maybe empty."""
        return self.session.summary.text if self.session.summary else ""


def claim(*, session: Session, through: int, chosen: ProjectSummarizer, now: datetime) -> Claim | None:
    """Take the session's one unfinished entry; None while another worker holds it or has moved the summary in use."""
    head = session.summary
    token = uuid.uuid4().hex
    with transaction.atomic():
        # The row always before its entries.
        stored = Session.objects.select_for_update().filter(pk=session.pk, summary=head).first()
        entry = entry_to_work_on(stored, now) if stored else None
        if entry is None:
            return None
        entry.status, entry.predecessor, entry.covers_through = SummaryStatus.RUNNING, head, through
        entry.summarizer, entry.model = chosen.name, chosen.model_asked
        entry.attempts += 1
        entry.lease_token = token
        entry.lease_until = _lease_end()
        entry.started_at, entry.ended_at = now, None
        entry.save()
        # Until the work is done the wish stands, so that the sweeper finds it should this worker be killed.
        Session.objects.filter(pk=session.pk, summary_wanted_at=None).update(summary_wanted_at=now)
    return Claim(session, entry, token, first=(head.covers_through if head else 0) + 1, through=through)


def rests(session: Session, newest: Summary | None) -> bool:
    """Whether a person wants no summary: since a rollback, or since the newest entry was cancelled.

    A cancellation leaves a wish of the same moment; any other wish comes from a later change, by whatever clock.
    """
    if session.rests_since is not None:
        return True
    if newest is None or newest.status != SummaryStatus.CANCELLED:
        return False
    return session.summary_wanted_at in (None, newest.ended_at)


def entry_to_work_on(session: Session, now: datetime) -> Summary | None:
    """Return the entry of a locked session that failed or whose worker was killed, to be tried again, or a new one.

    None if another worker holds it, or a person has stopped it meanwhile.
    """
    newest = session.summaries.annotate(database_now=Now()).order_by("number").last()
    if rests(session, newest):
        return None
    if newest is None or newest.status in (SummaryStatus.COMPLETED, SummaryStatus.CANCELLED):
        return Summary(session=session, number=newest.number + 1 if newest else 1, created_at=now)
    return None if _is_held(newest, newest.database_now) else newest


def _is_held(entry: Summary, database_now: datetime) -> bool:
    """Whether others must leave an entry alone; one whose workers were killed again and again rests for longer."""
    if entry.lease_until is None:
        return False
    kills = entry.attempts - 1
    return entry.lease_until + timedelta(seconds=retry_seconds(kills) if kills else 0) > database_now


@contextmanager
def renewing(held: Claim) -> Iterator[None]:
    """Renew the lease again and again, from a thread of its own, for as long as the work takes."""
    done = threading.Event()
    keeper = threading.Thread(target=_renew_until, args=(held, done), name="lease-keeper", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _renew_until(held: Claim, done: threading.Event) -> None:
    while not done.wait(LEASE.total_seconds() / 3):
        try:
            _own(held).update(lease_until=_lease_end())
        except Error:
            log.warning("lease_not_renewed", session=held.session.pk, exc_info=True)
        finally:
            connection.close()


def _lease_end() -> ExpressionWrapper:
    return ExpressionWrapper(Now() + LEASE, output_field=DateTimeField())


def is_held(held: Claim) -> bool:
    """Whether the claim is good yet; a cancellation or another worker voids it."""
    return _own(held).exists()


def complete(
    *,
    held: Claim,
    made: Summarized,
    facts: dict[str, Any],
    tokens: int,
    tokens_before: int,
    took: timedelta,
    now: datetime,
) -> bool:
    """Put the text into use together with what it covers; false, and nothing changed, if the claim is void by now."""
    with transaction.atomic():
        stored = lock_tree_of(session=held.session)
        done = use(held.entry, held.session) and _own(held).update(
            status=SummaryStatus.COMPLETED,
            text=made.text,
            model=made.model,
            template=made.template,
            from_cache=made.from_cache,
            cost_usd=_cost(made.cost_usd),
            facts=facts,
            tokens_o200k=tokens,
            tokens_before=tokens_before,
            error="",
            lease_until=None,
            **_ended(took, now),
        )
        if stored and done:
            stored.project = held.session.project
            wish_for_hearers(session=stored, now=now)
        else:
            transaction.set_rollback(True)
    if not done:
        _book(held, made.cost_usd)
    return bool(done)


def use(entry: Summary, session: Session) -> bool:
    """Put an entry into use in place of the one that the session was read with; false if another has come meanwhile."""
    unmoved = Session.objects.filter(pk=session.pk, summary=session.summary)
    return bool(unmoved.update(summary=entry.pk, next_attempt_at=None))


def _cost(paid: Decimal | None) -> CombinedExpression | None:
    """Return what all attempts of an entry cost, None where that of this one is not known."""
    return None if paid is None else Coalesce(F("cost_usd"), Decimal(0)) + paid


def _book(held: Claim, paid: Decimal | None) -> None:
    """Add what an attempt cost whose claim is void: whoever stopped the entry or took it over did not know it."""
    if paid:
        Summary.objects.filter(pk=held.entry.pk).update(cost_usd=_cost(paid))


def _ended(took: timedelta, now: datetime) -> dict[str, Any]:
    return {"ended_at": now + took, "duration_ms": round(took / timedelta(milliseconds=1))}


def fail(*, held: Claim, error: Exception, took: timedelta, now: datetime) -> None:
    """Record why an attempt failed and hold back the next one, later appends' included; nothing becomes covered."""
    reason = error.detail if isinstance(error, ConvowebError) else f"{type(error).__name__}: {error}"
    log.warning("summary_failed", session=held.session.pk, attempts=held.entry.attempts, error=reason)
    asked, cost = (error.retry_after, error.cost_usd) if isinstance(error, SummarizerFailed) else (None, Decimal(0))
    pause = timedelta(seconds=max(retry_seconds(held.entry.attempts), asked or 0))
    with transaction.atomic():
        Session.objects.select_for_update().filter(pk=held.session.pk).first()
        own = _own(held).update(
            status=SummaryStatus.FAILED,
            error=clean_text(reason)[:LONGEST_ERROR],
            cost_usd=_cost(cost),
            lease_until=None,
            **_ended(took, now),
        )
        if own:
            Session.objects.filter(pk=held.session.pk).update(next_attempt_at=now + took + pause)
        else:
            _book(held, cost)


def settle(*, session: Session, now: datetime) -> bool:
    """Let the wish rest, unless it was renewed since it was read; false while another worker is still at it."""
    unfinished = Summary.objects.unfinished().filter(session=session)
    unfinished.filter(lease_until__lte=Now()).update(
        status=SummaryStatus.FAILED, lease_until=None, error="It was interrupted and then no longer needed."
    )
    # What was asked for after the session was read waits for the next step.
    unfinished.filter(status=SummaryStatus.PENDING, created_at__lte=session.summary_wanted_at or now).update(
        status=SummaryStatus.CANCELLED, ended_at=now, error="There is nothing to summarize any more."
    )
    if unfinished.exists():
        return False
    unchanged = Session.objects.filter(pk=session.pk, summary_wanted_at=session.summary_wanted_at)
    unchanged.update(summary_wanted_at=None, next_attempt_at=None, summarize_through=0)
    return True


def _own(held: Claim) -> SummaryQuerySet:
    return Summary.objects.unfinished().filter(pk=held.entry.pk, lease_token=held.token)
