"""One step of summarizing as the ledger page shows it: what an entry kept of what its predecessor and its runs said."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sessions_app.domain.facts.report import KeptReport, from_stored
from sessions_app.domain.facts.values import FactRow, FactState
from sessions_app.domain.text_differences import TextDifference, difference
from sessions_app.models import Session, Summary, SummaryStatus
from sessions_app.models.summaries import SummaryQuerySet

FACTS_SHOWN = 12
GONE_NAMED = 3


@dataclass(frozen=True, slots=True)
class StepTab:
    """A step that one may turn to: the entry `number`, made from the entry `before`, if from any."""

    number: int
    before: int | None


@dataclass(frozen=True, slots=True)
class Step:
    """An entry beside its predecessor; `difference` is None where there are no two texts, `facts` if none are known."""

    entry: Summary
    difference: TextDifference | None
    facts: KeptReport | None
    fact_rows: Sequence[FactRow]
    tabs: Sequence[StepTab]

    @property
    def has_text(self) -> bool:
        """Whether the entry came to a text."""
        return self.entry.status == SummaryStatus.COMPLETED

    @property
    def more_facts(self) -> int:
        """How many facts are behind those that are shown."""
        return len(self.facts.rows) - len(self.fact_rows) if self.facts else 0

    @property
    def gone(self) -> Sequence[FactRow]:
        """The first facts that left the memory here."""
        rows = self.facts.rows if self.facts else ()
        return [row for row in rows if row.state is FactState.GONE][:GONE_NAMED]


def step_of(session: Session, *, number: int | None, all_facts: bool = False) -> Step | None:
    """Return the step to entry `number`, or to the summary in use, or to the newest entry; None if there is none."""
    entries = Summary.objects.filter(session=session).select_related("predecessor", "adopted_from")
    entry = _chosen(entries, session, number)
    if entry is None:
        return None
    facts = from_stored(entry.facts or None)
    rows = facts.rows if facts else ()
    return Step(
        entry=entry,
        difference=_difference(entry),
        facts=facts,
        fact_rows=rows if all_facts else _first_of_each(rows),
        tabs=list(_tabs(session, entry)),
    )


def _chosen(entries: SummaryQuerySet, session: Session, number: int | None) -> Summary | None:
    if number is not None:
        return entries.filter(number=number).first()
    if session.summary_id is not None:
        return entries.filter(pk=session.summary_id).first()
    return entries.order_by("-number").first()


def _first_of_each(rows: Sequence[FactRow]) -> list[FactRow]:
    """Keep a few facts of each state, so that none hides the others."""
    seen = Counter[FactState]()
    kept = []
    for row in rows:
        seen[row.state] += 1
        if seen[row.state] <= FACTS_SHOWN:
            kept.append(row)
    return kept


def _difference(entry: Summary) -> TextDifference | None:
    if entry.status != SummaryStatus.COMPLETED or entry.predecessor is None:
        return None
    return difference(entry.predecessor.text, entry.text)


def _tabs(session: Session, entry: Summary) -> Iterator[StepTab]:
    """Yield the step before, this one, and the next; of entries with a text."""
    others = Summary.objects.filter(session=session, status=SummaryStatus.COMPLETED)
    steps = others.values_list("number", "predecessor__number")
    yield from (StepTab(*row) for row in steps.filter(number__lt=entry.number).order_by("-number")[:1])
    yield StepTab(entry.number, entry.predecessor.number if entry.predecessor else None)
    yield from (StepTab(*row) for row in steps.filter(number__gt=entry.number).order_by("number")[:1])
