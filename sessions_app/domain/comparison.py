"""Two prompts of one conversation side by side: which runs fare differently, and what they need more or less."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sessions_app.domain.plan import Fate, FateRange, PromptPlan


@dataclass(frozen=True, slots=True)
class Change:
    """The neighbouring runs first..last, which fare as `a` in the one prompt and as `b` in the other."""

    first: int
    last: int
    a: Fate
    b: Fate


@dataclass(frozen=True, slots=True)
class Aligned:
    """The neighbouring runs first..last under two prompts, with their fate under each and why, in words."""

    first: int
    last: int
    a: Fate
    b: Fate
    why_a: str
    why_b: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What another prompt needs more than the one, less if negative; the cost is in USD, None where not known."""

    changes: tuple[Change, ...]
    tokens: int
    input_cost: Decimal | None


def difference(a: PromptPlan, b: PromptPlan, *, now: datetime) -> Difference:
    """Compare two prompts of one conversation at one turn, at the prices of now."""
    before, after = input_cost(a, now=now), input_cost(b, now=now)
    return Difference(
        changes=tuple(_changes(a.fates, b.fates)),
        tokens=b.tokens.total - a.tokens.total,
        input_cost=None if before is None or after is None else after - before,
    )


def input_cost(plan: PromptPlan, *, now: datetime) -> Decimal | None:
    """Return what sending the prompt costs in USD, nothing of it cached; None where the price is not known."""
    return plan.settings.model.prices(now=now).cost(input_tokens=plan.tokens.total)


def aligned(a: PromptPlan, b: PromptPlan) -> tuple[Aligned, ...]:
    """Return all runs of two prompts of one conversation at one turn; neighbours that share both fates are one range.

    Where their reasons differ, what those begin with alike is told, if anything.
    """
    ranges: list[Aligned] = []
    for first, last, one, other in _side_by_side(a.fates, b.fates):
        before = ranges[-1] if ranges else None
        if before and (before.a, before.b) == (one.fate, other.fate):
            why_a, why_b = _common(before.why_a, one.reason), _common(before.why_b, other.reason)
            ranges[-1] = Aligned(before.first, last, one.fate, other.fate, why_a, why_b)
        else:
            ranges.append(Aligned(first, last, one.fate, other.fate, one.reason, other.reason))
    return tuple(ranges)


def _common(one: str, other: str) -> str:
    """Return a reason that holds for both: the same one, or the limit that both name before a colon."""
    if one == other:
        return one
    limit = one.partition(":")[0]
    return limit if limit == other.partition(":")[0] else ""


def _changes(a: Sequence[FateRange], b: Sequence[FateRange]) -> Iterator[Change]:
    """Yield where the fates of the same runs differ; neighbours that differ alike are one range."""
    change: Change | None = None
    for first, last, ours, theirs in _side_by_side(a, b):
        one, other = ours.fate, theirs.fate
        if change and (change.last, change.a, change.b) == (first - 1, one, other):
            change = Change(change.first, last, one, other)
            continue
        if change:
            yield change
        change = Change(first, last, one, other) if one is not other else None
    if change:
        yield change


def _side_by_side(a: Sequence[FateRange], b: Sequence[FateRange]) -> Iterator[tuple[int, int, FateRange, FateRange]]:
    """Yield the stretches of runs that share both ranges."""
    first, ours, theirs = 1, iter(a), iter(b)
    one, other = next(ours, None), next(theirs, None)
    while one and other:
        last = min(one.last, other.last)
        yield first, last, one, other
        first = last + 1
        one = next(ours, None) if one.last == last else one
        other = next(theirs, None) if other.last == last else other
