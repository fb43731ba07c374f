"""How a summary stands in a prompt, by itself."""

from dataclasses import dataclass

from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.pieces import Head, tokens_of
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.transcript import SummaryEntry


@dataclass(frozen=True, slots=True)
class Introduction:
    """The text that is sent for a summary, with what introduces it, and its tokens with their frame."""

    text: str
    tokens: int


def introduced(entry: SummaryEntry, settings: EffectiveSettings) -> Introduction:
    """Return what a prompt that hands down nothing else says before its runs; nothing is cut for want of room."""
    renderer = PROMPT_FORMATS[settings.values.format]
    head = Head(summary=entry.text, covers_through=entry.covers_through, summary_template=settings.summary_template)
    pieces = renderer.render_head(head, settings.model.counter)
    return Introduction("".join(piece.message["content"] for piece in pieces).strip("\n"), tokens_of(pieces))
