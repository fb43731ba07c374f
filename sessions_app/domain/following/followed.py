"""What following some words over the turns of a conversation comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessions_app.domain.causes import Cause
from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.sights import FORGOTTEN, MISSING, Hit, Interval, Place, Sight, Why, intervals_of


@dataclass(frozen=True, slots=True)
class Following:
    """Where the prompts of the turns first..last had the words; `next` is the prompt to come, None while a run is open.

    `guessed` turns are taken to be as their neighbours on both sides. `causes` are settings to blame, by the first turn
    of an interval, `next_cause` that of the prompt to come.
    """

    phrase: Phrase
    hits: tuple[Hit, ...]
    first: int
    sights: Sequence[Sight]
    next: Sight | None
    guessed: int
    causes: Mapping[int, Cause]
    next_cause: Cause | None

    @property
    def last(self) -> int:
        """The newest turn."""
        return self.first + len(self.sights) - 1

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """The turns that are alike, together."""
        return intervals_of(self.sights, first=self.first)

    @property
    def next_interval(self) -> Interval | None:
        """The prompt to come, as an interval of its own behind the turns."""
        return intervals_of([self.next], first=self.last + 1)[0] if self.next else None

    @property
    def is_missing_next(self) -> bool:
        """Whether the prompt to come has them nowhere although they were said."""
        return self.next is not None and self.next.place in MISSING

    def is_forgotten_at(self, turn: int | None) -> bool:
        """Whether what was told before is not in the prompt of a turn, or in the one to come."""
        sight = self.next if turn is None else self.sights[turn - self.first]
        return sight is not None and sight.place in FORGOTTEN

    def is_summarized_away_at(self, turn: int | None) -> bool:
        """Whether a summary without the words is in the prompt of a turn, or in the one to come."""
        sight = self.next if turn is None else self.sights[turn - self.first]
        return sight is not None and sight.why is Why.SUMMARIZED_AWAY

    @property
    def is_said(self) -> bool:
        """Whether a run says them, or anything before the runs."""
        return bool(self.hits) or any(each.place is not Place.NOT_SAID for each in self.intervals)

    def focus(self, asked: int | None) -> int | None:
        """Return the turn to bring the words back at: the one that is asked for, or the first without them.

        None is the prompt to come, which is asked for as the turn behind the last.
        """
        if asked is not None and self.first <= asked <= self.last:
            return asked
        if asked == self.last + 1 and self.next is not None:
            return None
        missing = [each.first for each in self.intervals if each.is_missing]
        asked_anew = [each.first for each in self.intervals if each.is_forgotten]
        return next(iter(missing or asked_anew), None if self.next else self.last)
