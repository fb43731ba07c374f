"""Writing runs and their events in bulk."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime

from django.db import IntegrityError, transaction

from sessions_app.domain import transcript
from sessions_app.domain.errors import FieldError, IdTaken
from sessions_app.domain.transcript import NewRun
from sessions_app.models import Event, Run, Session
from sessions_app.models.identifiers import new_run_id

PlacedEvent = tuple[Event, Event | None]


def run_rows(*, session: Session, runs: Sequence[NewRun], now: datetime) -> list[Run]:
    """Return unsaved rows behind the session's newest run."""
    rows: list[Run] = []
    before = session.lineage_tokens
    for position, run in enumerate(runs, start=session.last_position + 1):
        rows.append(_run_row(run, session, now))
        rows[-1].position, rows[-1].tokens_before_o200k = position, before
        before += rows[-1].tokens_o200k
    return rows


def insert_runs(rows: Sequence[Run]) -> None:
    """Write the rows; the unique constraint decides about ids, since another request may choose the same meanwhile."""
    try:
        with transaction.atomic():
            Run.objects.bulk_create(rows)
    except IntegrityError:
        ids = [row.public_id for row in rows]
        known = Run.objects.filter(project=rows[0].project_id, public_id__in=ids)
        taken = ", ".join(known.values_list("public_id", flat=True))
        detail = f"A run with the id {taken} exists already."
        raise IdTaken(detail, errors=[FieldError("/id", detail)]) from None


def place_events(
    *, run: Run, events: Sequence[transcript.Event], now: datetime, earlier: Sequence[Event] = ()
) -> list[PlacedEvent]:
    """Return unsaved rows for events behind the `earlier` ones of their run, each with the row of its parent."""
    rows = list(earlier)
    for event in events:
        rows.append(Event.from_value(event, run=run, index=len(rows), created_at=event.created_at or now))
    parents = (None if event.parent is None else rows[event.parent] for event in events)
    return list(zip(rows[len(earlier) :], parents, strict=True))


def insert_events(placed: Iterable[PlacedEvent]) -> None:
    """Write the rows in two steps, so that those with a parent know its key."""
    pairs = list(placed)
    Event.objects.bulk_create(row for row, parent in pairs if parent is None)
    for row, parent in pairs:
        row.parent = parent
    Event.objects.bulk_create(row for row, parent in pairs if parent is not None)


def _run_row(run: NewRun, session: Session, now: datetime) -> Run:
    created_at = run.created_at or now
    return Run(
        project_id=session.project_id,
        session=session,
        public_id=run.run_id or new_run_id(),
        status=run.status,
        model=run.model,
        usage=None if run.usage is None else asdict(run.usage),
        finish_reason=run.finish_reason,
        error=run.error,
        prompt_fingerprint=run.prompt_fingerprint,
        metadata=run.metadata,
        tokens_o200k=sum(event.tokens for event in run.events),
        created_at=created_at,
        touched_at=now,
        completed_at=None if run.status.is_open else created_at,
    )
