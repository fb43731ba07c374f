"""Appending runs to sessions, and what happens to an open run until it ends."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings as configuration
from django.db import transaction
from django.db.models import F

from sessions_app.domain import transcript
from sessions_app.domain.errors import Conflict, FieldError, IdTaken, InvalidInput, RunHasEnded, RunIsOpen, at
from sessions_app.domain.open_runs import Continuation, go_on, with_output, with_result
from sessions_app.domain.run_fields import check_event, check_length, check_new_run, status_told
from sessions_app.domain.run_tokens import run_tokens
from sessions_app.domain.text_cleaning import clean_json, clean_text
from sessions_app.domain.tokens import RememberingCounter
from sessions_app.domain.transcript import NewRun, RunStatus, Usage
from sessions_app.models import Event, Run, Session, event_values
from sessions_app.services.run_rows import (
    continue_run,
    insert_events,
    insert_runs,
    place_events,
    run_rows,
    store_tokens,
)
from sessions_app.services.wishes import lock_for_change

INTERRUPTED = "interrupted"


def append_runs(*, session: Session, runs: Sequence[NewRun], now: datetime) -> list[Run]:
    """Append runs behind the session's newest, all or none; only the last may be open.

    Texts are cleaned and tokens counted before the transaction, whose work does not grow with the session.
    """
    prepared = [_checked(place, run) for place, run in enumerate(runs)]
    _check_together(prepared)
    with transaction.atomic():
        stored = _closed(lock_for_change(session=session, now=now), now)
        rows = run_rows(session=stored, runs=prepared, now=now)
        Session.objects.filter(pk=stored.pk).update(
            last_position=F("last_position") + len(rows),
            tokens_o200k=F("tokens_o200k") + sum(row.tokens_o200k for row in rows),
            **({"newest_model": rows[-1].model} if rows else {}),
        )
        insert_runs(rows)
        placed = [
            place_events(run=row, events=run.events, now=row.created_at)
            for row, run in zip(rows, prepared, strict=True)
        ]
        insert_events(pair for pairs in placed for pair in pairs)
    return rows


def add_events(
    *,
    run: Run,
    events: Sequence[transcript.Event],
    now: datetime,
    under: Mapping[int, int] | None = None,
    extras: Mapping[int, Mapping[str, Any]] | None = None,
    pointers: Sequence[str] = (),
) -> list[Event]:
    """Add events to an open run and return, for each, its row or that of the call it answers.

    The parents in `events` count the given ones; `under` maps the place of a given event to the index in the run of an
    earlier one that is its parent. `extras`, by place, are kept as the run's. `pointers` say where the events stand in
    what was sent.
    """
    weighed = [check_event(event) for event in events]
    with transaction.atomic():
        stored, rows = _lock_open(run, now)
        more = go_on(event_values(rows), weighed, under=under, pointers=pointers)
        rows = continue_run(run=stored, rows=rows, more=more, now=now)
        if extras:
            _keep_extras(stored, {more.places[place]: extra for place, extra in extras.items()})
    return [rows[place] for place in more.places]


def set_result(
    *, event: Event, now: datetime, result: str | None = None, was_text: bool = True, error: str | None = None
) -> Event:
    """Give a tool call of an open run its result, its error, or both."""
    with transaction.atomic():
        stored, rows = _lock_open(event.run, now)
        values = list(event_values(rows))
        values[event.index] = with_result(values[event.index], result=result, was_text=was_text, error=error)
        answered = Continuation(tuple(values), len(values), frozenset({event.index}), ())
        return continue_run(run=stored, rows=rows, more=answered, now=now)[event.index]


def change_run(
    *,
    run: Run,
    status: RunStatus | None = None,
    now: datetime,
    output: str | None = None,
    error: str = "",
    model: str | None = None,
    usage: Usage | None = None,
    finish_reason: str | None = None,
    prompt_fingerprint: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Run:
    """Change an open run, usually to end it; None leaves a field as it is. A run that has ended is refused.

    Without a status, an error fails the run and otherwise an output completes it.
    """
    told = status_told(status, error) or (RunStatus.COMPLETED if output is not None else None)
    short = {"model": model, "finish_reason": finish_reason, "prompt_fingerprint": prompt_fingerprint}
    changes: dict[str, Any] = {name: check_length(name, text) for name, text in short.items() if text is not None}
    if usage is not None:
        changes["usage"] = asdict(usage)
    # Counted before the lock, so that under it only what has come since is.
    counter = RememberingCounter()
    run_tokens(replace(run.to_value(), status=told or RunStatus(run.status)), counter)
    with transaction.atomic():
        stored, rows = _lock_open(run, now)
        if output is not None:
            rows = continue_run(run=stored, rows=rows, more=with_output(event_values(rows), output), now=now)
        if metadata is not None:
            changes["metadata"] = {**stored.metadata, **clean_json(metadata)}
        status = _moved(stored, told)
        stored.status, stored.error = status, clean_text(error)
        ended = None if status.is_open else now
        Run.objects.filter(pk=run.pk).update(status=status, error=stored.error, completed_at=ended, **changes)
        store_tokens(run=stored, events=event_values(rows), now=now, counter=counter)
        if model is not None:
            # An open run is always the newest of its session.
            Session.objects.filter(pk=stored.session_id).update(newest_model=changes["model"])
        return Run.objects.get(pk=run.pk)


def _moved(run: Run, told: RunStatus | None) -> RunStatus:
    """Return the state of an open, locked run that is told to become another; it only goes forward."""
    if told is RunStatus.PENDING and run.status == RunStatus.RUNNING:
        raise Conflict(f"Run {run.public_id} is running already and cannot become pending again.")
    return told or RunStatus(run.status)


def close_interrupted_runs(*, now: datetime) -> int:
    """Fail the open runs that nobody has touched for the configured time; return how many there were."""
    stale = Run.objects.unfinished().filter(touched_at__lt=_untouched_since(now)).select_related("session")
    return sum(_interrupt(run, now) for run in stale)


def _checked(place: int, run: NewRun) -> NewRun:
    with at(f"/runs/{place}"):
        return check_new_run(run)


def _check_together(runs: Sequence[NewRun]) -> None:
    detail = "Only the last of several runs may be open."
    errors = [FieldError(f"/runs/{place}/status", detail) for place, run in enumerate(runs[:-1]) if run.status.is_open]
    if errors:
        raise InvalidInput(detail, errors=errors)
    given = Counter(run.run_id for run in runs)
    detail = "Two of these runs have the same id."
    errors = [
        FieldError(f"/runs/{place}/id", detail)
        for place, run in enumerate(runs)
        if run.run_id and given[run.run_id] > 1
    ]
    if errors:
        raise IdTaken(detail, errors=errors)


def _closed(session: Session, now: datetime) -> Session:
    """Return the session without an open run: one that nobody touches any more is ended, any other is named."""
    newest = Run.objects.unfinished().filter(session=session).order_by("position").last()
    if newest is None:
        return session
    if newest.touched_at < _untouched_since(now) and _interrupt(newest, now):
        return lock_for_change(session=session, now=now)
    raise RunIsOpen(
        f"Run {newest.public_id} of session {session.public_id} is {newest.status}; finish it before appending."
    )


def _interrupt(run: Run, now: datetime) -> bool:
    with transaction.atomic():
        lock_for_change(session=run.session, now=now)
        stale = Run.objects.unfinished().filter(pk=run.pk, touched_at__lt=_untouched_since(now))
        if not stale.update(status=RunStatus.FAILED, error=INTERRUPTED, completed_at=now):
            return False
        ended = Run.objects.with_events().get(pk=run.pk)
        store_tokens(run=ended, events=ended.to_value().events, now=now)
    return True


def _untouched_since(now: datetime) -> datetime:
    return now - timedelta(seconds=configuration.CONVOWEB_RUN_TIMEOUT)


def _lock_open(run: Run, now: datetime) -> tuple[Run, list[Event]]:
    """Lock a run's tree and return the run with its events, unless it has ended."""
    session = lock_for_change(session=run.session, now=now)
    stored = Run.objects.get(pk=run.pk)
    if not RunStatus(stored.status).is_open:
        raise RunHasEnded(
            f"Run {stored.public_id} has ended ({stored.status}) and is immutable. Changing history is a fork: "
            f"POST /sessions/{session.public_id}/fork with at = {stored.position - 1} starts one in front of it."
        )
    return stored, list(stored.events.order_by("index"))


def _keep_extras(run: Run, extras: Mapping[int, Mapping[str, Any]]) -> None:
    for index, extra in extras.items():
        run.extras[str(index)] = {**run.extras.get(str(index), {}), **clean_json(extra)}
    run.save(update_fields=["extras"])
