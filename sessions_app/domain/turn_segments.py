"""How a turn that is sent as one message is shown and counted: results, reasoning, then what is said and called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.domain.opaque_parts import readable_text, texts_in
from sessions_app.domain.pieces import shown_text
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.tokens import IMAGE_TOKENS, TokenCounter
from sessions_app.domain.turns import TOOL

REASONING = "reasoning"


@dataclass(frozen=True, slots=True)
class SentTurn:
    """What of a turn stands in its message, as texts.

    `results` are pairs of the shown text and the counted ones; `signatures` are counted with what is said, not shown.
    """

    role: str
    speaker: str
    results: Sequence[tuple[str, Sequence[str]]] = ()
    opaque: Sequence[Mapping[str, Any]] = ()
    texts: Sequence[str] = ()
    images: int = 0
    signatures: Sequence[str] = ()
    calls: tuple[tuple[str, str], ...] = ()


def turn_segments(sent: SentTurn, part: Part, position: int | None, counter: TokenCounter) -> list[Segment]:
    """Return the segments with raw counts; the message's frame, 3 and its role, is counted with the first."""
    segments = [
        Segment(part, TOOL, shown, sum(map(counter.text, texts)), position=position) for shown, texts in sent.results
    ]
    if sent.opaque:
        shown = "\n\n".join(map(readable_text, sent.opaque))
        tokens = sum(map(counter.text, texts_in(sent.opaque)))
        segments.append(Segment(part, REASONING, shown, tokens, position=position))
    if sent.texts or sent.images or sent.calls:
        shown = shown_text(sent.texts, sent.images)
        said = sum(map(counter.text, [*sent.texts, *sent.signatures])) + sent.images * IMAGE_TOKENS
        called = sum(counter.call(name, arguments) for name, arguments in sent.calls)
        segments.append(Segment(part, sent.speaker, shown, said + called, position=position, calls=sent.calls))
    framed = replace(segments[0], tokens=segments[0].tokens + counter.message(sent.role, ()))
    return [framed, *segments[1:]]
