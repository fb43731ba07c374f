"""The summaries of a replayed conversation: each step that is due is taken at once, and succeeds."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.replays.recording import Weights
from sessions_app.domain.summaries import Standing, next_step


@dataclass(slots=True)
class SimulatedSummaries:
    """How far the summary in use has come; `fixed_tokens`, `budget` and `batch_tokens` are as they are stored."""

    settings: MemorySettings
    weights: Weights
    fixed_tokens: int
    budget: int
    batch_tokens: int
    covered: int = field(init=False, default=0)
    steps: int = field(init=False, default=0)
    _due: int = field(init=False, default=0)

    def is_quiet(self, finished: int) -> bool:
        """Whether no step can be due behind `finished` runs, unless runs are lost."""
        return finished < self._due

    def standing(
        self, finished: int, *, open_tokens: int = 0, continuing: bool = False, lost_through: int = 0
    ) -> Standing:
        """Return what the next step is decided by, `finished` runs having been made."""
        stored = self.weights.stored
        return Standing(
            finished_through=finished,
            covered_through=self.covered,
            fixed_tokens=self.fixed_tokens + open_tokens,
            waiting_tokens=stored[finished] - stored[self.covered],
            budget=self.budget,
            continuing=continuing,
            lost_through=lost_through,
        )

    def catch_up(self, finished: int, lost_through: Callable[[], int]) -> None:
        """Summarize whatever is due behind `finished` runs; `lost_through` says which the next prompt loses."""
        continuing = False
        while self._step(self.standing(finished, continuing=continuing)) or self._rescue(
            finished, lost_through(), continuing=continuing
        ):
            continuing = True
        self._due = self._first_due()

    def _rescue(self, finished: int, lost_through: int, *, continuing: bool) -> bool:
        """Take a step for runs that are lost, if any are."""
        return bool(lost_through) and self._step(
            self.standing(finished, continuing=continuing, lost_through=lost_through)
        )

    def _first_due(self) -> int:
        """Return behind how many runs a step may be due again, or sooner: `next_step` decides."""
        settings, stored, covered = self.settings, self.weights.stored, self.covered
        earliest = covered + settings.offset + 1
        if settings.summarize_at == 0:
            return earliest
        share = max(settings.summarize_at, settings.summarize_to)
        # Less by one, since shares are not exact.
        pressed = bisect_right(stored, stored[covered] + share * self.budget - self.fixed_tokens - 1)
        capped = pressed if settings.max_runs is None else covered + settings.max_runs + 1
        return max(earliest, min(pressed, capped))

    def _step(self, standing: Standing) -> bool:
        through = next_step(
            standing=standing,
            settings=self.settings,
            waiting=self._waiting(standing.finished_through),
            batch_tokens=self.batch_tokens,
        )
        if through is None:
            return False
        self.covered = through
        self.steps += 1
        return True

    def _waiting(self, finished: int) -> Iterator[int]:
        stored = self.weights.stored
        return (stored[each] - stored[each - 1] for each in range(self.covered + 1, finished + 1))
