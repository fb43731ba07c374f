"""Two prompts as the Compare tab shows them: what comes of both, and where they differ, block by block."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter

from sessions_app.domain.comparison import Change, difference, input_cost
from sessions_app.domain.cut_results import count_cut_results
from sessions_app.domain.memory_settings import EffectiveSettings, stored_values
from sessions_app.domain.plan import Fate, Part, Prompt
from sessions_app.domain.settings_draft import Draft
from sessions_app.domain.side_by_side import shared_beginning, side_by_side
from sessions_app.models import Session
from sessions_app.queries.compared_blocks import ComparedRow, compared_rows
from sessions_app.queries.token_sums import token_sums

SHARED = "From the first token to the first difference: what a provider's cache can reuse when A changes to B"
CUT_RESULTS = "Tool results in the prompt that are shortened, or have a mark in their place"
MOST_CHANGES = 12
MOST_ROWS = 60


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the outcome; None where there is no prompt or a price is not known. `part` is one of a prompt."""

    name: str
    a: int | Decimal | None
    b: int | Decimal | None
    part: str = ""
    help: str = ""

    @property
    def change(self) -> int | Decimal | None:
        """What B has more, less if negative."""
        return None if self.a is None or self.b is None else self.b - self.a


@dataclass(frozen=True, slots=True)
class ComparedSetting:
    """A setting under A and B, in stored form."""

    name: str
    a: object
    b: object

    @property
    def differs(self) -> bool:
        """Whether B has another value."""
        return self.a != self.b


@dataclass(frozen=True, slots=True)
class ChangedRuns:
    """Neighbouring runs that fare otherwise under B, and what is stored as their tokens."""

    change: Change
    tokens: int

    @property
    def count(self) -> int:
        """How many runs they are."""
        return self.change.last - self.change.first + 1


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """The outcome of both; the prompts aligned, if both were built.

    `left_out` rows and `more_changes` ranges are not shown.
    """

    figures: Sequence[Figure]
    changes: Sequence[ChangedRuns] = ()
    more_changes: int = 0
    rows: Sequence[ComparedRow] = ()
    left_out: int = 0
    is_same: bool = False


def compared_settings(a: EffectiveSettings, saved: EffectiveSettings, draft: Draft) -> list[ComparedSetting]:
    """Return every setting under A, which are the saved values or those of a past turn, and the draft."""
    values = stored_values(a.values)
    return [
        ComparedSetting(name, values[name], draft.overrides.get(name, value))
        for name, value in stored_values(saved.values).items()
    ]


def comparison_view(
    *, session: Session, a: Prompt | None, b: Prompt | None, now: datetime, one_by_one: bool
) -> ComparisonView:
    """Return what the tab shows; `one_by_one` tells what is in both block by block."""
    pairs = side_by_side(a, b) if a and b else []
    figures = list(_figures(a, b, now, shared_beginning(pairs) if pairs else None))
    if a is None or b is None:
        return ComparisonView(figures)
    changes = difference(a, b, now=now).changes
    rows = list(compared_rows(pairs, a, b, one_by_one=one_by_one))
    return ComparisonView(
        figures=figures,
        changes=_changed_runs(session, changes[:MOST_CHANGES]),
        more_changes=max(0, len(changes) - MOST_CHANGES),
        rows=rows[:MOST_ROWS],
        left_out=max(0, len(rows) - MOST_ROWS),
        is_same=all(pair.is_same for pair in pairs),
    )


def _figures(a: Prompt | None, b: Prompt | None, now: datetime, shared: int | None) -> Iterator[Figure]:
    def figure(name: str, read: Callable[[Prompt], int | Decimal | None], part: str = "") -> Figure:
        return Figure(name, None if a is None else read(a), None if b is None else read(b), part)

    yield figure("Runs the model cannot see", lambda prompt: prompt.unseen)
    yield figure("Runs in the prompt", lambda prompt: _count(prompt, Fate.KEPT))
    yield figure("Runs in the summary", lambda prompt: _count(prompt, Fate.SUMMARIZED))
    cut = figure("Tool results cut", count_cut_results)
    if cut.a or cut.b:
        yield replace(cut, help=CUT_RESULTS)
    for part in Part:
        needed = figure(part.replace("_", " ").capitalize(), attrgetter(f"tokens.{part}"), part)
        if needed.a or needed.b:
            yield needed
    yield figure("Prompt tokens", lambda prompt: prompt.tokens.total)
    yield figure("Input cost", lambda prompt: input_cost(prompt, now=now))
    yield Figure("Tokens that both begin with", shared, shared, help=SHARED)


def _count(prompt: Prompt, fate: Fate) -> int:
    """Return how many runs of history have the fate; the open run is the question."""
    return sum(each.count for each in prompt.fates if each.fate is fate and each.first != prompt.open_position)


def _changed_runs(session: Session, changes: Sequence[Change]) -> list[ChangedRuns]:
    sums = token_sums(session, {edge for change in changes for edge in (change.first, change.last)})
    return [ChangedRuns(change, sums.between(change.first, change.last)) for change in changes]
