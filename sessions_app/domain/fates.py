"""What became of each run and why, as ranges; behind the budget's cut fates follow from positions alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.plan import Fate, FateRange
from sessions_app.domain.selection import Selection
from sessions_app.domain.transcript import Run, RunStatus, SummaryEntry

NEVER_FINISHED = "never finished"


@dataclass(frozen=True, slots=True)
class History:
    """The finished runs of a lineage as the settings see them; `summary` is the one in the prompt."""

    finished: int
    settings: MemorySettings
    summary: SummaryEntry | None

    @property
    def first_candidate(self) -> int:
        """The position of the oldest run that may be sent word for word."""
        return max([1, *(last + 1 for last, _, _ in self.excluded())])

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


def finished_fates(
    history: History, selection: Selection, *, dropped: Fate, limit: str, left_out: Callable[[Run], str]
) -> tuple[FateRange, ...]:
    """Return the fates of the runs 1..finished; `dropped` is the fate of those over `limit`."""
    ranges: list[FateRange] = []
    for last, fate, reason in history.excluded():
        _append(ranges, last, fate, reason)
    if selection.cut is not None:
        _append(ranges, selection.cut.position - 1, dropped, f"{limit}: behind the cut")
        _append(ranges, selection.cut.position, dropped, f"{limit}: first that does not fit")
    for kept in selection.kept:
        _append(ranges, kept.first - 1, Fate.SKIPPED, NEVER_FINISHED)
        _append(ranges, kept.last, Fate.KEPT, _kept_reason(kept.run, left_out(kept.run)))
    _append(ranges, history.finished, Fate.SKIPPED, NEVER_FINISHED)
    return tuple(ranges)


def open_fates(
    finished: int, open_run: Run | None, *, is_sent: bool, left_out: Callable[[Run], str]
) -> tuple[FateRange, ...]:
    """Return the fate of the open run, if there is one."""
    if open_run is None:
        return ()
    fate, reason = Fate.SKIPPED, "a query was given instead of the open run"
    if is_sent:
        fate, reason = Fate.KEPT, "; ".join(filter(None, ("the open run is always the tail", left_out(open_run))))
    unfinished = FateRange(finished + 1, open_run.position - 1, Fate.SKIPPED, NEVER_FINISHED)
    ranges = (unfinished, FateRange(open_run.position, open_run.position, fate, reason))
    return tuple(each for each in ranges if each.count > 0)


def _append(ranges: list[FateRange], last: int, fate: Fate, reason: str) -> None:
    """Let the fate reach to `last`; runs that have one keep it, and a like neighbour grows."""
    reached = ranges[-1].last if ranges else 0
    if last <= reached:
        return
    if ranges and (ranges[-1].fate, ranges[-1].reason) == (fate, reason):
        ranges[-1] = replace(ranges[-1], last=last)
    else:
        ranges.append(FateRange(reached + 1, last, fate, reason))


def _kept_reason(run: Run, left_out: str) -> str:
    endings = {RunStatus.FAILED: "failed, sent with its error", RunStatus.CANCELLED: "cancelled, sent as interrupted"}
    return "; ".join(filter(None, ("fits the budget", endings.get(run.status, ""), left_out)))
