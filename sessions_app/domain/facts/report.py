"""What a summary kept: the facts of its predecessor and of the runs it newly covers, and what became of each.

Facts are carried along the chain of summaries: those that a summary kept are what its successor has to keep. So a
report costs what is new, however long the conversation is.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sessions_app.domain.facts.finding import facts_of
from sessions_app.domain.facts.matching import TextIndex, identity_of
from sessions_app.domain.facts.values import Fact, FactKind, FactRow, FactState
from sessions_app.domain.transcript import Role, Run

MOST_ROWS = 200
_ORDER = list(FactState)


@dataclass(frozen=True, slots=True)
class KeptReport:
    """The facts and what became of them: those gone first, then by the run; `left_out` counts what is not listed."""

    rows: tuple[FactRow, ...] = ()
    left_out: Mapping[FactState, int] = field(default_factory=dict)

    def count(self, *states: FactState) -> int:
        """Return how many facts are in one of the states, those not listed included."""
        listed = sum(row.state in states for row in self.rows)
        return listed + sum(self.left_out.get(state, 0) for state in states)

    @property
    def kept(self) -> int:
        """How many facts stand in the text."""
        return self.count(FactState.KEPT, FactState.KEPT_NEW)

    @property
    def new(self) -> int:
        """How many of those that stand in the text came with the newly covered runs."""
        return self.count(FactState.KEPT_NEW)

    @property
    def gone(self) -> int:
        """How many facts left the memory with this summary: the predecessor's text still said them."""
        return self.count(FactState.GONE)

    @property
    def missed(self) -> int:
        """How many facts of the newly covered runs never got into a text."""
        return self.count(FactState.MISSED)


def kept(*, previous: KeptReport | None, runs: Iterable[Run], text: str) -> KeptReport:
    """Return what a text kept of the facts that its predecessor kept, and of the facts of the newly covered runs."""
    index = TextIndex(text)
    carried = [row.fact for row in previous.rows if row.state.is_kept] if previous else []
    known = {identity_of(fact) for fact in carried}
    rows = [FactRow(fact, FactState.KEPT if index.says(fact) else FactState.GONE) for fact in carried]
    rows += [
        FactRow(fact, FactState.KEPT_NEW if index.says(fact) else FactState.MISSED)
        for fact in facts_of(runs)
        if identity_of(fact) not in known
    ]
    return _bounded(rows)


def _bounded(rows: Sequence[FactRow]) -> KeptReport:
    """List the most telling MOST_ROWS: what is kept or gone before what never got in, statements and users first."""
    by_worth = sorted(rows, key=_worth)
    listed = sorted(by_worth[:MOST_ROWS], key=lambda row: (_ORDER.index(row.state), row.fact.position))
    return KeptReport(tuple(listed), Counter(row.state for row in by_worth[MOST_ROWS:]))


def _worth(row: FactRow) -> tuple[bool, bool, bool, int]:
    fact = row.fact
    return (
        row.state is FactState.MISSED,
        fact.kind is not FactKind.FIRST_PERSON,
        fact.speaker is not Role.USER,
        -fact.position,
    )


def to_stored(report: KeptReport) -> dict[str, Any]:
    """Return a report as it is stored with its summary."""
    rows = [[row.fact.kind, row.fact.text, row.fact.position, row.fact.speaker, row.state] for row in report.rows]
    return {"rows": rows, "left_out": dict(report.left_out)}


def from_stored(stored: Mapping[str, Any] | None) -> KeptReport | None:
    """Return a report that was stored; None if there is none."""
    if stored is None:
        return None
    rows = tuple(
        FactRow(Fact(FactKind(kind), text, position, Role(speaker)), FactState(state))
        for kind, text, position, speaker, state in stored["rows"]
    )
    return KeptReport(rows, {FactState(state): count for state, count in stored["left_out"].items()})
