"""Sessions as bots send and get them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from sessions_app.api.schemas import Count, In, JsonObject, Out, PageQuery, PublicId, Time
from sessions_app.api.setting_schemas import Note, SparseSettings
from sessions_app.domain.session_fields import LONGEST, LONGEST_TAG, MOST_TAGS
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Session, Summary
from sessions_app.queries.session_listing import ORDERS

LONGEST_WORDS = 500
MOST_FILTERS = 10

Title = Annotated[str, Field(max_length=LONGEST["title"])]
UserId = Annotated[str, Field(max_length=LONGEST["user_id"])]
Tag = Annotated[str, Field(min_length=1, max_length=LONGEST_TAG)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS)]


class SessionPatch(In):
    """A JSON merge patch (RFC 7396): what is named changes, null empties it."""

    title: Title | None = None
    instructions: str | None = Field(default=None, description="The system prompt.")
    user_id: UserId | None = Field(default=None, description="Whose conversation it is.")
    tags: Tags | None = None
    metadata: JsonObject | None = None
    settings: SparseSettings | None = Field(default=None, description="Memory settings that differ from the project's.")

    def given(self) -> dict[str, Any]:
        """Return what the request names."""
        return self.model_dump(exclude_unset=True)


class SessionChange(SessionPatch):
    """A merge patch, and why the settings change."""

    note: Note = ""

    def given(self) -> dict[str, Any]:
        """Return what of the session the request names."""
        return self.model_dump(exclude_unset=True, exclude={"note"})


class SessionPut(SessionPatch):
    """What a session is created with."""

    parent_id: str | None = None
    forked_at: Count | None = Field(default=None, description="Makes it a fork of its parent behind this position.")


class SessionIn(SessionPut):
    """A new session."""

    id: PublicId | None = Field(default=None, description="Generated if it is left out.")


class ForkIn(In):
    """Where and as what to fork."""

    at: Count = Field(description="The last position that is shared; 0 shares none.")
    id: PublicId | None = None
    title: Title | None = Field(default=None, description="The session's own title if it is left out.")


class SummaryInUse(Out):
    """The summary in use, in short."""

    id: str
    covers_through: int
    tokens: int


class SessionOut(Out):
    """A session; counts and tokens go along its lineage."""

    id: str
    title: str
    parent_id: str | None
    forked_at: int | None
    instructions: str
    user_id: str
    tags: list[str]
    metadata: JsonObject
    settings: JsonObject
    run_count: int = Field(description="The last position of its lineage.")
    own_run_count: int = Field(description="The runs it does not share with its parent.")
    tokens: int = Field(description="Upper bound of its lineage in o200k_base.")
    summary: SummaryInUse | None
    created_at: datetime
    updated_at: datetime


class SessionPage(Out):
    """A page of sessions."""

    items: list[SessionOut]
    next_cursor: str | None


class SessionNode(Out):
    """A session in its tree."""

    id: str
    title: str
    parent_id: str | None
    forked_at: int | None
    depth: int
    run_count: int
    own_run_count: int
    tokens: int
    updated_at: datetime


class SessionTree(Out):
    """A whole tree, nearest to the root first; `truncated` if there are more nodes than are listed."""

    items: list[SessionNode]
    truncated: bool


class SessionQuery(PageQuery):
    """Which sessions to list, in which order. `metadata.KEY=value` filters by a name in the metadata."""

    prefix: str = Field(default="", max_length=LONGEST_WORDS, description="The beginning of the id.")
    q: str = Field(
        default="",
        description="Words of the title and the id, or of one message or tool call of the session's own runs; "
        "words in quotation marks stand in a row.",
    )
    user_id: str = ""
    tag: list[str] = Field(default=[], max_length=MOST_FILTERS, description="All that are named are asked for.")
    parent_id: str = ""
    roots: bool = Field(default=False, description="Only sessions without a parent.")
    since: Time | None = Field(default=None, description="Changed at this time or later.")
    until: Time | None = Field(default=None, description="Changed before this time.")
    status: Literal[tuple(RunStatus)] | None = Field(  # type: ignore[valid-type]
        default=None, description="The state of the newest run of its own."
    )
    model: str = Field(default="", description="The model of the newest run of its own.")
    has_children: bool = Field(default=False, description="Only sessions with children or forks.")
    has_lost_runs: bool = Field(default=False, description="Only sessions whose next prompt loses runs.")
    has_cut_results: bool = Field(
        default=False, description="Only sessions whose next prompt cuts tool results or leaves them out."
    )
    has_own_settings: bool = Field(default=False, description="Only sessions with memory settings of their own.")
    sort: Literal[tuple(ORDERS)] = "-updated_at"  # type: ignore[valid-type]


class ChildrenQuery(In):
    """What becomes of the children of a deleted session."""

    children: Literal["refuse", "delete", "reparent"] = "refuse"


def session_out(session: Session) -> SessionOut:
    """Return a session as an answer."""
    return SessionOut(
        id=session.public_id,
        title=session.title,
        parent_id=session.parent.public_id if session.parent else None,
        forked_at=session.forked_at,
        instructions=session.instructions,
        user_id=session.user_id,
        tags=[tag.name for tag in session.tags.all()],
        metadata=session.metadata,
        settings=session.settings,
        run_count=session.last_position,
        own_run_count=session.own_run_count,
        tokens=session.lineage_tokens,
        summary=_summary_in_use(session.summary),
        created_at=session.created_at,
        updated_at=session.updated_at,
    )


def session_node(session: Session) -> SessionNode:
    """Return a session as a node of its tree."""
    return SessionNode(
        id=session.public_id,
        title=session.title,
        parent_id=session.parent.public_id if session.parent else None,
        forked_at=session.forked_at,
        depth=session.depth,
        run_count=session.last_position,
        own_run_count=session.own_run_count,
        tokens=session.lineage_tokens,
        updated_at=session.updated_at,
    )


def _summary_in_use(summary: Summary | None) -> SummaryInUse | None:
    if summary is None:
        return None
    return SummaryInUse(id=summary.public_id, covers_through=summary.covers_through, tokens=summary.tokens_o200k)
