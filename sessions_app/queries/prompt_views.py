"""A built prompt as the tune page shows it: the system block, then run by run what is sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sessions_app.domain.pieces import SYSTEM
from sessions_app.domain.plan import UNSEEN_FATES, Fate, Part, Prompt, Segment
from sessions_app.models import Session, lineage_runs
from sessions_app.queries.bands import WINDOW, Span

FIRST_SHOWN = 3
TEXT_SHOWN = 1_500
RESULT_SHOWN = 600
MOST_TEXT = 200_000


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
    """Messages that belong together: those of a run, of the context or of the query; `part` says which."""

    part: Part
    position: int | None
    tokens: int
    created_at: datetime | None
    messages: Sequence[MessageView]


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
    """What is sent, in order; `older` runs stand between `first` and `runs`, `unseen` are counts by fate in words.

    A section of the system block comes with a note, which is the number of the summary.
    """

    system: Sequence[tuple[Segment, MessageView, str]]
    system_tokens: int
    unseen: Sequence[tuple[Fate, str]]
    first: Sequence[MessageGroup]
    older: Following | None
    runs: Sequence[MessageGroup]
    tail: Sequence[MessageGroup]
    text: str
    text_left_out: int


def prompt_view(*, session: Session, prompt: Prompt, within: Span | None = None) -> PromptView:
    """Return the prompt for showing; at most WINDOW runs are unfolded, the first and newest, or some of `within`."""
    system = [segment for segment in prompt.segments if segment.role == SYSTEM]
    runs = [segment for segment in prompt.segments if segment.part is Part.RUNS]
    tail = [s for s in prompt.segments if s.part in (Part.CONTEXT, Part.QUERY) and s.role != SYSTEM]
    positions = [position for position in dict.fromkeys(segment.position for segment in runs) if position is not None]
    if within is not None:
        positions = [position for position in positions if position in within]
    first = positions[:FIRST_SHOWN] if within is None and len(positions) > WINDOW else []
    newest = positions[len(first) :][len(first) - WINDOW :]
    times = _times(session, [*first, *newest])
    return PromptView(
        system=[(segment, _message(segment), _note(segment, prompt)) for segment in system],
        system_tokens=sum(segment.tokens for segment in system),
        unseen=_unseen(prompt),
        first=list(_groups(_of(runs, first), times)),
        older=_older(runs, positions[len(first) : -len(newest)]),
        runs=list(_groups(_of(runs, newest), times)),
        tail=list(_groups(tail, {})),
        text=(prompt.text or "")[:MOST_TEXT],
        text_left_out=max(0, len(prompt.text or "") - MOST_TEXT),
    )


def _note(segment: Segment, prompt: Prompt) -> str:
    """Name the summary's entry; an extract of runs that are not summarized has none."""
    is_entry = segment.part is Part.SUMMARY and segment.heading.startswith("Summary")
    return f"#{prompt.summary_number}" if is_entry else ""


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
    rows = lineage_runs(session).filter(position__in=positions)
    return dict(rows.values_list("position", "created_at"))


def _groups(segments: Sequence[Segment], times: Mapping[int, datetime]) -> Iterator[MessageGroup]:
    for (part, position), group in groupby(segments, key=lambda segment: (segment.part, segment.position)):
        members = list(group)
        yield MessageGroup(
            part=part,
            position=position,
            tokens=sum(segment.tokens for segment in members),
            created_at=None if position is None else times.get(position),
            messages=[_message(segment) for segment in members],
        )


def _message(segment: Segment) -> MessageView:
    shown = RESULT_SHOWN if segment.role == "tool" else TEXT_SHOWN
    return MessageView(
        role=segment.role,
        tokens=segment.tokens,
        start=segment.text[:shown],
        rest=segment.text[shown:MOST_TEXT],
        left_out=max(0, len(segment.text) - MOST_TEXT),
        calls=segment.calls,
    )
