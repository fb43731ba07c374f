"""Writing runs and their events: new ones in bulk, and what a run that is there has more."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F

from sessions_app.domain import transcript
from sessions_app.domain.errors import FieldError, IdTaken
from sessions_app.domain.open_runs import Continuation
from sessions_app.domain.run_tokens import run_tokens
from sessions_app.domain.tokens import STORED_COUNTER, TokenCounter
from sessions_app.domain.transcript import NewRun, RunStatus
from sessions_app.models import Event, Run, Session
from sessions_app.models.identifiers import new_run_id
from sessions_app.models.search_index import index_events

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
        taken = set(known.values_list("public_id", flat=True))
        errors = [
            FieldError(f"/runs/{place}/id", f"A run with the id {row.public_id} exists already.")
            for place, row in enumerate(rows)
            if row.public_id in taken
        ]
        if not errors:
            raise
        raise IdTaken(" ".join(error.detail for error in errors), errors=errors) from None


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
    """Write the rows, all of one project, in two steps, so that those with a parent know its key; and index them."""
    pairs = list(placed)
    Event.objects.bulk_create(row for row, parent in pairs if parent is None)
    for row, parent in pairs:
        row.parent = parent
    Event.objects.bulk_create(row for row, parent in pairs if parent is not None)
    if pairs:
        index_events((row for row, _ in pairs), project_pk=pairs[0][0].run.project_id)


def continue_run(*, run: Run, rows: Sequence[Event], more: Continuation, now: datetime) -> list[Event]:
    """Store what a session's newest run has more than its rows; return all of them."""
    rows = list(rows)
    for index in more.changed:
        rows[index] = _rewritten(rows[index], more.events[index])
        rows[index].save(force_update=True)
    index_events((rows[index] for index in more.changed), project_pk=run.project_id)
    placed = place_events(run=run, events=more.new, now=now, earlier=rows)
    insert_events(placed)
    store_tokens(run=run, events=more.events, now=now)
    return [*rows, *(row for row, _ in placed)]


def store_tokens(
    *, run: Run, events: Sequence[transcript.Event], now: datetime, counter: TokenCounter = STORED_COUNTER
) -> None:
    """Store what a session's newest run needs with these events, as changed at `now`; the session's sum moves with it.

    There is no later run, so that no other sum has this one in it.
    """
    value = transcript.Run(run.position, RunStatus(run.status), tuple(events), run.error)
    tokens = run_tokens(value, counter)
    gained = tokens - run.tokens_o200k
    Run.objects.filter(pk=run.pk).update(tokens_o200k=tokens, other_kinds=_other_kinds(events), touched_at=now)
    Session.objects.filter(pk=run.session_id).update(tokens_o200k=F("tokens_o200k") + gained)
    run.tokens_o200k = tokens


def _rewritten(row: Event, event: transcript.Event) -> Event:
    return Event.from_value(
        event, pk=row.pk, run_id=row.run_id, index=row.index, parent_id=row.parent_id, created_at=row.created_at
    )


def _other_kinds(events: Iterable[transcript.Event]) -> str:
    return " ".join(sorted(transcript.other_kinds(events)))


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
        extras=run.extras,
        other_kinds=_other_kinds(run.events),
        tokens_o200k=run.tokens,
        created_at=created_at,
        touched_at=now,
        completed_at=None if run.status.is_open else created_at,
    )
