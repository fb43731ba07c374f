"""What a conversation consists of, as frozen values, and the protocol through which prompts read it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


class RunStatus(StrEnum):
    """The states of a run; the last three are final."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        """Whether the run is still being answered."""
        return self in OPEN_STATUSES


OPEN_STATUSES = (RunStatus.PENDING, RunStatus.RUNNING)


class EventKind(StrEnum):
    """What an event inside a run is."""

    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    REASONING = "reasoning"
    NOTE = "note"


# Events that are neither said nor done and that most prompts leave out.
OTHER_KINDS = (EventKind.NOTE, EventKind.REASONING)


class Role(StrEnum):
    """Who speaks in a message event."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool and its result, both as text exactly as given; `result` is None while there is none."""

    call_id: str
    name: str
    arguments: str
    result: str | None = None
    error: str | None = None
    arguments_were_text: bool = True
    result_was_text: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """One thing inside a run.

    `content` holds the parts of a message that was given in parts (else None) and `text` their text. `parent` is
    the index, in the run, of the assistant message that made this tool call. `tokens` is what the event would need
    in a prompt by itself, in o200k_base, frames included. `created_at` is the time its source gave it, if any.
    """

    kind: EventKind
    text: str = ""
    role: Role | None = None
    content: tuple[Mapping[str, object], ...] | None = None
    tool: ToolCall | None = None
    parent: int | None = None
    tokens: int = 0
    created_at: datetime | None = None


def other_kinds(events: Iterable[Event]) -> frozenset[EventKind]:
    """Return which of OTHER_KINDS are among a run's events."""
    return frozenset(event.kind for event in events if event.kind in OTHER_KINDS)


@dataclass(frozen=True, slots=True)
class Run:
    """One turn at its lineage position (1..n).

    `tokens` is what it needs in a prompt in o200k_base: exactly, once it has ended; until then the sum of its events.
    `prompt_fingerprint` is that of the prompt that it was made with, empty where not known.
    """

    position: int
    status: RunStatus
    events: tuple[Event, ...]
    error: str = ""
    tokens: int = 0
    prompt_fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class LikeRuns:
    """The neighbouring finished runs first..last, which have the same status and the same OTHER_KINDS of events."""

    first: int
    last: int
    status: RunStatus
    other_kinds: frozenset[EventKind]


@dataclass(frozen=True, slots=True)
class WeighedRuns:
    """The newest finished runs that fit by the tokens stored with them: those from `first` on need `tokens` together.

    `first_out` is what the run before them needs if it does not fit, None if there is no candidate left. `peculiar`
    are, oldest first, those of them that did not complete or hold events of OTHER_KINDS.
    """

    first: int
    tokens: int
    first_out: int | None
    peculiar: tuple[LikeRuns, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider reported them for one run."""

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be stored; its position is given by the store.

    `extras` are what its messages say beyond events, by the index of an event (`domain.openai_messages`). `tokens` are
    counted when it is checked. Times are None where the source has none.
    """

    events: tuple[Event, ...]
    status: RunStatus = RunStatus.COMPLETED
    run_id: str | None = None
    model: str = ""
    usage: Usage | None = None
    finish_reason: str = ""
    error: str = ""
    prompt_fingerprint: str = ""
    metadata: Mapping[str, object] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SummaryEntry:
    """An entry of the ledger: `text` covers the runs 1..`covers_through` of the lineage."""

    summary_id: str
    number: int
    covers_through: int
    text: str


@dataclass(frozen=True, slots=True)
class ParentContext:
    """What a parent conversation hands down: its title and its summary in use."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class RunInput:
    """A run with the user messages of its input alone; `is_all` says that there is nothing else in it."""

    run: Run
    is_all: bool


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """A message's run and which it is there, counted from the run's newest message, 1."""

    position: int
    messages: int


class TranscriptReader(Protocol):
    """Reads one session's lineage for a prompt; each method costs what it returns, whatever the session's length."""

    @property
    def instructions(self) -> str:
        """The session's system prompt, maybe empty."""
        ...

    @property
    def finished_through(self) -> int:
        """The position of the newest finished run; 0 if there is none."""
        ...

    def open_run(self) -> Run | None:
        """The newest run while it is pending or running."""
        ...

    def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[Run]:
        """Finished runs p with not_below <= p < position, newest first: as many as fit `tokens`, and one more."""
        ...

    def weigh(self, *, not_below: int, tokens: int) -> WeighedRuns:
        """The finished runs p >= not_below, newest first, as many as fit `tokens` by what is stored with them.

        It reads a constant number of rows for each session of the lineage, and one or two for each stretch of runs that
        are peculiar in the same way.
        """
        ...

    def tokens_between(self, first: int, last: int) -> int:
        """What is stored as the tokens of the runs first..last, from sums; 0 if there are none."""

    def newest_answered(self, *, not_below: int) -> Run | None:
        """The newest finished run p >= not_below in which the assistant said anything."""
        ...

    def first_input(self, *, not_below: int) -> RunInput | None:
        """The input of the first finished run p >= not_below that has one."""
        ...

    def oldest_question(self, *, among: int, not_below: int) -> MessagePlace | None:
        """The oldest user message among the newest `among` messages of the finished runs p >= not_below."""
        ...

    def newest_summary(self, covers_at_most: int) -> SummaryEntry | None:
        """The newest entry in use that covers at most the runs 1..`covers_at_most`."""
        ...

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parents, root first; parents without a summary are left out."""
        ...

    def as_of(self, turn: int) -> "TranscriptReader":
        """What there was when run `turn` was made: the runs before it, and the summaries that had been made.

        Its open run is that run with its input alone.
        """
        ...
