"""What happens in an open run: the endpoints."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone
from ninja import Query, Router
from ninja.responses import Status
from pydantic import Field

from sessions_app.api.access import WRITE, ApiRequest
from sessions_app.api.event_schemas import (
    EventIn,
    EventList,
    EventOut,
    EventPatch,
    EventsAdded,
    EventsAndPrompt,
    EventsBody,
    MessageList,
    OneMessage,
    ToolIn,
    events_out,
)
from sessions_app.api.idempotency import idempotent
from sessions_app.api.lookups import find_event, find_run
from sessions_app.api.prompt_schemas import prompt_out
from sessions_app.api.schemas import In
from sessions_app.domain import transcript
from sessions_app.domain.errors import FieldError, InvalidInput, at
from sessions_app.domain.opaque_parts import check_opaque_parts, opaque_text
from sessions_app.domain.open_runs import given_messages
from sessions_app.domain.openai_fields import as_text, content_of
from sessions_app.domain.transcript import EventKind, ToolCall
from sessions_app.models import Run, Session
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import add_events, set_result

router = Router(tags=["runs"])


class EventsQuery(In):
    """Whether to answer with the next prompt."""

    prompt: bool = Field(default=False, description="Build the next prompt behind these events and answer with it.")


@dataclass(frozen=True, slots=True)
class Given:
    """Events of a request, as `add_events` takes them, and where in it they stand."""

    events: Sequence[transcript.Event]
    pointers: Sequence[str]
    under: dict[int, int] = field(default_factory=dict)
    extras: dict[int, Any] = field(default_factory=dict)


@router.post("/runs/{run_id}/events", auth=WRITE, response={201: EventsAndPrompt | EventsAdded}, by_alias=True)
@idempotent
def add(
    request: ApiRequest, run_id: str, payload: EventsBody, query: Query[EventsQuery]
) -> Status[EventsAndPrompt | EventsAdded]:
    """Add to an open run what happened in it: events, or a provider's messages as they came."""
    run = find_run(request, run_id)
    given = _given(payload, run)
    with transaction.atomic():
        rows = add_events(
            run=run,
            events=given.events,
            now=timezone.now(),
            under=given.under,
            extras=given.extras,
            pointers=given.pointers,
        )
        events = events_out(rows)
        if not query.prompt:
            return Status(201, EventsAdded(events=events))
        session = Session.objects.select_related("project").get(pk=run.session_id)
        prompt = prompt_out(session_prompt(session=session))
    return Status(201, EventsAndPrompt(**dict(prompt), events=events))


@router.patch("/events/{event_id}", auth=WRITE, response=EventOut)
@idempotent
def patch_event(request: ApiRequest, event_id: str, payload: EventPatch) -> EventOut:
    """Give a tool call of an open run its result."""
    event = find_event(request, event_id)
    if payload.result is None and payload.error is None:
        detail = "Give the result, the error, or both."
        raise InvalidInput(detail, errors=[FieldError("", detail)])
    result, was_text = _result(payload.result)
    row = set_result(event=event, result=result, was_text=was_text, error=payload.error, now=timezone.now())
    return events_out([row])[0]


def _given(payload: EventIn | EventList | MessageList, run: Run) -> Given:
    if isinstance(payload, MessageList):
        alone = isinstance(payload, OneMessage)
        with at("", instead_of="/messages/0" if alone else ""):
            messages = given_messages(payload.messages)
        pointers = ["" if alone else f"/messages/{number - 1}" for number in messages.numbers]
        return Given(messages.events, pointers, extras=dict(messages.extras))
    given = payload.events if isinstance(payload, EventList) else [payload]
    pointers = [f"/events/{place}" for place in range(len(given))] if isinstance(payload, EventList) else [""]
    events: list[transcript.Event] = []
    under: dict[int, int] = {}
    for place, event in enumerate(given):
        with at(pointers[place]):
            events.append(_event(event))
            if event.parent_id is not None:
                under[place] = _index_of(event.parent_id, run)
    return Given(events, pointers, under)


def _event(given: EventIn) -> transcript.Event:
    _check_shape(given)
    text, parts = given.text, None
    if given.content is not None:
        check_opaque_parts(given.content)
        text, parts = _parts(given)
        text = text or given.text or opaque_text(given.content)
    return transcript.Event(
        kind=given.kind,
        text=text,
        role=given.role,
        content=parts,
        tool=None if given.tool is None else _call(given.tool),
        created_at=given.created_at,
    )


def _check_shape(given: EventIn) -> None:
    needed = {EventKind.MESSAGE: "role", EventKind.TOOL_CALL: "tool"}.get(given.kind)
    for name in ("role", "tool"):
        if (getattr(given, name) is None) == (name == needed):
            detail = f"A {given.kind} {'needs' if name == needed else 'has no'} {name}."
            raise InvalidInput(detail, errors=[FieldError(f"/{name}", detail)])


def _parts(given: EventIn) -> tuple[str, Any]:
    with at("", instead_of="/messages/0"):
        return content_of(1, {"content": given.content})


def _call(tool: ToolIn) -> ToolCall:
    arguments, were_text = as_text(tool.arguments)
    result, was_text = _result(tool.result)
    return ToolCall(tool.call_id, tool.name, arguments, result, tool.error, were_text, was_text)


def _result(value: Any) -> tuple[str | None, bool]:
    return (None, True) if value is None else as_text(value)


def _index_of(parent_id: str, run: Run) -> int:
    for row in run.events.all():
        if row.public_id == parent_id:
            return row.index
    detail = "There is no such event in this run."
    raise InvalidInput(detail, errors=[FieldError("/parent_id", detail)])
