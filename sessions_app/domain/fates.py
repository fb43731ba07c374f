"""What became of each run and why, as ranges; behind the budget's cut fates follow from positions alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sessions_app.domain.candidates import Excerpt, Window
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.plan import Fate, FateRange
from sessions_app.domain.selection import Choice, Span
from sessions_app.domain.transcript import Run, RunStatus, SummaryEntry

NEVER_FINISHED = "never finished"
QUERY_INSTEAD = "a query was given instead of the open run"
STOPGAP_EXTRACT = "stopgap extract"


@dataclass(frozen=True, slots=True)
class History:
    """The finished runs of a lineage as the settings see them; `summary` is the one in the prompt."""

    finished: int
    settings: MemorySettings
    summary: SummaryEntry | None = None

    @property
    def first_candidate(self) -> int:
        """The position of the oldest run that may be sent word for word."""
        return max([1, *(last + 1 for last, _, _ in self.excluded())])

    @property
    def window(self) -> Window:
        """The runs that may be sent word for word."""
        return Window(self.first_candidate, self.finished)

    def excluded(self) -> Iterator[tuple[int, Fate, str]]:
        """Yield what is out whatever the budget: runs up to a position, their fate and why, in precedence."""
        remembered, newest = self.settings.max_runs, self.settings.last_n
        if self.summary is not None:
            yield self.summary.covers_through, Fate.SUMMARIZED, f"covered by summary {self.summary.number}"
        if remembered is not None:
            yield self.finished - remembered, Fate.CAPPED, f"max_runs {remembered:,}: older ones are not remembered"
        if newest is not None:
            runs = {0: "no finished runs", 1: "only the newest run"}.get(newest, f"only the newest {newest:,} runs")
            yield self.finished - newest, Fate.SKIPPED, f"last_n {newest:,}: {runs}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How runs that are not excluded fared: `dropped` is the fate of those over `limit`, `skipped` why others are out.

    `extract` are those of the dropped that the stopgap stands for; `left_out` says what of a run the format leaves out.
    """

    choice: Choice
    dropped: Fate
    limit: str
    skipped: str
    left_out: Callable[[Run], str]
    extract: Span | None = None


@dataclass(slots=True)
class FateRanges:
    """The fates of runs as ranges that grow from the oldest run on."""

    ranges: list[FateRange] = field(default_factory=list)

    def reach(self, last: int, fate: Fate, reason: str) -> None:
        """Let the fate reach to `last`; runs that have one keep it, and a like neighbour grows."""
        reached = self.ranges[-1].last if self.ranges else 0
        if last <= reached:
            return
        if self.ranges and (self.ranges[-1].fate, self.ranges[-1].reason) == (fate, reason):
            self.ranges[-1] = replace(self.ranges[-1], last=last)
        else:
            self.ranges.append(FateRange(reached + 1, last, fate, reason))

    def pass_over(self, last: int, verdict: Verdict) -> None:
        """Skip the runs to `last`: the strategy did not want them, or it did and they never finished."""
        for wanted_from, wanted_to in sorted(verdict.choice.read):
            self.reach(min(last, wanted_from - 1), Fate.SKIPPED, verdict.skipped)
            self.reach(min(last, wanted_to), Fate.SKIPPED, NEVER_FINISHED)
        self.reach(last, Fate.SKIPPED, verdict.skipped)


def finished_fates(history: History, verdict: Verdict) -> tuple[FateRange, ...]:
    """Return the fates of the runs 1..finished."""
    fates = FateRanges()
    for last, fate, reason in history.excluded():
        fates.reach(last, fate, reason)
    for first, last, fate, reason in sorted([*_kept(verdict), *_dropped(verdict)]):
        fates.pass_over(first - 1, verdict)
        fates.reach(last, fate, reason)
    fates.pass_over(history.finished, verdict)
    return tuple(fates.ranges)


def open_fates(
    finished: int, open_run: Run | None, *, is_sent: bool, left_out: Callable[[Run], str]
) -> tuple[FateRange, ...]:
    """Return the fate of the open run, if there is one."""
    if open_run is None:
        return ()
    fate, reason = Fate.SKIPPED, QUERY_INSTEAD
    if is_sent:
        fate, reason = Fate.KEPT, "; ".join(filter(None, ("the open run is always the tail", left_out(open_run))))
    unfinished = FateRange(finished + 1, open_run.position - 1, Fate.SKIPPED, NEVER_FINISHED)
    ranges = (unfinished, FateRange(open_run.position, open_run.position, fate, reason))
    return tuple(each for each in ranges if each.count > 0)


def _kept(verdict: Verdict) -> Iterator[tuple[int, int, Fate, str]]:
    for runs in verdict.choice.kept:
        yield runs.first, runs.last, Fate.KEPT, _kept_reason(runs.excerpt, verdict.left_out(runs.excerpt.run))


def _dropped(verdict: Verdict) -> Iterator[tuple[int, int, Fate, str]]:
    """Yield the dropped runs, those apart that the stopgap stands for and the one at which it did not fit."""
    choice, limit = verdict.choice, verdict.limit
    if choice.cut is None:
        return
    at = choice.cut.position
    for first, last in choice.out:
        for start, end in _parted(first, last, at, verdict.extract):
            if verdict.extract and verdict.extract[0] <= start <= verdict.extract[1]:
                yield start, end, Fate.SUMMARIZED, STOPGAP_EXTRACT
            else:
                place = "first that does not fit" if start == end == at else "behind the cut"
                yield start, end, verdict.dropped, f"{limit}: {place}"


def _parted(first: int, last: int, at: int, extract: Span | None) -> Iterator[Span]:
    starts = {first, at, at + 1} | ({extract[0], extract[1] + 1} if extract else set())
    within: Sequence[int] = sorted(start for start in starts if first <= start <= last)
    yield from zip(within, [start - 1 for start in within[1:]] + [last], strict=True) if within else ()


def _kept_reason(excerpt: Excerpt, left_out: str) -> str:
    endings = {RunStatus.FAILED: "failed, sent with its error", RunStatus.CANCELLED: "cancelled, sent as interrupted"}
    ending = endings.get(excerpt.run.status, "")
    return "; ".join(filter(None, (excerpt.taken or "fits the budget", ending, left_out)))
