"""Usage: what a session's runs and summaries needed, and what that cost."""

from typing import Any

from django.utils import timezone
from ninja import Query, Router
from pydantic import Field

from sessions_app.api.access import READ, ApiRequest
from sessions_app.api.lookups import find_session
from sessions_app.api.paging import run_cursor, run_cursor_text
from sessions_app.api.run_schemas import UsageOut
from sessions_app.api.schemas import Out, PageQuery, money
from sessions_app.models import lineage_runs
from sessions_app.models.connections import one_state
from sessions_app.queries.usage import RunSpent, SessionUsage, Spent, SummariesSpent, runs_spent, session_usage

router = Router(tags=["sessions"])


class SpentOut(Out):
    """What some runs needed."""

    runs: int
    tokens: int = Field(description="Of these runs in a prompt, counted here in o200k_base.")
    reporting_runs: int = Field(description="How many of them came with the usage that their provider reported.")
    reported: UsageOut = Field(description="The sum of what was reported.")
    cost: str = Field(description="Of the reported tokens in USD, at the prices of today.")
    unpriced_runs: int = Field(description="How many reporting runs are not in the cost: their price is not known.")


class ModelSpentOut(SpentOut):
    """What the runs with one model needed."""

    model: str = Field(description="Empty for runs that came without one.")


class RoleTokensOut(Out):
    """The tokens of the events of one role, each counted by itself."""

    role: str = Field(description="user, assistant or system for messages, else tool_call, reasoning or note.")
    events: int
    tokens: int


class SummariesSpentOut(Out):
    """What summarizing the session needed, all attempts together."""

    entries: int
    tokens_read: int
    tokens_written: int
    cost: str
    unpriced_entries: int


class RunSpentOut(Out):
    """What one run needed."""

    id: str
    position: int
    model: str
    tokens: int
    reported: UsageOut | None
    cost: str | None = Field(description="In USD; null where nothing was reported or the price is not known.")


class UsageOfSession(Out):
    """What a session needed in all, and a page of its runs; totals are those of all runs, and null behind a cursor."""

    lineage: SpentOut | None = Field(None, description="Of all its runs, those too that it shares with its parent.")
    own: SpentOut | None = Field(None, description="Of the runs that it does not share.")
    models: list[ModelSpentOut] | None = Field(None, description="Of the lineage; the 100 models with most runs.")
    roles: list[RoleTokensOut] | None = Field(None, description="Of the lineage.")
    summaries: SummariesSpentOut | None = None
    cost: str | None = Field(None, description="Of its own runs and summaries.")
    items: list[RunSpentOut] = Field(description="The runs of the lineage, a page of them.")
    next_cursor: str | None


@router.get("/sessions/{session_id}/usage", auth=READ, response=UsageOfSession)
@one_state()
def get_usage(request: ApiRequest, session_id: str, query: Query[PageQuery]) -> UsageOfSession:
    """Get the tokens and the cost of a session by run, role and model. Totals stand on the first page alone."""
    session, now = find_session(request, session_id), timezone.now()
    first = run_cursor(query.cursor) + 1
    last = min(session.last_position, first + query.limit - 1)
    rows = lineage_runs(session, first=first, last=last).defer("metadata", "extras", "error").order_by("position")
    spent = runs_spent(runs=list(rows), project_id=session.project_id, now=now)
    behind = run_cursor_text(last) if last < session.last_position else None
    # Summing up reads all runs, so that only whoever begins asks for it.
    totals = {} if query.cursor else _totals(session_usage(session=session, now=now))
    return UsageOfSession(**totals, items=[_run_out(each) for each in spent], next_cursor=behind)


def _totals(usage: SessionUsage) -> dict[str, Any]:
    return {
        "lineage": SpentOut(**_fields(usage.lineage)),
        "own": SpentOut(**_fields(usage.own)),
        "models": [ModelSpentOut(model=each.model, **_fields(each.spent)) for each in usage.models],
        "roles": [RoleTokensOut(role=each.role, events=each.events, tokens=each.tokens) for each in usage.roles],
        "summaries": _summaries_out(usage.summaries),
        "cost": money(usage.cost),
    }


def _fields(spent: Spent) -> dict[str, Any]:
    return {
        "runs": spent.runs,
        "tokens": spent.tokens,
        "reporting_runs": spent.reporting,
        "reported": UsageOut.model_validate(spent.reported),
        "cost": money(spent.cost),
        "unpriced_runs": spent.unpriced,
    }


def _summaries_out(spent: SummariesSpent) -> SummariesSpentOut:
    return SummariesSpentOut(
        entries=spent.entries,
        tokens_read=spent.tokens_read,
        tokens_written=spent.tokens_written,
        cost=money(spent.cost),
        unpriced_entries=spent.unpriced,
    )


def _run_out(spent: RunSpent) -> RunSpentOut:
    return RunSpentOut(
        id=spent.run.public_id,
        position=spent.run.position,
        model=spent.run.model,
        tokens=spent.run.tokens_o200k,
        reported=None if spent.run.usage is None else UsageOut(**spent.run.usage),
        cost=None if spent.cost is None else money(spent.cost),
    )
