"""A fork takes over what its parent has summarized of the runs they share, without a summarizer."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction

from sessions_app.models import Session, Summary, SummaryOrigin, SummaryStatus
from sessions_app.services.prompts import effective_settings
from sessions_app.services.summary_claims import entry_to_work_on, lock_head, use
from sessions_app.services.trees import lock_tree_of
from sessions_app.services.wishes import wish_for_hearers


def adopt(*, session: Session, finished_through: int, now: datetime) -> bool:
    """Take the parent's best entry that covers only shared runs into use; false if the fork has no use for any.

    Like every entry it covers more than the one in use and none of the newest `offset` runs; none is taken twice.
    """
    best = _best_entry(session, finished_through)
    if best is None:
        return False
    with transaction.atomic():
        lock_tree_of(session=session)
        entry = entry_to_work_on(session, now) if lock_head(session) else None
        if entry is None:
            return False
        entry.predecessor = session.summary
        entry.status, entry.origin, entry.error = SummaryStatus.COMPLETED, SummaryOrigin.ADOPTED, ""
        entry.adopted_from, entry.lease_until, entry.ended_at, entry.cost_usd = best, None, now, Decimal(0)
        for name in ("covers_through", "text", "tokens_before", "tokens_o200k", "facts", "summarizer", "model"):
            setattr(entry, name, getattr(best, name))
        entry.save()
        use(entry, session)
        session.summary = entry
        wish_for_hearers(session=session, now=now)
    return True


def _best_entry(session: Session, finished_through: int) -> Summary | None:
    if not session.forked_at:
        return None
    covered = session.summary.covers_through if session.summary else 0
    aged = finished_through - effective_settings(session=session).values.offset
    entries = Summary.objects.in_use().filter(session=session.parent_id, covers_through__gt=covered)
    taken = session.summaries.exclude(adopted_from=None).values("adopted_from")
    return entries.filter(covers_through__lte=min(session.forked_at, aged)).exclude(pk__in=taken).last()
