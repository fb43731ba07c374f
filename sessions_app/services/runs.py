"""Appending runs to sessions, and what happens to an open run until it ends."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings as configuration
from django.db import IntegrityError, transaction
from django.db.models import F

from sessions_app.domain import transcript
from sessions_app.domain.errors import FieldError, IdTaken, InvalidInput, RunIsOpen
from sessions_app.domain.run_fields import check_new_run
from sessions_app.domain.transcript import NewRun, RunStatus
from sessions_app.models import Event, Run, Session
from sessions_app.models.identifiers import new_run_id
from sessions_app.services.trees import lock_tree

INTERRUPTED = "interrupted"


def append_runs(*, session: Session, runs: Sequence[NewRun], now: datetime) -> list[Run]:
    """Append runs behind the session's newest, all or none, and ask for a summary; only the last may be open.

    Texts are cleaned and tokens counted before the transaction, whose work does not grow with the session.
    """
    prepared = [check_new_run(run) for run in runs]
    _check_together(prepared)
    weights = [sum(event.tokens for event in run.events) for run in prepared]
    with transaction.atomic():
        stored = lock_tree(session=session, now=now)
        _check_closed(stored, now)
        Session.objects.filter(pk=stored.pk).update(
            last_position=F("last_position") + len(prepared),
            tokens_o200k=F("tokens_o200k") + sum(weights),
            updated_at=now,
            summary_wanted_at=now,
        )
        rows = _run_rows(stored, prepared, weights, now)
        _insert_runs(rows)
        insert_events(
            placed
            for row, run in zip(rows, prepared, strict=True)
            for placed in place_events(run=row, events=run.events, now=row.created_at)
        )
    return rows


def place_events(
    *, run: Run, events: Sequence[transcript.Event], now: datetime, earlier: Sequence[Event] = ()
) -> list[tuple[Event, Event | None]]:
    """Return unsaved rows for events behind the `earlier` ones of their run, each with the row of its parent."""
    rows = list(earlier)
    for event in events:
        rows.append(Event.from_value(event, run=run, index=len(rows), created_at=now))
    new = rows[len(earlier) :]
    return [(row, None if event.parent is None else rows[event.parent]) for row, event in zip(new, events, strict=True)]


def insert_events(placed: Iterable[tuple[Event, Event | None]]) -> None:
    """Insert rows in two steps, so that those with a parent know its key."""
    pairs = list(placed)
    Event.objects.bulk_create(row for row, parent in pairs if parent is None)
    for row, parent in pairs:
        row.parent = parent
    Event.objects.bulk_create(row for row, parent in pairs if parent is not None)


def _check_together(runs: Sequence[NewRun]) -> None:
    if any(run.status.is_open for run in runs[:-1]):
        raise InvalidInput("Only the last of several runs may be open.")
    given = [run.run_id for run in runs if run.run_id is not None]
    if len(given) != len(set(given)):
        raise IdTaken("Two of these runs have the same id.", errors=[FieldError("/id", "This id is taken.")])


def _check_closed(session: Session, now: datetime) -> None:
    newest = Run.objects.unfinished().filter(session=session).first()
    if newest is not None:
        raise RunIsOpen(
            f"Run {newest.public_id} of session {session.public_id} is {newest.status}; finish it before appending."
        )


def _run_rows(session: Session, runs: Sequence[NewRun], weights: Sequence[int], now: datetime) -> list[Run]:
    rows = []
    before = session.lineage_tokens
    for place, (run, weight) in enumerate(zip(runs, weights, strict=True), start=session.last_position + 1):
        created_at = run.created_at or now
        rows.append(
            Run(
                project_id=session.project_id,
                session=session,
                position=place,
                public_id=run.run_id or new_run_id(),
                status=run.status,
                model=run.model,
                usage=None if run.usage is None else asdict(run.usage),
                finish_reason=run.finish_reason,
                error=run.error,
                prompt_fingerprint=run.prompt_fingerprint,
                metadata=run.metadata,
                tokens_o200k=weight,
                tokens_before_o200k=before,
                created_at=created_at,
                touched_at=now,
                completed_at=None if run.status.is_open else created_at,
            )
        )
        before += weight
    return rows


def _insert_runs(rows: Sequence[Run]) -> None:
    """Write the rows; the unique constraint decides about ids, since another request may choose the same meanwhile."""
    try:
        with transaction.atomic():
            Run.objects.bulk_create(rows)
    except IntegrityError:
        ids = [row.public_id for row in rows]
        taken = Run.objects.filter(project=rows[0].project_id, public_id__in=ids).values_list("public_id", flat=True)
        raise IdTaken(
            f"A run with the id {', '.join(taken)} exists already.", errors=[FieldError("/id", "This id is taken.")]
        ) from None
