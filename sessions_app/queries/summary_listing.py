"""The entries of a session's ledger, for lists of them."""

from django.db.models import F

from sessions_app.models import Session
from sessions_app.models.summaries import SummaryQuerySet
from sessions_app.queries.keyset import Order, read_count

BY_NUMBER = Order("number", F("number"), read_count, descending=True)


def entries_of(session: Session) -> SummaryQuerySet:
    """Return a session's entries with what each was made from, without that one's text."""
    return session.summaries.select_related("predecessor").defer("predecessor__text", "predecessor__facts")
