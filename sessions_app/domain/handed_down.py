"""Parent context and summary: cut so that together they take at most half of what the fixed parts leave."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions_app.domain.as_sent import is_blank
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.pieces import Head, Piece, Renderer, tokens_of
from sessions_app.domain.plan import PromptWarning, WarningCode
from sessions_app.domain.text_cutting import cut_at_sentence
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import ParentContext, SummaryEntry

HALF_RULE = "what is handed down may take at most half of what instructions, tools and the question leave"
EXTRACT_RULE = "an extract of runs that would be lost needs a part of its room"


@dataclass(frozen=True, slots=True)
class HandedDown:
    """The whole head of the prompt; `summary` is the entry in it, None also if not even a word of it fits."""

    head: Head
    pieces: Sequence[Piece]
    summary: SummaryEntry | None
    warnings: tuple[PromptWarning, ...]


@dataclass(frozen=True, slots=True)
class HeadRoom:
    """Says whether a head fits: `room` is what it may need more than the `fixed` one, with nothing handed down.

    `rule` says in words why it is no more. What is handed down is tried in many lengths, so that a counter that
    remembers texts spares long instructions.
    """

    renderer: Renderer
    counter: TokenCounter
    fixed: Head
    room: int
    rule: str = HALF_RULE

    def render(self, head: Head) -> list[Piece]:
        """Render the head."""
        return self.renderer.render_head(head, self.counter)

    def fits(self, head: Head) -> bool:
        """Whether what is handed down keeps within its room."""
        return self.tokens(head) <= self.room

    def tokens(self, head: Head) -> int:
        """Return what the head needs more than with nothing handed down."""
        return tokens_of(self.render(head)) - tokens_of(self.render(self.fixed))


def hand_down(
    head_room: HeadRoom, *, summary: SummaryEntry | None, parents: Sequence[ParentContext], settings: MemorySettings
) -> HandedDown:
    """Fill the room: the summary first, then the parents' contexts, the nearest first; what is cut is warned of."""
    head, warnings = head_room.fixed, []
    if summary is not None and not is_blank(summary.text):
        head, warning = _with_summary(head_room, head, summary, settings.max_summary_tokens)
        warnings += warning
    for parent in reversed(parents):
        head, warning = _with_parent(head_room, head, parent)
        warnings += warning
    return HandedDown(head, head_room.render(head), summary if head.summary else None, tuple(warnings))


def _with_summary(head_room: HeadRoom, head: Head, entry: SummaryEntry, limit: int) -> tuple[Head, list[PromptWarning]]:
    def with_text(text: str) -> Head:
        return replace(head, summary=text, covers_through=entry.covers_through)

    def is_short(text: str) -> bool:
        return head_room.counter.scaled(head_room.counter.text(text)) <= limit

    shorter = cut_at_sentence(entry.text, fits=is_short)
    text = cut_at_sentence(entry.text, fits=lambda text: is_short(text) and head_room.fits(with_text(text)))
    why = f"max_summary_tokens {limit:,}" if text == shorter else head_room.rule
    warnings = _cut_warnings(WarningCode.SUMMARY_CUT, f"Summary {entry.number}", entry.text, text, why)
    return (head if text is None else with_text(text)), warnings


def _with_parent(head_room: HeadRoom, head: Head, parent: ParentContext) -> tuple[Head, list[PromptWarning]]:
    def with_text(text: str) -> Head:
        return replace(head, parents=(replace(parent, text=text), *head.parents))

    text = cut_at_sentence(parent.text, fits=lambda text: head_room.fits(with_text(text)))
    name = f"The context of the parent {parent.title!r}"
    warnings = _cut_warnings(WarningCode.PARENT_CONTEXT_CUT, name, parent.text, text, head_room.rule)
    return (head if text is None else with_text(text)), warnings


def _cut_warnings(code: WarningCode, name: str, whole: str, sent: str | None, why: str) -> list[PromptWarning]:
    if sent == whole:
        return []
    verb = "is left out" if sent is None else "is shortened"
    return [PromptWarning(code, f"{name} {verb}: {why}.")]
