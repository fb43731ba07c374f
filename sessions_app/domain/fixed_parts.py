"""The parts of a prompt that may not be left out: instructions, tool definitions, context blocks, query or open run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.budget import Budget
from sessions_app.domain.errors import BudgetTooSmall
from sessions_app.domain.pieces import Head, Piece, Renderer, Tail, segments_of, tokens_of
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.tool_definitions import tool_definition_tokens, tool_name

FIXED = "The fixed parts of the prompt"
NOT_PRUNED = "With autoprune off, the parts of the prompt"


@dataclass(frozen=True, slots=True)
class FixedParts:
    """What is sent whatever the history is; in `head` nothing is handed down yet, `base` are the caller's messages."""

    head: Sequence[Piece]
    tools: Sequence[Segment]
    tail: Sequence[Piece]
    overhead: int
    base: Sequence[Piece] = ()

    @property
    def tokens(self) -> int:
        """What they need together."""
        return self.overhead + sum(segment.tokens for segment in self.segments)

    @property
    def segments(self) -> list[Segment]:
        """The segments that show them."""
        return [*segments_of(self.head), *self.tools, *segments_of(self.base), *segments_of(self.tail)]

    def check(self, budget: Budget) -> None:
        """Raise BudgetTooSmall, naming what needs how many tokens, if they do not fit."""
        if self.tokens > budget.tokens:
            raise too_small(FIXED, needs=self.needs(), budget=budget)

    def needs(self) -> dict[str, int]:
        """Return the tokens by name of the part; open run and base have their own names."""
        needs: Counter[str] = Counter()
        for segment in (*segments_of(self.head), *self.tools):
            needs[segment.part.value] += segment.tokens
        if self.base:
            needs["base"] = tokens_of(self.base)
        for segment in segments_of(self.tail):
            is_open_run = segment.part is Part.QUERY and segment.position is not None
            needs["open_run" if is_open_run else segment.part.value] += segment.tokens
        return dict(needs) | {Part.OVERHEAD.value: self.overhead}


def fixed_parts(
    renderer: Renderer,
    counter: TokenCounter,
    *,
    head: Head,
    tools: Sequence[Mapping[str, Any]],
    tail: Tail,
    base: Sequence[Piece] = (),
) -> FixedParts:
    """Render and count the fixed parts."""
    return FixedParts(
        head=renderer.render_head(head, counter),
        tools=_tool_segments(tools, counter),
        tail=renderer.render_tail(tail, counter),
        overhead=renderer.overhead(counter),
        base=base,
    )


def too_small(
    what: str, *, needs: dict[str, int], budget: Budget, about: str = "", way_out: str = ""
) -> BudgetTooSmall:
    """Return the error that says what needs how many tokens, `about` so many maybe, and which limit is in the way."""
    parts = ", ".join(f"{name.replace('_', ' ')} {tokens:,}" for name, tokens in needs.items())
    detail = (
        f"{what} need {about}{sum(needs.values()):,} tokens ({parts}); "
        f"the budget is {budget.tokens:,} ({budget.limit}). A way out: {way_out or budget.way_out}."
    )
    return BudgetTooSmall(detail, needs=needs, budget=budget.tokens)


def _tool_segments(tools: Sequence[Mapping[str, Any]], counter: TokenCounter) -> list[Segment]:
    if not tools:
        return []
    heading = "1 tool definition" if len(tools) == 1 else f"{len(tools)} tool definitions"
    names = ", ".join(map(tool_name, tools))
    return [Segment(Part.TOOLS, "tools", names, tool_definition_tokens(tools, counter), heading=heading)]
