"""The lines that the stream of a session page consists of."""

from dataclasses import dataclass
from datetime import date

from sessions_app.domain.plan import Fate
from sessions_app.models import Session, Summary
from sessions_app.queries.bands import WINDOW
from sessions_app.queries.run_cards import RunCard

SUMMARY_SHOWN = 600


@dataclass(frozen=True, slots=True)
class Folded:
    """Neighbouring runs shown as one line; `holder` is the session they are shared from, if it is another."""

    first: int
    last: int
    fate: Fate | None
    reason: str
    tokens: int
    holder: Session | None
    kind: str = "folded"

    @property
    def opens_at(self) -> int:
        """The oldest run that opening the line shows."""
        return max(self.first, self.last - WINDOW + 1)


@dataclass(frozen=True, slots=True)
class Shown:
    """A run shown by itself."""

    run: RunCard
    kind: str = "run"


@dataclass(frozen=True, slots=True)
class SummaryCard:
    """The summary in the prompt, at the end of the runs it covers; `covered` are their tokens."""

    entry: Summary
    covered: int
    kind: str = "summary"

    @property
    def start(self) -> str:
        """The beginning of the text, up to the end of a line or a sentence."""
        text = self.entry.text
        if len(text) <= SUMMARY_SHOWN * 5 // 4:
            return text
        end = max(text.rfind("\n", 0, SUMMARY_SHOWN), text.rfind(". ", 0, SUMMARY_SHOWN) + 1)
        return text[: end if end > SUMMARY_SHOWN // 2 else SUMMARY_SHOWN]

    @property
    def rest(self) -> str:
        """What the text goes on with."""
        return self.entry.text[len(self.start) :].lstrip("\n")


@dataclass(frozen=True, slots=True)
class SharedHeading:
    """What follows is shared from another session, which holds the runs since..through."""

    holder: Session
    since: int
    through: int
    fate: Fate | None
    kind: str = "shared"


@dataclass(frozen=True, slots=True)
class DayLine:
    """From here on runs began on another day; `fate` is that of the first of them."""

    day: date
    fate: Fate | None
    kind: str = "day"


@dataclass(frozen=True, slots=True)
class CutLine:
    """Where the budget ended: run `position` needs more tokens than are free."""

    position: int
    needs: int
    free: int
    kind: str = "cut"


@dataclass(frozen=True, slots=True)
class OffsetLine:
    """From here on runs are never summarized; `fate` is that of the first of them."""

    first: int
    last: int
    offset: int
    fate: Fate | None
    kind: str = "offset"


StreamItem = Folded | Shown | SummaryCard | SharedHeading | DayLine | CutLine | OffsetLine
