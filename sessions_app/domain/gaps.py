"""Runs that neither fit nor are covered by a summary: an error, or an extract that stands in for them meanwhile."""

from dataclasses import dataclass, replace
from typing import NoReturn

from sessions_app.domain.budget import Budget
from sessions_app.domain.errors import FieldError, RunsLost
from sessions_app.domain.handed_down import HandedDown, HeadRoom
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.pieces import Head
from sessions_app.domain.selection import Selection, Span
from sessions_app.domain.summaries import SummaryRequest
from sessions_app.domain.summarizers import extractive
from sessions_app.domain.text_cutting import cut_at_sentence
from sessions_app.domain.transcript import Run, TranscriptReader
from sessions_app.domain.ways_out import WaysOut

MOST_RUNS = 200
MOST_TOKENS = 100_000
SHORTER_BY = 4
LEAST_TOKENS = 24


@dataclass(frozen=True, slots=True)
class Stopgap:
    """The head with an extract in it, and what of the selection remains beside it."""

    handed: HandedDown
    selection: Selection
    extracted: Span


def refuse_gap(first: int, last: int, budget: Budget, ways: WaysOut) -> NoReturn:
    """Raise RunsLost for the runs first..last."""
    runs = f"Run {first}" if first == last else f"Runs {first}-{last}"
    detail = (
        f"{runs} would be neither in the prompt nor in its summary: {budget.limit} is reached, and on_gap is error. "
        f"Ways out: {ways(first, last)}; set on_gap to warn or stopgap."
    )
    raise RunsLost(detail, errors=[FieldError("/settings/on_gap", detail)])


def stopgap(
    reader: TranscriptReader, head_room: HeadRoom, handed: HandedDown, selection: Selection, settings: MemorySettings
) -> Stopgap | None:
    """Make room for an extract of the newest of the lost runs and put it in the head; None if there is too little.

    It gets a quarter of what those runs need or what is free anyway, at most half of what the parents' context and the
    summary leave of their own half; the newest run that is kept stays.
    """
    lost = _lost_runs(reader, selection)
    needed = head_room.counter.scaled(sum(run.tokens for run in lost))
    spare = selection.left + sum(rendered.tokens for rendered in selection.kept[:-1])
    share = (head_room.room - head_room.tokens(handed.head)) // 2
    wanted = max(needed // SHORTER_BY, min(selection.left, needed), LEAST_TOKENS)
    size = min(share, spare, settings.max_summary_tokens, wanted)
    rest = _smaller(selection, size)
    newly_lost = [rendered.excerpt.run for rendered in selection.kept[: len(selection.kept) - len(rest.kept)]]
    runs = (*lost, *newly_lost)[-MOST_RUNS:]
    head = _with_extract(head_room, handed.head, runs, size)
    if head is None:
        return None
    pieces = head_room.render(head)
    return Stopgap(replace(handed, head=head, pieces=pieces), rest, head.extracted)


def _lost_runs(reader: TranscriptReader, selection: Selection) -> list[Run]:
    """Return the newest of the lost runs, oldest first."""
    if selection.first_out is None:
        return []
    (first, last), newest = selection.out[0], selection.first_out.excerpt.run
    not_below = max(first, last - MOST_RUNS + 1)
    tokens = max(0, MOST_TOKENS - newest.tokens)
    older = reader.newest_before(last, not_below=not_below, tokens=tokens) if first < last else []
    return [*older[::-1], newest]


def _smaller(selection: Selection, size: int) -> Selection:
    """Return the selection with so much room beside it, without the oldest runs if need be."""
    dropped, left = 0, selection.left
    while left < size:
        left += selection.kept[dropped].tokens
        dropped += 1
    if not dropped:
        return selection
    out = selection.kept[dropped - 1]
    return replace(
        selection,
        kept=selection.kept[dropped:],
        first_out=out,
        needs=out.tokens,
        left=left - size,
        out=((selection.out[0][0], out.position), *selection.out[1:]),
    )


def _with_extract(head_room: HeadRoom, head: Head, runs: tuple[Run, ...], size: int) -> Head | None:
    span = runs[0].position, runs[-1].position
    before = head_room.tokens(head)

    def grown(text: str) -> int:
        return head_room.tokens(replace(head, extract=text, extracted=span)) - before

    counter = head_room.counter
    request = SummaryRequest(
        previous="",
        runs=runs,
        max_tokens=size - grown("a"),
        count_tokens=lambda text: counter.scaled(counter.text(text)),
    )
    if request.max_tokens < 1:
        return None
    text = cut_at_sentence(extractive.summarize(request), fits=lambda text: grown(text) <= size)
    return None if text is None else replace(head, extract=text, extracted=span)
