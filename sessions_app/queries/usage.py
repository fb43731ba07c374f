"""What a session's runs and summaries needed: tokens by our own count, tokens as reported, and what those cost.

The database sums; runs are read only for the page that is asked for. Costs are those of today's prices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, Case, Count, F, IntegerField, Q, Sum, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Least, Round
from django.db.models.sql.compiler import SQLCompiler

from sessions_app.domain.language_models import NO_FACTS, language_model
from sessions_app.domain.model_prices import Prices
from sessions_app.domain.transcript import EventKind, Role, Usage
from sessions_app.models import ModelOverride, Run, Session, Summary, SummaryOrigin, lineage_runs
from sessions_app.models.runs import RunQuerySet
from sessions_app.models.summaries import UNFINISHED

# So many models are told apart; what runs with others needed is in the totals only, and not priced.
MOST_MODELS = 100
_COST_PLACES = 8
_NAMES = tuple(field.name for field in fields(Usage))
_ROLES = (Role.USER, Role.ASSISTANT, Role.SYSTEM, EventKind.TOOL_CALL, EventKind.REASONING, EventKind.NOTE)


@dataclass(frozen=True, slots=True)
class Spent:
    """What some runs needed: `tokens` by our count, and `reported` by the providers of `reporting` of them.

    `cost` is that of the reported tokens, without those of `unpriced` runs, whose model has no price that is known.
    """

    runs: int
    tokens: int
    reporting: int
    reported: Usage
    cost: Decimal
    unpriced: int


@dataclass(frozen=True, slots=True)
class ModelSpent:
    """What the runs with a model needed; the name is empty where none was told."""

    model: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class RoleTokens:
    """The tokens, by our count, of the events of a role, or of a kind that no role has."""

    role: str
    events: int
    tokens: int


@dataclass(frozen=True, slots=True)
class SummariesSpent:
    """What summarizing the session needed, all attempts; `unpriced` of the entries have a cost that is not known."""

    entries: int
    tokens_read: int
    tokens_written: int
    cost: Decimal
    unpriced: int


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """What the whole lineage of a session needed, and its `own` runs alone; models with most runs come first."""

    lineage: Spent
    own: Spent
    models: Sequence[ModelSpent]
    roles: Sequence[RoleTokens]
    summaries: SummariesSpent

    @property
    def cost(self) -> Decimal:
        """What was spent for this session itself: its own runs and its own summaries."""
        return self.own.cost + self.summaries.cost


@dataclass(frozen=True, slots=True)
class RunSpent:
    """A run and its cost in USD; None where it is not known."""

    run: Run
    cost: Decimal | None


def session_usage(*, session: Session, now: datetime) -> SessionUsage:
    """Return what a session needed, by a number of queries that does not depend on how many runs it has."""
    runs = lineage_runs(session)
    models = _by_model(runs, session.project_id, now)
    lineage = own = _total(runs, models)
    if session.forked_at:
        its_own = Run.objects.filter(session=session)
        own = _total(its_own, _by_model(its_own, session.project_id, now))
    return SessionUsage(lineage, own, models, _by_role(runs), _of_summaries(session))


def runs_spent(*, runs: Sequence[Run], project_id: int, now: datetime) -> list[RunSpent]:
    """Return what each of some runs of a project cost."""
    prices = _prices(project_id, {run.model for run in runs if run.usage}, now)
    return [RunSpent(run, run.usage and _cost(Usage(**run.usage), prices[run.model])) for run in runs]


def _cost(usage: Usage, prices: Prices) -> Decimal | None:
    cached = min(usage.cached, usage.input)
    return prices.cost(input_tokens=usage.input, cached=cached, output_tokens=usage.output)


def _prices(project_id: int, names: set[str], now: datetime) -> Mapping[str, Prices]:
    """Return the prices of models as they are today, what the project says of them before all else."""
    rows = ModelOverride.objects.filter(project=project_id, name__in=names)
    facts = {row.name: row.to_value() for row in rows}
    return {name: language_model(name).with_facts(facts.get(name, NO_FACTS)).prices(now=now) for name in names}


class _Number(KeyTextTransform):
    """A number in JSON; Django's own transform has SQLite look for it twice, as it could be a word, too."""

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> tuple[str, tuple[Any, ...]]:
        column, params, _keys = self.preprocess_lhs(compiler, connection)
        return f"JSON_EXTRACT({column}, %s)", (*params, f"$.{self.key_name}")


def _reported(name: str) -> Cast:
    return Cast(_Number(name, "usage"), BigIntegerField())


def _sums() -> dict[str, Any]:
    """Return what is summed up of runs; of cached tokens no more than there were tokens in all."""
    reported = {name: Sum(_reported(name)) for name in _NAMES}
    reported["cached"] = Sum(Least(_reported("cached"), _reported("input")))
    counts = {"runs": Count("pk"), "tokens": Sum("tokens_o200k"), "reporting": Count("pk", Q(usage__isnull=False))}
    return {**counts, **{f"reported_{name}": total for name, total in reported.items()}}


def _usage_in(row: Mapping[str, Any]) -> Usage:
    return Usage(**{name: row[f"reported_{name}"] or 0 for name in _NAMES})


def _by_model(runs: RunQuerySet, project_id: int, now: datetime) -> list[ModelSpent]:
    rows = list(runs.values("model").annotate(**_sums()).order_by(F("runs").desc(), "model")[:MOST_MODELS])
    prices = _prices(project_id, {row["model"] for row in rows}, now)
    return [ModelSpent(row["model"], _spent(runs, row, prices[row["model"]])) for row in rows]


def _spent(runs: RunQuerySet, row: Mapping[str, Any], prices: Prices) -> Spent:
    reported = _usage_in(row)
    cost = _cost_by_size(runs.filter(model=row["model"]), prices) if prices.have_tiers else _cost(reported, prices)
    unpriced = row["reporting"] if cost is None else 0
    return Spent(row["runs"], row["tokens"] or 0, row["reporting"], reported, cost or Decimal(0), unpriced)


def _cost_by_size(runs: RunQuerySet, prices: Prices) -> Decimal | None:
    """Return the cost of runs with a model whose prices depend on the size of a call, summed up for each size."""
    larger = [When(size__gt=bound, then=Value(bound + 1)) for bound in reversed(prices.bounds)]
    sized = runs.filter(usage__isnull=False).annotate(size=_reported("input"))
    rows = sized.values(at=Case(*larger, default=Value(0), output_field=IntegerField())).annotate(**_sums()).order_by()
    costs = [_cost(_usage_in(row), prices.flat(row["at"])) for row in rows]
    return None if None in costs else sum(filter(None, costs), Decimal(0))


def _total(runs: RunQuerySet, models: Sequence[ModelSpent]) -> Spent:
    """Add up what was summed for each model; runs are asked once more only where there may be more models."""
    spent = [each.spent for each in models]
    cost = sum((each.cost for each in spent), Decimal(0))
    if len(models) < MOST_MODELS:
        return Spent(
            runs=sum(each.runs for each in spent),
            tokens=sum(each.tokens for each in spent),
            reporting=sum(each.reporting for each in spent),
            reported=Usage(**{name: sum(getattr(each.reported, name) for each in spent) for name in _NAMES}),
            cost=cost,
            unpriced=sum(each.unpriced for each in spent),
        )
    row = runs.aggregate(**_sums())
    priced = sum(each.reporting - each.unpriced for each in spent)
    unpriced = row["reporting"] - priced
    return Spent(row["runs"], row["tokens"] or 0, row["reporting"], _usage_in(row), cost, unpriced)


def _by_role(runs: RunQuerySet) -> list[RoleTokens]:
    rows = runs.exclude(events=None).values(kind=F("events__kind"), role=F("events__role"))
    found = {
        row["role"] or row["kind"]: (row["count"], row["tokens"])
        for row in rows.annotate(count=Count("events"), tokens=Sum("events__tokens_o200k")).order_by()
    }
    return [RoleTokens(str(role), *found[role]) for role in _ROLES if role in found]


def _of_summaries(session: Session) -> SummariesSpent:
    """Sum up whole numbers, since SQLite would add amounts of money as floats."""
    parts = Cast(Round(F("cost_usd") * 10**_COST_PLACES), BigIntegerField())
    made = Summary.objects.filter(session=session, origin=SummaryOrigin.SUMMARIZER)
    row = made.aggregate(
        entries=Count("pk"),
        read=Sum("tokens_before"),
        written=Sum("tokens_o200k"),
        cost=Sum(parts),
        unpriced=Count("pk", Q(cost_usd=None, attempts__gt=0) & ~Q(status__in=UNFINISHED)),
    )
    cost = Decimal(row["cost"] or 0).scaleb(-_COST_PLACES)
    return SummariesSpent(row["entries"], row["read"] or 0, row["written"] or 0, cost, row["unpriced"])
