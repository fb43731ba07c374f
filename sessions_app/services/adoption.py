"""A fork takes over what its parent has summarized of the runs they share, without a summarizer."""

from datetime import datetime
from decimal import Decimal

from django.db import transaction

from sessions_app.models import Session, Summary, SummaryOrigin, SummaryStatus, ancestors_of
from sessions_app.models.summaries import SummaryQuerySet
from sessions_app.services.prompts import effective_settings
from sessions_app.services.summary_claims import entry_to_work_on, use
from sessions_app.services.trees import lock_tree_of
from sessions_app.services.wishes import wish_for_hearers


def adopt(*, session: Session, finished_through: int, now: datetime) -> bool:
    """Take the parent's best entry that covers only shared runs into use; false if the fork has no use for any.

    Like every entry it covers more than the one in use and none of the newest `offset` runs; none is taken twice.
    """
    aged = finished_through - effective_settings(session=session).values.offset
    if _best_entry(session, aged) is None:
        return False
    with transaction.atomic():
        stored = lock_tree_of(session=session)
        # Once more, since the parent may have been deleted meanwhile, or have gone back.
        best = _best_entry(stored, aged) if stored and stored.summary_id == session.summary_id else None
        entry = entry_to_work_on(stored, now) if stored and best else None
        if stored is None or best is None or entry is None:
            return False
        entry.predecessor = session.summary
        entry.status, entry.origin, entry.error = SummaryStatus.COMPLETED, SummaryOrigin.ADOPTED, ""
        entry.adopted_from, entry.lease_until, entry.ended_at = best, None, now
        entry.cost_usd = entry.cost_usd or Decimal(0)
        for name in ("covers_through", "text", "tokens_before", "tokens_o200k", "facts", "summarizer", "model"):
            setattr(entry, name, getattr(best, name))
        entry.save()
        use(entry, session)
        session.summary = entry
        stored.project = session.project
        wish_for_hearers(session=stored, now=now)
    return True


def _best_entry(session: Session, aged: int) -> Summary | None:
    """Return the entry to take; none where it would replace what a person has written into the fork's own."""
    if not session.forked_at or session.summaries.in_use().filter(origin=SummaryOrigin.EDITED).exists():
        return None
    covered = session.summary.covers_through if session.summary else 0
    taken = session.summaries.exclude(adopted_from=None).values("adopted_from")
    better = _entries_above(session).filter(covers_through__gt=covered, covers_through__lte=aged)
    return better.exclude(pk__in=taken).last()


def _entries_above(session: Session) -> SummaryQuerySet:
    """Return the parent's entries that cover only shared runs; if it has none, those of the next above that shares."""
    entries, shared = Summary.objects.none(), session.forked_at
    for holder in ancestors_of(session):
        if not shared or entries.exists():
            break
        entries = Summary.objects.in_use().filter(session=holder, covers_through__lte=shared)
        shared = min(shared, holder.forked_at or 0)
    return entries
