"""Runs: the endpoints."""

from dataclasses import replace
from typing import Any

from django.utils import timezone
from ninja import Query, Router
from ninja.responses import Status
from pydantic import Field

from sessions_app.api.access import READ, WRITE, ApiRequest
from sessions_app.api.idempotency import idempotent
from sessions_app.api.lookups import find_run, find_session
from sessions_app.api.paging import run_cursor, run_cursor_text
from sessions_app.api.run_schemas import RunBatch, RunIn, RunOut, RunPage, RunPatch, RunsAppended, UsageBody, run_out
from sessions_app.api.schemas import PageQuery, Whole
from sessions_app.domain.errors import FieldError, InvalidInput, NotFound, at
from sessions_app.domain.openai_messages import turn
from sessions_app.domain.run_fields import status_told
from sessions_app.domain.transcript import NewRun, RunStatus, Usage
from sessions_app.models import Run, Session, lineage_runs
from sessions_app.models.connections import one_state
from sessions_app.services.runs import append_runs, change_run

router = Router(tags=["runs"])


class RunQuery(PageQuery):
    """Which runs to list, by their positions along the lineage."""

    after: Whole = Field(default=0, description="Only runs behind this position.")
    before: Whole | None = Field(default=None, description="Only runs in front of this position.")


@router.post("/sessions/{session_id}/runs", auth=WRITE, response={201: RunOut})
@idempotent
def append(request: ApiRequest, session_id: str, payload: RunIn) -> Status[RunOut]:
    """Append a run; the server gives the position."""
    session = find_session(request, session_id)
    with at("", instead_of="/runs/0"):
        return Status(201, run_out(_appended(session, [_new_run(payload)])[0]))


@router.post("/sessions/{session_id}/runs/batch", auth=WRITE, response={201: RunsAppended})
@idempotent
def append_batch(request: ApiRequest, session_id: str, payload: RunBatch) -> Status[RunsAppended]:
    """Append up to 1,000 runs, all or none."""
    session = find_session(request, session_id)
    turns: list[NewRun] = []
    for place, run in enumerate(payload.runs):
        with at(f"/runs/{place}"):
            turns.append(_new_run(run))
    return Status(201, RunsAppended(runs=[run_out(run) for run in _appended(session, turns)]))


@router.get("/sessions/{session_id}/runs", auth=READ, response=RunPage)
@one_state()
def list_runs(request: ApiRequest, session_id: str, query: Query[RunQuery]) -> RunPage:
    """List the runs of a session's lineage in order."""
    session = find_session(request, session_id)
    first = max(query.after, run_cursor(query.cursor)) + 1
    last = session.last_position if query.before is None else min(session.last_position, query.before - 1)
    until = min(last, first + query.limit - 1)
    runs = lineage_runs(session, first=first, last=until).with_events().select_related("session").order_by("position")
    items = [run_out(run) for run in runs]
    return RunPage(items=items, next_cursor=run_cursor_text(until) if until < last else None)


@router.get("/runs/{run_id}", auth=READ, response=RunOut)
def get_run(request: ApiRequest, run_id: str) -> RunOut:
    """Get a run."""
    return run_out(find_run(request, run_id))


@router.patch("/runs/{run_id}", auth=WRITE, response=RunOut)
@idempotent
def patch_run(request: ApiRequest, run_id: str, payload: RunPatch) -> RunOut:
    """Complete, fail or cancel an open run, or note something about it. A run that has ended never changes."""
    run = find_run(request, run_id)
    changes = payload.model_dump(exclude_unset=True, exclude_none=True, exclude={"usage"})
    change_run(run=run, usage=_usage(payload.usage), now=timezone.now(), **changes)
    return run_out(find_run(request, run_id))


def _appended(session: Session, turns: list[NewRun]) -> list[Run]:
    rows = append_runs(session=session, runs=turns, now=timezone.now())
    stored = Run.objects.with_events().select_related("session").in_bulk([row.pk for row in rows])
    if len(stored) < len(rows):
        raise NotFound("The session was deleted right after the runs were stored.")
    return [stored[row.pk] for row in rows]


def _new_run(payload: RunIn) -> NewRun:
    said = turn(_messages(payload))
    return replace(
        said,
        run_id=payload.id,
        status=status_told(payload.status, payload.error) or RunStatus.COMPLETED,
        model=payload.model,
        usage=_usage(payload.usage),
        finish_reason=payload.finish_reason,
        error=payload.error,
        prompt_fingerprint=payload.prompt_fingerprint,
        metadata=payload.metadata,
        created_at=payload.created_at or said.created_at,
    )


def _messages(payload: RunIn) -> list[dict[str, Any]]:
    sides = [("user", payload.input), ("assistant", payload.output)]
    said = [{"role": role, "content": content} for role, content in sides if content is not None]
    if payload.messages is not None and not said:
        return payload.messages
    if payload.messages is None and said:
        return said
    detail = "A run has either messages, or an input, an output, or both of these."
    raise InvalidInput(detail, errors=[FieldError("", detail)])


def _usage(usage: UsageBody | None) -> Usage | None:
    return None if usage is None else Usage(**usage.model_dump())
