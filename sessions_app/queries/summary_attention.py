"""The summaries of a project, session by session: failing, resting, being made just now, and those in use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import OuterRef, Subquery

from sessions_app.models import Project, Session, Summary
from sessions_app.models.sessions import SessionQuerySet
from sessions_app.queries.capped_counts import CappedCount, capped_count

ROWS_AT_ONCE = 50
_NEWEST = ("number", "status", "error", "attempts", "covers_through", "created_at", "started_at")
# So many sessions, the last active ones, are looked through for summaries in use, however many there are.
LATELY = 500
_LONG = ("instructions", "metadata", "settings", "prompt_snapshot", "summary__facts")


class Attention(StrEnum):
    """Why a session is listed."""

    FAILING = "failing"
    RESTING = "resting"
    WORKING = "working"
    USED = "used"


@dataclass(frozen=True, slots=True)
class AttentionPage:
    """Sessions that are listed for one reason, the newest first; `next_after` is where the next page starts."""

    shown: Attention
    counts: Mapping[Attention, CappedCount]
    rows: Sequence[Session]
    next_after: int | None


def failing_count(project: Project) -> CappedCount:
    """Count the sessions whose summaries fail."""
    return capped_count(_listed(project, Attention.FAILING))


def attention_page(*, project: Project, shown: Attention | None, after: int | None) -> AttentionPage:
    """Return the sessions behind the key `after`; without a reason to list them the first one that any is listed for.

    What it costs does not depend on how many sessions the project has.
    """
    counts = {reason: capped_count(_listed(project, reason)) for reason in Attention}
    reason = shown or next((each for each in Attention if counts[each].value), Attention.FAILING)
    rows = _with_columns(_listed(project, reason)).order_by("-pk")
    if after is not None:
        rows = rows.filter(pk__lt=after)
    page = list(rows[: ROWS_AT_ONCE + 1])
    more = page[ROWS_AT_ONCE - 1].pk if len(page) > ROWS_AT_ONCE else None
    return AttentionPage(reason, counts, page[:ROWS_AT_ONCE], more)


def _listed(project: Project, reason: Attention) -> SessionQuerySet:
    sessions = Session.objects.filter(project=project)
    match reason:
        case Attention.FAILING:
            return sessions.exclude(next_attempt_at=None)
        case Attention.RESTING:
            return sessions.exclude(rests_since=None)
        case Attention.WORKING:
            return Session.objects.found_in(project.pk).filter(pk__in=Summary.objects.unfinished().values("session"))
        case Attention.USED:
            lately = sessions.order_by("-updated_at", "-id").values("pk")[:LATELY]
            return Session.objects.filter(pk__in=lately).exclude(summary=None)


def _with_columns(sessions: SessionQuerySet) -> SessionQuerySet:
    """Add what a row tells of the newest entry, and leave long texts behind."""
    newest = Summary.objects.filter(session=OuterRef("pk")).order_by("-number")
    columns = {f"newest_{name}": Subquery(newest.values(name)[:1]) for name in _NEWEST}
    return sessions.annotate(**columns).select_related("summary").defer(*_LONG)
