"""Events as bots send and get them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from sessions_app.api.parsing import read
from sessions_app.api.prompt_schemas import PromptOut
from sessions_app.api.schemas import In, JsonObject, Out, Time
from sessions_app.domain import transcript
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.openai_fields import MESSAGE_ROLES, RESULT_ROLES
from sessions_app.domain.transcript import EventKind, Role
from sessions_app.models import Event, event_values

MOST_EVENTS = 1_000

_MESSAGE_SCHEMA = {
    "type": "object",
    "description": "A message as in OpenAI's chat completions, as it came from or went to the provider.",
    "properties": {"role": {"enum": [*MESSAGE_ROLES, *RESULT_ROLES]}},
    "required": ["role"],
    "additionalProperties": True,
}
ChatMessage = Annotated[dict[str, Any], WithJsonSchema(_MESSAGE_SCHEMA)]


class ToolIn(In):
    """A tool call; its result may follow later."""

    call_id: str = ""
    name: str
    arguments: str | JsonObject = Field(default="", description="As the model wrote them.")
    result: Any = None
    error: str | None = None


class EventIn(In):
    """One thing that happened in an open run."""

    kind: EventKind
    role: Role | None = Field(default=None, description="Of a message.")
    text: str = ""
    content: list[JsonObject] | None = Field(
        default=None,
        description="The parts of a message, instead of its text. Of reasoning: what the provider wrote, as "
        '`{"type": "opaque", "format": "anthropic", "part": {...}}`; it is sent back in that format alone.',
    )
    tool: ToolIn | None = None
    parent_id: str | None = Field(
        default=None, description="The assistant message that made the call; else the newest."
    )
    created_at: Time | None = None


class EventList(In):
    """Several events."""

    events: list[EventIn] = Field(min_length=1, max_length=MOST_EVENTS)


class MessageList(In):
    """Several chat messages."""

    messages: list[ChatMessage] = Field(min_length=1, max_length=MOST_EVENTS)


class OneMessage(MessageList):
    """A chat message that was sent by itself, so that its fields stand at the root of the body."""


class EventPatch(In):
    """The result of a tool call, its error, or both."""

    result: Any = None
    error: str | None = None


def _choose(value: Any) -> Any:
    """Return a body as that of the accepted shapes which its fields point to."""
    fields = value if isinstance(value, dict) else {}
    if "events" in fields:
        return read(EventList, value)
    if "messages" in fields:
        return read(MessageList, value)
    if "kind" in fields:
        return read(EventIn, value)
    if "role" in fields:
        return OneMessage(messages=[value])
    raise InvalidInput("Send an event, a chat message, or several of a sort as `events` or `messages`.")


EventsBody = Annotated[
    EventIn | EventList | MessageList,
    PlainValidator(_choose, json_schema_input_type=EventIn | ChatMessage | EventList | MessageList),
]


class ToolOut(Out):
    """A tool call and its result, as text."""

    call_id: str
    name: str
    arguments: str
    result: str | None
    error: str | None


class EventOut(Out):
    """One thing inside a run."""

    id: str
    kind: EventKind
    role: Role | None
    text: str
    content: list[JsonObject] | None
    tool: ToolOut | None
    parent_id: str | None
    tokens: int
    created_at: datetime


class EventsAdded(Out):
    """The events that were added or, for results, answered."""

    events: list[EventOut]


class EventsAndPrompt(PromptOut):
    """The next prompt, and the events that were added before it was built."""

    events: list[EventOut]


def events_out(rows: Sequence[Event]) -> list[EventOut]:
    """Return events as answers."""
    return [_event_out(row, event) for row, event in zip(rows, event_values(rows), strict=True)]


def _event_out(row: Event, event: transcript.Event) -> EventOut:
    tool = event.tool
    return EventOut(
        id=row.public_id,
        kind=event.kind,
        role=event.role,
        text=event.text,
        content=None if event.content is None else [dict(part) for part in event.content],
        tool=None if tool is None else ToolOut.model_validate(tool),
        parent_id=None if row.parent_id is None else f"evt_{row.parent_id}",
        tokens=row.tokens_o200k,
        created_at=row.created_at,
    )
