"""What prompt formats make: counted pieces of a prompt, and the system block they share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Protocol

from sessions_app.domain.plan import Part, Segment
from sessions_app.domain.summarizers.templates import SUMMARY, fill_template
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.transcript import Event, EventKind, ParentContext, Run, other_kinds

SYSTEM = "system"
SECTION_END = "\n\n"
IMAGE = "[image]"


@dataclass(frozen=True, slots=True)
class Piece:
    """One message of a prompt as it is sent, with the segments that show it; they sum to its tokens."""

    message: Mapping[str, Any]
    segments: tuple[Segment, ...]

    @property
    def tokens(self) -> int:
        """What the message needs, margin included."""
        return sum(segment.tokens for segment in self.segments)


def segments_of(pieces: Sequence[Piece]) -> list[Segment]:
    """Return the segments of the pieces, in order."""
    return [segment for piece in pieces for segment in piece.segments]


def tokens_of(pieces: Sequence[Piece]) -> int:
    """Return what the pieces need together."""
    return sum(piece.tokens for piece in pieces)


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before the runs; `covers_through` says which runs the summary covers.

    `extract` stands for the runs first..last of `extracted`, which neither fit nor are summarized. `context` are the
    context blocks of a prompt without a question, whose user's message is still to come. `summary_template` is what
    introduces the summary in place of its heading, with {summary} where it stands; empty: the heading does.
    """

    instructions: str = ""
    parents: tuple[ParentContext, ...] = ()
    summary: str = ""
    covers_through: int = 0
    context: tuple[str, ...] = ()
    extract: str = ""
    extracted: tuple[int, int] = (0, 0)
    summary_template: str = ""

    @property
    def summary_heading(self) -> str:
        """What the summary is of, unless a template introduces it."""
        return "" if self.summary_template else f"Summary of runs 1-{self.covers_through}"

    @property
    def introduced_summary(self) -> str:
        """The summary as it is sent below its heading or in its template."""
        if not self.summary_template or not self.summary.strip():
            return self.summary
        return fill_template(self.summary_template, {SUMMARY: self.summary}).strip()

    @property
    def extract_heading(self) -> str:
        """What the extract is of."""
        return "Extract of runs {}-{}, not summarized yet".format(*self.extracted)


@dataclass(frozen=True, slots=True)
class Tail:
    """What stands behind the runs: context blocks, then the query or, without one, the open run."""

    context: tuple[str, ...] = ()
    query: str | None = None
    open_run: Run | None = None

    @property
    def asked_run(self) -> Run | None:
        """The open run, unless a query takes its place."""
        return self.open_run if self.query is None else None


@dataclass(frozen=True, slots=True)
class Payload:
    """What is sent: messages, with the system text beside them in formats that part them, or one text."""

    messages: tuple[Mapping[str, Any], ...] | None = None
    text: str | None = None
    system: str | None = None


class Renderer(Protocol):
    """A prompt format: how the parts of a prompt become pieces, and pieces what is sent."""

    def overhead(self, counter: TokenCounter) -> int:
        """Return what every prompt needs besides its pieces."""
        ...

    def render_head(self, head: Head, counter: TokenCounter) -> list[Piece]:
        """Render instructions, parent context and summary."""
        ...

    def render_run(self, run: Run, counter: TokenCounter) -> list[Piece]:
        """Render a finished run, whole."""
        ...

    def render_tail(self, tail: Tail, counter: TokenCounter) -> list[Piece]:
        """Render context blocks and the query or the open run."""
        ...

    def left_out(self, run: Run) -> str:
        """Say which of a run's events are not sent, of an open one its unfinished steps too; empty if all are."""
        ...

    def payload(self, pieces: Sequence[Piece]) -> Payload:
        """Return what is sent."""
        ...


TOOL_CALLS = "tool calls"


def without(names: Sequence[str]) -> str:
    """Say what is left out of a run; nothing if there are no names."""
    *others, last = names or [""]
    return f"without its {' and '.join(filter(None, (', '.join(others), last)))}" if names else ""


def other_events(events: Iterable[Event]) -> list[str]:
    """Name the kinds of those events that are neither said nor done."""
    words = {EventKind.NOTE: "notes", EventKind.REASONING: "reasoning"}
    return [words[kind] for kind in sorted(other_kinds(events))]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the system block under its heading, if it has one."""

    part: Part
    heading: str
    text: str

    @property
    def block(self) -> str:
        """The section as it is sent below or above another one."""
        return f"# {self.heading}\n{self.text}" if self.heading else self.text


def head_sections(head: Head) -> list[Section]:
    """Return the sections of the system block, in order, without the empty ones."""
    sections = (
        Section(Part.INSTRUCTIONS, "Instructions", head.instructions),
        Section(Part.PARENT_CONTEXT, "Parent conversation", "\n\n".join(map(_parent_text, head.parents))),
        Section(Part.SUMMARY, head.summary_heading, head.introduced_summary),
        Section(Part.SUMMARY, head.extract_heading, head.extract),
        Section(Part.CONTEXT, "Context", "\n\n".join(head.context)),
    )
    return [section for section in sections if section.text.strip()]


def system_text(sections: Sequence[Section]) -> str:
    """Return the system block; instructions that stand alone are sent bare."""
    return sections[0].text if _is_bare(sections) else SECTION_END.join(section.block for section in sections)


def section_segments(sections: Sequence[Section], counter: TokenCounter, *, frame: int, end: str = "") -> list[Segment]:
    """Return a segment with its raw count for each section; `frame` goes with the first, `end` stands behind the last.

    Every encoding cuts in front of a section, so that all need as much together as apart; but for a slash, which some
    join to the line ends before it.
    """
    bare = _is_bare(sections)
    texts = [section.text if bare else section.block for section in sections]
    ends = [*[SECTION_END] * (len(sections) - 1), end]
    sent = [text + behind for text, behind in zip(texts, ends, strict=True)]
    counts = [_text_behind(before, text, counter) for before, text in pairwise(["", *sent])]
    counts[0] += frame
    return [
        Segment(section.part, SYSTEM, section.text, tokens, heading="" if bare else section.heading)
        for section, tokens in zip(sections, counts, strict=True)
    ]


def system_pieces(head: Head, counter: TokenCounter) -> list[Piece]:
    """Return the system block as one message, or none if there is nothing to say."""
    sections = head_sections(head)
    if not sections:
        return []
    segments = section_segments(sections, counter, frame=counter.message(SYSTEM, ()))
    return [weighed_piece({"role": SYSTEM, "content": system_text(sections)}, segments, counter)]


def shown_text(texts: Sequence[str], images: int) -> str:
    """Return what a segment shows of a message's texts and images."""
    return "\n\n".join([*texts, *[IMAGE] * images])


def system_apart(pieces: Sequence[Piece]) -> tuple[str | None, list[Mapping[str, Any]]]:
    """Return the system text, None if there is none, and the other messages, for formats that part them."""
    system = [piece.message["content"] for piece in pieces if piece.message["role"] == SYSTEM]
    return system[0] if system else None, [piece.message for piece in pieces if piece.message["role"] != SYSTEM]


def weighed_piece(message: Mapping[str, Any], segments: Sequence[Segment], counter: TokenCounter) -> Piece:
    """Return a piece whose segments come with raw counts; the margin is applied to the message as a whole."""
    ends = [0, *accumulate(segment.tokens for segment in segments)]
    tokens = (counter.scaled(end) - counter.scaled(start) for start, end in pairwise(ends))
    return Piece(message, tuple(replace(segment, tokens=each) for segment, each in zip(segments, tokens, strict=True)))


def _text_behind(before: str, text: str, counter: TokenCounter) -> int:
    return counter.text(before + text) - counter.text(before) if text.startswith("/") else counter.text(text)


def _is_bare(sections: Sequence[Section]) -> bool:
    return [section.part for section in sections] == [Part.INSTRUCTIONS]


def _parent_text(parent: ParentContext) -> str:
    title = " ".join(parent.title.split())
    return f"## {title}\n{parent.text}" if title else parent.text
