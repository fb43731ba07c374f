"""A built prompt as the tune page shows it: in the order in which it is sent, run by run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise

from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.plan import UNSEEN_FATES, Fate, Part, Prompt, Segment
from sessions_app.domain.run_marks import gap_mark
from sessions_app.models import Session, lineage_runs_at
from sessions_app.queries.bands import WINDOW, Span
from sessions_app.queries.sent_texts import LEAST_FOLDED, SentText, sent_texts

FIRST_SHOWN = 3
TEXT_SHOWN = 1_500
RESULT_SHOWN = 600
SECTION_SHOWN = 600
MOST_TEXT = 200_000
STOPGAP = "stopgap extract"

_GEMINIS = {"assistant": "model"}


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message as shown: the beginning of its text, the rest behind a fold, and how many characters are left out."""

    role: str
    tokens: int
    start: str
    rest: str
    left_out: int
    calls: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages that belong together: those of a run, of the context or of the query; `part` says which.

    `gap` runs are left out behind it, and the end of its last message says so to the model.
    """

    part: Part
    position: int | None
    tokens: int
    created_at: datetime | None
    messages: Sequence[MessageView]
    gap: int = 0

    @property
    def gap_mark(self) -> str:
        """How the model is told of the gap."""
        return gap_mark(self.gap)


@dataclass(frozen=True, slots=True)
class Following:
    """Runs of the prompt that are not unfolded; unfolding shows those from `opens_at` on."""

    first: int
    last: int
    messages: int
    tokens: int
    opens_at: int


@dataclass(frozen=True, slots=True)
class PromptView:
    """What is sent, in order: `base` messages, the system block, `lead`, `first`, `older`, `runs` and the `tail`.

    A section of the system block comes with a note: the number of the summary, or that it is a stopgap. `system_word`
    says how the block is sent, `unseen` are counts by fate in words, `tools` the definitions that go beside it all.
    """

    base: Sequence[MessageGroup]
    system: Sequence[tuple[Segment, MessageView, str]]
    system_tokens: int
    system_word: str
    tools: Segment | None
    unseen: Sequence[tuple[Fate, str]]
    lead: Sequence[MessageGroup]
    first: Sequence[MessageGroup]
    older: Following | None
    runs: Sequence[MessageGroup]
    tail: Sequence[MessageGroup]
    text: Sequence[SentText]
    text_left_out: int


@dataclass(frozen=True, slots=True)
class _Places:
    """The segments of a prompt by the place at which they are shown."""

    base: Sequence[Segment]
    system: Sequence[Segment]
    lead: Sequence[Segment]
    runs: Sequence[Segment]
    tail: Sequence[Segment]


def prompt_view(*, session: Session, prompt: Prompt, within: Span | None = None) -> PromptView:
    """Return the prompt for showing; at most WINDOW runs are unfolded, the first and newest, or some of `within`."""
    places = _places(prompt)
    sent = [position for position in dict.fromkeys(s.position for s in places.runs) if position is not None]
    positions = sent if within is None else [position for position in sent if position in within]
    first = positions[:FIRST_SHOWN] if within is None and len(positions) > WINDOW else []
    newest = positions[len(first) :][len(first) - WINDOW :]
    rendering = _Rendering(prompt.format, _times(session, [*first, *newest]), _gaps(sent))
    text = prompt.text or ""
    return PromptView(
        base=rendering.groups(places.base),
        system=[(segment, rendering.message(segment), _note(segment, prompt)) for segment in places.system],
        system_tokens=sum(segment.tokens for segment in places.system),
        system_word=_system_word(prompt, len(places.system)),
        tools=next((segment for segment in prompt.segments if segment.part is Part.TOOLS), None),
        unseen=_unseen(prompt),
        lead=rendering.groups(places.lead),
        first=rendering.groups(_of(places.runs, first)),
        older=_older(places.runs, positions[len(first) : -len(newest)]),
        runs=rendering.groups(_of(places.runs, newest)),
        tail=rendering.groups(places.tail),
        text=sent_texts(text[:MOST_TEXT], prompt.segments, has_extract=prompt.extract is not None),
        text_left_out=max(0, len(text) - MOST_TEXT),
    )


def _places(prompt: Prompt) -> _Places:
    """Part the segments; a base stands around the memory, context without a question between system and runs."""
    shown = [segment for segment in prompt.segments if segment.part is not Part.TOOLS]
    is_system = [_is_system(segment) for segment in shown]
    is_run = [segment.part is Part.RUNS for segment in shown]
    start = is_system.index(True) if True in is_system else is_run.index(True) if True in is_run else 0
    runs_start = is_run.index(True) if True in is_run else start
    others = [(place, each) for place, each in enumerate(shown) if not (is_system[place] or is_run[place])]
    return _Places(
        base=[segment for place, segment in others if place < start],
        system=[segment for segment, system in zip(shown, is_system, strict=True) if system],
        lead=[segment for place, segment in others if start <= place < runs_start],
        runs=[segment for segment, run in zip(shown, is_run, strict=True) if run],
        tail=[segment for place, segment in others if place >= max(start, runs_start)],
    )


def _is_system(segment: Segment) -> bool:
    """Whether it is a section of the system block; a system message of a base or a run is not."""
    return segment.part in (Part.INSTRUCTIONS, Part.PARENT_CONTEXT, Part.SUMMARY) or (
        segment.part is Part.CONTEXT and bool(segment.heading)
    )


def _system_word(prompt: Prompt, sections: int) -> str:
    if prompt.system is not None:
        return "one text, sent beside the messages"
    if prompt.format is PromptFormat.SEED and sections > 1:
        return f"{sections} messages"
    return "one block"


def _note(segment: Segment, prompt: Prompt) -> str:
    """Name the summary's entry; an extract of runs that are not summarized has none."""
    if segment.part is not Part.SUMMARY or prompt.text is not None:
        return ""
    return STOPGAP if segment.heading.startswith("Extract") else f"#{prompt.summary_number}"


def _unseen(prompt: Prompt) -> list[tuple[Fate, str]]:
    counts = dict.fromkeys((fate for fate in Fate if fate in UNSEEN_FATES), 0)
    for fates in prompt.fates:
        if fates.fate in counts:
            counts[fates.fate] += fates.count
    return [(fate, f"{count:,} {fate}") for fate, count in counts.items() if count]


def _older(runs: Sequence[Segment], positions: Sequence[int]) -> Following | None:
    if not positions:
        return None
    folded = _of(runs, positions)
    tokens = sum(segment.tokens for segment in folded)
    return Following(positions[0], positions[-1], len(folded), tokens, opens_at=positions[-WINDOW:][0])


def _of(runs: Sequence[Segment], positions: Sequence[int]) -> list[Segment]:
    wanted = frozenset(positions)
    return [segment for segment in runs if segment.position in wanted]


def _times(session: Session, positions: Sequence[int]) -> Mapping[int, datetime]:
    rows = lineage_runs_at(session, positions)
    return dict(rows.values_list("position", "created_at"))


def _gaps(positions: Sequence[int]) -> Mapping[int, int]:
    """Return how many runs are left out behind each run that is sent."""
    pairs = pairwise(positions)
    return {position: following - position - 1 for position, following in pairs if following > position + 1}


@dataclass(frozen=True, slots=True)
class _Rendering:
    """Knows the format, when runs were made and what is left out behind them."""

    format: PromptFormat
    times: Mapping[int, datetime]
    gaps: Mapping[int, int]

    def groups(self, segments: Sequence[Segment]) -> list[MessageGroup]:
        """Group neighbours of one part and one run."""
        return list(self._groups(segments))

    def _groups(self, segments: Sequence[Segment]) -> Iterator[MessageGroup]:
        for (part, position), group in groupby(segments, key=lambda segment: (segment.part, segment.position)):
            members = list(group)
            gap = 0 if position is None or part is not Part.RUNS else self.gaps.get(position, 0)
            yield MessageGroup(
                part=part,
                position=position,
                tokens=sum(segment.tokens for segment in members),
                created_at=None if position is None else self.times.get(position),
                messages=[self.message(segment) for segment in members],
                gap=gap if gap and members[-1].text.endswith(gap_mark(gap)) else 0,
            )

    def message(self, segment: Segment) -> MessageView:
        """Return a message with the role by which its format calls it."""
        shown = RESULT_SHOWN if segment.role == "tool" else SECTION_SHOWN if _is_system(segment) else TEXT_SHOWN
        if len(segment.text) - shown < LEAST_FOLDED:
            shown = len(segment.text)
        roles = _GEMINIS if self.format is PromptFormat.GEMINI else {}
        return MessageView(
            role=roles.get(segment.role, segment.role),
            tokens=segment.tokens,
            start=segment.text[:shown],
            rest=segment.text[shown:MOST_TEXT],
            left_out=max(0, len(segment.text) - MOST_TEXT),
            calls=segment.calls,
        )
