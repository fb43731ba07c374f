"""What pages say about a built prompt beside it: which runs are in it, what is lost, whether the window binds."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from sessions_app.domain.errors import BudgetTooSmall, ConvowebError
from sessions_app.domain.plan import Fate, FateRange, Prompt
from sessions_app.models import Session
from sessions_app.queries.run_stream import exact_tokens, open_position
from sessions_app.queries.token_sums import token_sums


@dataclass(frozen=True, slots=True)
class PromptFigures:
    """Notes for the legend of a prompt's budget, its lost runs, and the reserve if the model's window binds.

    `enough` is a limit under which nothing would be lost, 0 if raising the limit would not help.
    """

    runs: str
    query: str
    summary: str
    lost: str
    lost_count: int
    reserve: int
    enough: int


def prompt_figures(session: Session, prompt: Prompt) -> PromptFigures:
    """Work out the figures of a prompt."""
    asked = open_position(prompt)
    kept = [position for position in exact_tokens(prompt) if position != asked]
    lost = [fates for fates in prompt.fates if fates.fate is Fate.LOST]
    return PromptFigures(
        runs=_ranges(sorted(kept)),
        query=f"open run {asked:,}" if asked else "",
        summary=f"#{prompt.summary_number}" if prompt.summary_number else "",
        lost=_range(lost[0].first, lost[-1].last) if lost else "",
        lost_count=sum(fates.count for fates in lost),
        reserve=_reserve(prompt),
        enough=_enough(session, prompt, lost) if lost and not _reserve(prompt) else 0,
    )


def needed_parts(refusal: ConvowebError | None) -> list[tuple[str, int]]:
    """Return what needs how many tokens, in words, if that is why there is no prompt."""
    if not isinstance(refusal, BudgetTooSmall):
        return []
    return [(part.replace("_", " ").capitalize(), tokens) for part, tokens in refusal.needs.items() if tokens]


def _enough(session: Session, prompt: Prompt, lost: Sequence[FateRange]) -> int:
    sums = token_sums(session, {edge for fates in lost for edge in (fates.first, fates.last)})
    return prompt.tokens.total + ceil(sum(sums.between(each.first, each.last) for each in lost) * prompt.margin)


def _ranges(positions: Sequence[int]) -> str:
    """Name positions, oldest first, as ranges."""
    ranges: list[tuple[int, int]] = []
    for position in positions:
        if ranges and position == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], position)
        else:
            ranges.append((position, position))
    return ", ".join(_range(*each) for each in ranges)


def _range(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _reserve(prompt: Prompt) -> int:
    values = prompt.settings.values
    if prompt.window is None:
        return 0
    limit, room = values.max_input_tokens, prompt.window - values.reserve_output_tokens
    return values.reserve_output_tokens if limit is None or limit > room else 0
