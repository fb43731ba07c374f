"""What pages say about a prompt beside it: which runs are in it, what is lost, what needs how much."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sessions_app.domain.errors import BudgetTooSmall, ConvowebError
from sessions_app.domain.plan import Fate, FateRange, PromptPlan


@dataclass(frozen=True, slots=True)
class PromptFigures:
    """Notes for the legend of a prompt's budget, its lost runs, and all that a summary should cover and none does."""

    runs: str
    query: str
    summary: str
    lost: str
    lost_count: int
    gap: str
    gap_count: int


def prompt_figures(prompt: PromptPlan) -> PromptFigures:
    """Work out the figures of a prompt."""
    kept = [fates for fates in prompt.fates if fates.fate is Fate.KEPT and fates.first != prompt.open_position]
    return PromptFigures(
        runs=_ranges(kept),
        query=f"open run {prompt.open_position:,}" if prompt.open_position else "",
        summary=" + ".join(_parts_of_summary(prompt)),
        lost=_range(prompt.lost[0].first, prompt.lost[-1].last) if prompt.lost else "",
        lost_count=sum(fates.count for fates in prompt.lost),
        gap=_ranges(prompt.gap),
        gap_count=sum(fates.count for fates in prompt.gap),
    )


def _parts_of_summary(prompt: PromptPlan) -> Iterator[str]:
    """Name what the tokens of the summary are those of."""
    if prompt.summary_number:
        yield f"#{prompt.summary_number}"
    if prompt.extract:
        yield "extract"


def needed_parts(refusal: ConvowebError | None) -> list[tuple[str, int]]:
    """Return what needs how many tokens, in words and last together, if that is why there is no prompt."""
    if not isinstance(refusal, BudgetTooSmall):
        return []
    parts = [(part.replace("_", " ").capitalize(), tokens) for part, tokens in refusal.needs.items() if tokens]
    return [*parts, ("Together", sum(refusal.needs.values()))]


def _ranges(kept: Sequence[FateRange]) -> str:
    """Name runs, oldest first; neighbours are one range."""
    ranges: list[tuple[int, int]] = []
    for fates in kept:
        if ranges and fates.first == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], fates.last)
        else:
            ranges.append((fates.first, fates.last))
    return ", ".join(_range(*each) for each in ranges)


def _range(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"
