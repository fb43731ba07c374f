"""Two prompts side by side, as bots ask for and get them."""

from pydantic import Field

from sessions_app.api.prompt_schemas import AT, PromptOut, prompt_out
from sessions_app.api.schemas import In, Out, Position, money
from sessions_app.api.setting_schemas import RequestSettings
from sessions_app.domain.comparison import Difference
from sessions_app.domain.plan import Fate
from sessions_app.services.comparisons import Comparison


class ComparisonIn(In):
    """Two settings, each over those that are saved, and what to ask under both."""

    a: RequestSettings | None = Field(default=None, description="Left out or null: the saved ones.")
    b: RequestSettings
    query: str | None = Field(default=None, description="The question that comes last; a blank one is refused.")
    at: Position | None = Field(default=None, description=AT)


class ChangeOut(Out):
    """Neighbouring runs that fare as `a` in the one prompt and as `b` in the other."""

    first: int
    last: int
    a: Fate
    b: Fate


class DeltaOut(Out):
    """What b needs more than a; less, if negative."""

    tokens: int
    input_cost: str | None = Field(description="In USD, as a decimal text; null where a price is not known.")


class ComparisonOut(Out):
    """Both prompts, the runs whose fate differs, and what b needs more."""

    a: PromptOut
    b: PromptOut
    changes: list[ChangeOut]
    delta: DeltaOut


def comparison_out(compared: Comparison) -> ComparisonOut:
    """Return a comparison as an answer."""
    found = compared.difference
    changes = [ChangeOut(first=each.first, last=each.last, a=each.a, b=each.b) for each in found.changes]
    return ComparisonOut(a=prompt_out(compared.a), b=prompt_out(compared.b), changes=changes, delta=_delta(found))


def _delta(found: Difference) -> DeltaOut:
    cost = found.input_cost
    return DeltaOut(tokens=found.tokens, input_cost=None if cost is None else money(cost))
