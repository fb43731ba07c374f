"""What a strategy decides: which runs, and which events of them, a prompt may hold, and in which precedence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import Run, SummaryEntry, TranscriptReader


@dataclass(frozen=True, slots=True)
class Window:
    """The finished runs first..last that `max_runs` and `last_n` leave; there is none if last is below first."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of a run is taken: `run` holds those events alone, `taken` says which, empty if it is the whole run.

    `answer_left_out` says that the assistant's part is not among them though there is one.
    """

    run: Run
    taken: str = ""
    answer_left_out: bool = False

    @property
    def first(self) -> int:
        """The position of the run."""
        return self.run.position

    @property
    def last(self) -> int:
        """The position of the run."""
        return self.run.position


@dataclass(frozen=True, slots=True)
class Series:
    """The runs first..last, read newest first as far as they fit; `take` says what of each is taken."""

    first: int
    last: int
    take: Callable[[Run], Excerpt] = Excerpt


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is wanted, in precedence: where something does not fit, nothing behind it is tried.

    `dropped` is the fate of what the budget drops, `skipped` the reason for runs that are not wanted. `summary` stands
    before the runs and takes the place of those that it covers.
    """

    wanted: tuple[Excerpt | Series, ...]
    skipped: str = ""
    dropped: Fate = Fate.PRUNED
    summary: SummaryEntry | None = None

    @property
    def series(self) -> Series | None:
        """The one series of whole runs that is all that is wanted; None if anything else is."""
        match self.wanted:
            case (Series(take=take) as series,) if take is Excerpt:
                return series
        return None


class Rule(Protocol):
    """A strategy, as its file in `strategies` gives it; `ABOUT` says what it sends."""

    ABOUT: str

    def candidates(self, reader: TranscriptReader, window: Window, settings: MemorySettings) -> Candidates:
        """Return the candidates among the runs of the window; reads no more than may be sent."""
        ...
