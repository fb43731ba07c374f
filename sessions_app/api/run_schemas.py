"""Runs as bots send and get them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from sessions_app.api.event_schemas import ChatMessage, EventOut, events_out
from sessions_app.api.schemas import Count, In, JsonObject, Out, PublicId, Time
from sessions_app.domain.run_fields import LONGEST
from sessions_app.domain.transcript import Role, RunStatus
from sessions_app.models import Run

MOST_RUNS = 1_000

Content = str | list[JsonObject]
ModelName = Annotated[str, Field(max_length=LONGEST["model"])]
FinishReason = Annotated[str, Field(max_length=LONGEST["finish_reason"])]
Fingerprint = Annotated[str, Field(max_length=LONGEST["prompt_fingerprint"])]


class UsageBody(In):
    """Tokens as the provider reported them."""

    input: Count = 0
    cached: Count = 0
    output: Count = 0
    reasoning: Count = 0


class RunIn(In):
    """One turn: `input` and `output`, or the same as OpenAI chat `messages`."""

    input: Content | None = Field(default=None, description="What the user said.")
    output: Content | None = Field(default=None, description="What the assistant answered.")
    messages: list[ChatMessage] | None = Field(default=None, description="Instead of input and output.", min_length=1)
    id: PublicId | None = Field(default=None, description="Generated if it is left out.")
    status: RunStatus | None = Field(
        default=None, description="pending or running opens the run. Without it: completed, or failed with an `error`."
    )
    model: ModelName = ""
    usage: UsageBody | None = None
    finish_reason: FinishReason = ""
    error: str = Field(default="", description="Why it failed or was cancelled.")
    prompt_fingerprint: Fingerprint = Field(default="", description="`fingerprint` of the prompt it answered.")
    metadata: JsonObject = {}
    created_at: Time | None = None


class RunBatch(In):
    """Several turns, stored all together or not at all; only the last may be open."""

    runs: list[RunIn] = Field(min_length=1, max_length=MOST_RUNS)


class RunPatch(In):
    """How an open run goes on. Without a status, `error` fails it, and otherwise `output` completes it."""

    status: RunStatus | None = None
    output: str | None = Field(default=None, description="The final answer; it replaces the half of it that was there.")
    error: str = Field(default="", description="Why it failed or was cancelled.")
    model: ModelName | None = None
    usage: UsageBody | None = None
    finish_reason: FinishReason | None = None
    prompt_fingerprint: Fingerprint | None = None
    metadata: JsonObject | None = Field(default=None, description="Added to what is there.")


class UsageOut(Out):
    """Tokens as the provider reported them."""

    input: int
    cached: int
    output: int
    reasoning: int


class RunOut(Out):
    """A turn; `session_id` is the session that holds it, which for a shared run is an ancestor."""

    id: str
    session_id: str
    position: int
    status: RunStatus
    input: str | None
    output: str | None
    events: list[EventOut]
    model: str
    usage: UsageOut | None
    finish_reason: str
    error: str
    prompt_fingerprint: str
    metadata: JsonObject
    tokens: int
    created_at: datetime
    completed_at: datetime | None


class RunPage(Out):
    """A page of runs."""

    items: list[RunOut]
    next_cursor: str | None


class RunsAppended(Out):
    """The runs of a batch."""

    runs: list[RunOut]


def run_out(run: Run) -> RunOut:
    """Return a run, whose events are fetched in order, as an answer."""
    events = list(run.events.all())
    return RunOut(
        id=run.public_id,
        session_id=run.session.public_id,
        position=run.position,
        status=RunStatus(run.status),
        input=_joined([event.text for event in events if event.role == Role.USER]),
        output=_joined([event.text for event in events if event.role == Role.ASSISTANT][-1:]),
        events=events_out(events),
        model=run.model,
        usage=None if run.usage is None else UsageOut(**run.usage),
        finish_reason=run.finish_reason,
        error=run.error,
        prompt_fingerprint=run.prompt_fingerprint,
        metadata=run.metadata,
        tokens=run.tokens_o200k,
        created_at=run.created_at,
        completed_at=run.completed_at,
    )


def _joined(texts: Sequence[str]) -> str | None:
    return "\n".join(texts) if texts else None
