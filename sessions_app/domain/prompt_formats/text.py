"""Griptape's prompt-stack string: "User: ..." and "Assistant: ..." paragraphs, and a last "Assistant:" line."""

from collections.abc import Sequence

from sessions_app.domain.as_sent import context_as_sent, ending_as_sent, is_blank, system_text_as_sent
from sessions_app.domain.pieces import (
    SYSTEM,
    TOOL_CALLS,
    Head,
    Payload,
    Piece,
    Tail,
    head_sections,
    other_events,
    section_segments,
    system_text,
    weighed_piece,
    without,
)
from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import EventKind, Role, Run

USER = "user"
ASSISTANT = "assistant"
LABELS = {USER: "User: ", ASSISTANT: "Assistant: "}
CLOSING = "Assistant:"
SUMMARY_SENTENCE = "Summary of the conversation so far: {}"
PARAGRAPH_END = "\n\n"


def overhead(counter: TokenCounter) -> int:
    """Return what the last line needs."""
    return counter.scaled(counter.text(CLOSING))


def render_head(head: Head, counter: TokenCounter) -> list[Piece]:
    """Render instructions and parent context without a label, then summary and extract as said by the user."""
    sections = [section for section in head_sections(head) if section.part is not Part.SUMMARY]
    pieces = []
    if sections:
        segments = section_segments(sections, counter, frame=0, end=PARAGRAPH_END)
        message = {"role": SYSTEM, "content": system_text(sections) + PARAGRAPH_END}
        pieces.append(weighed_piece(message, segments, counter))
    if not is_blank(head.summary):
        pieces.append(_piece(USER, _introduced(head), Part.SUMMARY, None, counter))
    if not is_blank(head.extract):
        pieces.append(_piece(USER, f"{head.extract_heading}: {head.extract}", Part.SUMMARY, None, counter))
    return pieces


def render_run(run: Run, counter: TokenCounter) -> list[Piece]:
    """Render the run's input and what the assistant said."""
    return [
        _piece(USER, _input(run), Part.RUNS, run.position, counter),
        _piece(ASSISTANT, _output(run), Part.RUNS, run.position, counter),
    ]


def render_tail(tail: Tail, counter: TokenCounter) -> list[Piece]:
    """Render context blocks and the query or the open run's input as said by the user."""
    pieces = [_piece(USER, context_as_sent(text), Part.CONTEXT, None, counter) for text in tail.context]
    if tail.query is not None:
        pieces.append(_piece(USER, tail.query, Part.QUERY, None, counter))
    elif tail.open_run is not None:
        pieces.append(_piece(USER, _input(tail.open_run), Part.QUERY, tail.open_run.position, counter))
    return pieces


def left_out(run: Run) -> str:
    """Say that tool calls, notes and reasoning are not part of this format, and that an open run is only asked."""
    names = ["answer so far"] if run.status.is_open and not is_blank(_said(run)) else []
    names += [TOOL_CALLS] if any(event.kind is EventKind.TOOL_CALL for event in run.events) else []
    return without([*names, *other_events(run.events)])


def payload(pieces: Sequence[Piece]) -> Payload:
    """Return the string."""
    return Payload(text="".join(piece.message["content"] for piece in pieces) + CLOSING)


def _introduced(head: Head) -> str:
    if head.summary_template:
        return head.introduced_summary
    return SUMMARY_SENTENCE.format(head.summary).rstrip()


def _piece(role: str, text: str, part: Part, position: int | None, counter: TokenCounter) -> Piece:
    paragraph = LABELS[role] + text + PARAGRAPH_END
    tokens = counter.scaled(counter.text(paragraph))
    return Piece({"role": role, "content": paragraph}, (Segment(part, role, text, tokens, position=position),))


def _input(run: Run) -> str:
    messages = [event for event in run.events if event.role in (Role.USER, Role.SYSTEM)]
    texts = [event.text if event.role is Role.USER else system_text_as_sent(event.text) for event in messages]
    return "\n\n".join(texts)


def _output(run: Run) -> str:
    return "\n\n".join(filter(None, (_said(run), ending_as_sent(run))))


def _said(run: Run) -> str:
    said = [event.text for event in run.events if event.role is Role.ASSISTANT]
    return "\n\n".join([text for text in said if not is_blank(text)] or said[-1:])
