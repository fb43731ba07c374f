"""The dictionaries of chuk-ai-session-manager: role and content, results by the name of their tool, nothing paired.

Counted as messages: 3, the role, the content, and the name of a result's tool; parts that are no text or image as JSON.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sessions_app.domain.as_sent import context_as_sent, ending_as_sent, is_blank
from sessions_app.domain.pieces import SYSTEM, Head, Payload, Piece, Tail
from sessions_app.domain.plan import Part
from sessions_app.domain.seeds.dictionaries import PARENT_SENTENCE, run_dictionaries, seed_piece
from sessions_app.domain.tokens import PROMPT_FRAME, TokenCounter
from sessions_app.domain.transcript import Run

USER = "user"


def overhead(counter: TokenCounter) -> int:
    """Return the frame of a prompt."""
    return counter.scaled(PROMPT_FRAME)


def render_head(head: Head, counter: TokenCounter) -> list[Piece]:
    """Render instructions, the parents' summaries and the summary, each as a system message of its own."""
    parents = [PARENT_SENTENCE.format(parent.text) for parent in head.parents]
    texts = [
        (Part.INSTRUCTIONS, "Instructions", head.instructions),
        *((Part.PARENT_CONTEXT, "Parent conversation", text) for text in parents),
        (Part.SUMMARY, head.summary_heading, head.introduced_summary),
        (Part.SUMMARY, head.extract_heading, head.extract),
    ]
    pieces = [
        seed_piece({"role": SYSTEM, "content": text}, part, None, counter, heading=heading)
        for part, heading, text in texts
        if not is_blank(text)
    ]
    return [*pieces, *_context(head.context, counter)]


def render_run(run: Run, counter: TokenCounter) -> list[Piece]:
    """Render all messages of a run with their results."""
    dictionaries = [each.message for each in run_dictionaries(run)]
    if ending := ending_as_sent(run):
        dictionaries.append({"role": "assistant", "content": ending})
    return _pieces(dictionaries, Part.RUNS, run.position, counter)


def render_tail(tail: Tail, counter: TokenCounter) -> list[Piece]:
    """Render context blocks, and the query or all of the open run."""
    pieces = _context(tail.context, counter)
    if tail.query is not None:
        return [*pieces, *_pieces([{"role": USER, "content": tail.query}], Part.QUERY, None, counter)]
    if tail.open_run is None:
        return pieces
    said = [each.message for each in run_dictionaries(tail.open_run)]
    return [*pieces, *_pieces(said, Part.QUERY, tail.open_run.position, counter)]


def left_out(run: Run) -> str:
    """Say that calls without a message are not part of this format, if the run has any."""
    alone = any(event.tool is not None and event.parent is None for event in run.events)
    return "without the calls that no message made" if alone else ""


def payload(pieces: Sequence[Piece]) -> Payload:
    """Return the dictionaries."""
    return Payload(messages=tuple(dict(piece.message) for piece in pieces))


def _context(texts: Sequence[str], counter: TokenCounter) -> list[Piece]:
    return _pieces([{"role": USER, "content": context_as_sent(text)} for text in texts], Part.CONTEXT, None, counter)


def _pieces(
    dictionaries: Sequence[Mapping[str, Any]], part: Part, position: int | None, counter: TokenCounter
) -> list[Piece]:
    return [seed_piece(each, part, position, counter) for each in dictionaries]
