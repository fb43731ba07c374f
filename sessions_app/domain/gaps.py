"""Runs that neither fit nor are covered by a summary: an error, or an extract that stands in for them meanwhile."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

from sessions_app.domain.budget import Budget
from sessions_app.domain.errors import FieldError, RunsLost
from sessions_app.domain.handed_down import EXTRACT_RULE, HandedDown, HeadRoom
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.pieces import Head
from sessions_app.domain.run_rendering import RenderedRun
from sessions_app.domain.selection import Selection, Span
from sessions_app.domain.shortening import with_short_texts
from sessions_app.domain.summaries import SummaryRequest
from sessions_app.domain.summarizers import extractive
from sessions_app.domain.text_cutting import cut_anywhere, cut_at_sentence
from sessions_app.domain.transcript import Run, TranscriptReader
from sessions_app.domain.ways_out import WaysOut

MOST_RUNS = 200
# Of runs that need more tokens together, each text is read only so far that all have so many characters a place.
MOST_TOKENS = 100_000
MOST_CHARACTERS = 200_000
SHORTER_BY = 4
LEAST_SHARE = 4
LEAST_TOKENS = 8


@dataclass(frozen=True, slots=True)
class Stopgap:
    """The head with an extract in it, and what of the selection remains beside it.

    Nothing is extracted where, the newest run being cut, all others fit.
    """

    handed: HandedDown
    selection: Selection
    extracted: Span | None


def refuse_gap(first: int, last: int, budget: Budget, ways: WaysOut) -> NoReturn:
    """Raise RunsLost for the runs first..last."""
    runs = f"Run {first}" if first == last else f"Runs {first}-{last}"
    detail = (
        f"{runs} would be neither in the prompt nor in its summary: {budget.limit} is reached, and on_gap is error. "
        f"Ways out: {ways(first, last)}; set on_gap to warn or stopgap."
    )
    raise RunsLost(detail, errors=[FieldError("/settings/on_gap", detail)])


def stopgap(gap: "Gap") -> Stopgap | None:
    """Put an extract of the newest of the lost runs in the head; None only if not even the least one fits.

    It gets a quarter of what those runs need or what is free anyway, at most `max_summary_tokens` and half of what the
    parents' context and the summary leave of their own half. Where that is too little they leave it a quarter of it;
    the oldest of the runs that are kept make room for it, the newest only where nothing else can.
    """
    stays_whole = gap.selection.kept and gap.selection.shortened is None
    gaps = [gap, gap.without_newest()] if stays_whole else [gap.without_newest()]
    filled = (each.filled(size) for each in gaps for size in each.sizes())
    return next((each for each in filled if each is not None), None)


@dataclass(frozen=True, slots=True)
class Gap:
    """Runs that would be lost, and all that may give way to an extract of them.

    `hand_down` fills another room of the head. `shorten` selects anew in so much less room, where the newest run is cut
    rather than dropped; None if it may not be cut.
    """

    reader: TranscriptReader
    settings: MemorySettings
    head_room: HeadRoom
    handed: HandedDown
    hand_down: Callable[[HeadRoom], HandedDown]
    selection: Selection
    shorten: Callable[[int], Selection] | None

    def without_newest(self) -> "Gap":
        """Return the gap with all of the selected runs in it, which may still be shortened."""
        selection = self.selection
        return replace(self, selection=replace(_smaller(selection, selection.room), left=selection.room))

    @property
    def _used(self) -> int:
        """What is handed down."""
        return self.head_room.tokens(self.handed.head)

    @property
    def _bound(self) -> int:
        """What all of the head may need, so that the newest of the runs that are kept stays."""
        return min(self.head_room.room, self._used + self.selection.room - self._newest)

    @property
    def _newest(self) -> int:
        """What the newest of the runs needs that are kept."""
        return sum(rendered.tokens for rendered in self.selection.kept[-1:])

    def sizes(self) -> Iterator[int]:
        """Yield what an extract should have, and what it must have."""
        selection, bound, used = self.selection, self._bound, self._used
        newest = selection.kept[-1].position if selection.kept else selection.out[0][1]
        heading = replace(self.head_room.fixed, extract="a", extracted=(newest, newest))
        least = self.head_room.tokens(heading) + LEAST_TOKENS
        stays = bool(selection.kept) or self.shorten is not None
        share = (self.head_room.room - used) // 2 if stays else bound - used
        most = max(min(share, bound - used), bound // LEAST_SHARE)
        yield from sorted({least, max(least, min(most, self.settings.max_summary_tokens, self._wanted))}, reverse=True)

    @property
    def _wanted(self) -> int:
        """A quarter of what the runs need, or what is free anyway."""
        first, last = self.selection.out[0]
        stored = self.reader.tokens_between(max(first, last - MOST_RUNS + 1), last)
        needed = self.head_room.counter.scaled(stored)
        return max(needed // SHORTER_BY, min(self.selection.left, needed))

    def filled(self, size: int) -> Stopgap | None:
        """Return the prompt with an extract of so many tokens; what is handed down gives way as far as need be."""
        handed, used, bound = self.handed, self._used, self._bound
        if used + size > bound:
            handed = self.hand_down(replace(self.head_room, room=bound - size, rule=EXTRACT_RULE))
        if size > bound or handed.summary != self.handed.summary:
            return None
        given_up = used - self.head_room.tokens(handed.head)
        reserved = max(size, given_up)
        rest = self._without(reserved - given_up)
        if rest.first_out is None:
            return Stopgap(self.handed, rest, None)
        limit = min(reserved, max(size, self.settings.max_summary_tokens))
        head = _with_extract(self.head_room, handed.head, _lost_runs(self.reader, rest, rest.first_out), limit)
        if head is None:
            return None
        return Stopgap(replace(handed, head=head, pieces=self.head_room.render(head)), rest, head.extracted)

    def _without(self, tokens: int) -> Selection:
        """Return the selection with so much room beside it; a newest run that may be shortened is, or stays whole."""
        if self.shorten is None or self.selection.kept:
            return _smaller(self.selection, tokens)
        return self.shorten(tokens)


def _smaller(selection: Selection, tokens: int) -> Selection:
    """Return the selection with so much room beside it, without the oldest runs if need be."""
    dropped, left = 0, selection.left
    while left < tokens:
        left += selection.kept[dropped].tokens
        dropped += 1
    if not dropped:
        return replace(selection, left=left - tokens)
    out = selection.kept[dropped - 1]
    return replace(
        selection,
        kept=selection.kept[dropped:],
        first_out=out,
        needs=out.tokens,
        left=left - tokens,
        out=((selection.out[0][0], out.position), *selection.out[1:]),
    )


def _lost_runs(reader: TranscriptReader, selection: Selection, first_out: RenderedRun) -> tuple[Run, ...]:
    """Return the newest of the lost runs, oldest first; where they are huge together, with short texts."""
    (first, last), runs = selection.out[0], [first_out.excerpt.run]
    not_below = max(first, last - MOST_RUNS + 1)
    while runs[-1].position > not_below:
        older = reader.newest_before(runs[-1].position, not_below=not_below, tokens=MOST_TOKENS)
        if not older:
            break
        runs += older
    if sum(run.tokens for run in runs) > MOST_TOKENS:
        runs = [with_short_texts(run, MOST_CHARACTERS // len(runs)) for run in runs]
    return tuple(runs[::-1])


def _with_extract(head_room: HeadRoom, head: Head, runs: tuple[Run, ...], size: int) -> Head | None:
    """Return the head with an extract of the runs in at most so many tokens more, None if not a letter of it fits."""
    span = runs[0].position, runs[-1].position
    before = head_room.tokens(head)

    def grown(text: str) -> int:
        return head_room.tokens(replace(head, extract=text, extracted=span)) - before

    def fits(text: str) -> bool:
        return grown(text) <= size

    counter = head_room.counter
    request = SummaryRequest(
        previous="",
        runs=runs,
        max_tokens=size - grown("a"),
        count_tokens=lambda text: counter.scaled(counter.text(text)),
    )
    if request.max_tokens < 1:
        return None
    whole = extractive.summarize(request)
    text = cut_at_sentence(whole, fits=fits) or cut_anywhere(whole, fits=fits)
    return None if text is None else replace(head, extract=text, extracted=span)
