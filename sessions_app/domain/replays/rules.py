"""Which runs a prompt of a turn takes, from what all runs need: a search in sums, whatever number it takes."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sessions_app.domain.replays.marks import MarkWeights
from sessions_app.domain.replays.messages import MessageWeights
from sessions_app.domain.replays.recording import Weights


class Chosen(NamedTuple):
    """The runs that are sent: the oldest (the turn itself if there are none), how many, and what they need.

    `wanted` counts the runs that the strategy would send if they fitted, and `needs` is what those need. `variant`
    says which run is not sent as it is, and how, in the words of the rule.
    """

    start: int
    kept: int
    tokens: int
    wanted: int
    needs: int
    variant: tuple[int, int] = (0, 0)


class ReplayRule(Protocol):
    """A strategy, as far as a replay needs it."""

    def choose(self, first: int, finished: int, room: int) -> Chosen:
        """Choose among the runs first..finished what fits into the room."""
        ...

    def cut_results(self, chosen: Chosen, finished: int) -> int:
        """Return how many tool results of the chosen runs are not sent whole."""
        ...

    def common(self, earlier: Chosen, chosen: Chosen, finished: int) -> int:
        """Return what the messages behind the head need that the prompt of the turn before had in the same place.

        That prompt's question was the run `finished`.
        """
        ...


@dataclass(frozen=True, slots=True)
class NewestRuns:
    """The newest runs that fit, of at most so many."""

    weights: Weights
    most: int | None = None

    def choose(self, first: int, finished: int, room: int) -> Chosen:
        """Choose from the newest on."""
        if self.most is not None:
            first = max(first, finished - self.most + 1)
        before = self.weights.before
        end = before[finished]
        needs = end - before[first - 1]
        start = first if needs <= room else bisect_left(before, end - room, first, finished) + 1
        return Chosen(start, finished - start + 1, end - before[start - 1], finished - first + 1, needs)

    def cut_results(self, chosen: Chosen, finished: int) -> int:
        """Return how many of the newest runs' results are not sent whole."""
        return self.weights.cut_results(chosen.start, finished)

    def common(self, earlier: Chosen, chosen: Chosen, finished: int) -> int:
        """Return it: nothing if the oldest run is another one."""
        if not self.weights.are_alike(earlier.start, chosen.start):
            return 0
        return self.weights.tokens(chosen.start, finished - 1) + self.weights.asked[finished]


@dataclass(frozen=True, slots=True)
class NewestMessages:
    """The newest messages, from a user message on; the variant's first number is that of the message, from 1."""

    weights: Weights
    messages: MessageWeights
    most: int

    def choose(self, first: int, finished: int, room: int) -> Chosen:
        """Choose from the newest run on; the oldest one may be sent from a message on."""
        number = self.messages.oldest_question(first, finished, self.most)
        if number is None:
            return Chosen(finished + 1, 0, 0, 0, 0)
        place, before = self.messages.questions[number - 1], self.weights.before
        wanted, end = finished - place.position + 1, before[finished]
        needs = end - before[place.position] + place.tokens
        if needs <= room:
            return Chosen(place.position, wanted, needs, wanted, needs, (number, 0))
        start = bisect_left(before, end - room, place.position, finished) + 1
        return Chosen(start, finished - start + 1, end - before[start - 1], wanted, needs)

    def cut_results(self, chosen: Chosen, finished: int) -> int:
        """Return how many are not sent whole, the oldest run being sent from a message on."""
        number = chosen.variant[0]
        if not number:
            return self.weights.cut_results(chosen.start, finished)
        return self.messages.questions[number - 1].cut + self.weights.cut_results(chosen.start + 1, finished)

    def common(self, earlier: Chosen, chosen: Chosen, finished: int) -> int:
        """Return it: nothing if the oldest message is another one."""
        if earlier.start != chosen.start:
            return 0
        number, asked = chosen.variant[0], self.weights.asked[finished]
        if chosen.start == finished:
            return self.messages.questions[number - 1].asked if number else asked
        if self._begins_with(earlier) != self._begins_with(chosen):
            return 0
        return chosen.tokens - self.weights.tokens(finished, finished) + asked

    def _begins_with(self, chosen: Chosen) -> int:
        """Return the message that the runs begin with, 0 if the oldest is whole."""
        number = chosen.variant[0]
        return self.messages.questions[number - 1].alike if number else 0


@dataclass(frozen=True, slots=True)
class HeadAndTail:
    """The first runs and the newest that fit; the variant is the head's last run, and how many are out behind it."""

    weights: Weights
    marks: MarkWeights
    head_runs: int

    def choose(self, first: int, finished: int, room: int) -> Chosen:
        """Choose the newest run, then the first ones, then what lies between, newest first."""
        wanted, needs = finished - first + 1, self.weights.tokens(first, finished)
        if wanted < 1:
            return Chosen(finished + 1, 0, 0, 0, 0)
        newest = self.weights.tokens(finished, finished)
        if newest > room:
            return Chosen(finished + 1, 0, 0, wanted, needs)
        behind_head = min(first + self.head_runs, finished)
        if behind_head == first:
            start = self._tail_start(first, finished, room)
            return Chosen(start, finished - start + 1, self.weights.tokens(start, finished), wanted, needs)
        start = self._head_start(first, behind_head - 1, finished, room - newest)
        if start == behind_head:
            return Chosen(finished, 1, newest, wanted, needs)
        tail = self._joined_tail(start, behind_head, finished, room) if start == first else finished
        kept, gap = wanted - (start - first) - (tail - behind_head), tail - behind_head
        tokens = self._needs(start, behind_head - 1, tail, finished)
        return Chosen(start, kept, tokens, wanted, needs, (behind_head - 1, gap) if gap else (0, 0))

    def cut_results(self, chosen: Chosen, finished: int) -> int:
        """Return how many are not sent whole of the runs before and behind the gap."""
        last, gap = chosen.variant
        return self.weights.cut_results(chosen.start, finished) - self.weights.cut_results(last + 1, last + gap)

    def common(self, earlier: Chosen, chosen: Chosen, finished: int) -> int:
        """Return it: up to the mark in the last run of the head if that is another one."""
        if not self.weights.are_alike(earlier.start, chosen.start):
            return 0
        if earlier.variant == chosen.variant:
            return chosen.tokens - self.weights.tokens(finished, finished) + self.weights.asked[finished]
        last = min(run for run, _ in (earlier.variant, chosen.variant) if run)
        both_marked = earlier.variant[0] == chosen.variant[0]
        return self.weights.tokens(chosen.start, last - 1) + self.marks.stem(last, both_marked=both_marked)

    def _tail_start(self, lowest: int, finished: int, room: int) -> int:
        """Return the oldest of the runs lowest..finished that fit, newest first."""
        before = self.weights.before
        return bisect_left(before, before[finished] - room, lowest - 1, finished) + 1

    def _head_start(self, first: int, last: int, finished: int, room: int) -> int:
        """Return the oldest of the head's runs that fit, newest first; the one behind them if none does."""
        left = room - self._marked(last, finished - last - 1)
        return last + 1 if left < 0 else self._tail_start(first, last - 1, left)

    def _joined_tail(self, start: int, behind_head: int, finished: int, room: int) -> int:
        """Return the oldest run behind the gap, runs being added newest first; the mark changes as the gap shrinks."""
        tail, before = finished, self.weights.before
        for narrowest, widest in self.marks.widths(finished - behind_head - 1):
            rest = room - self.weights.tokens(start, behind_head - 2) - self._marked(behind_head - 1, narrowest)
            lowest, highest = behind_head + narrowest, behind_head + widest
            found = bisect_left(before, before[finished] - rest, lowest - 1, highest) + 1
            if found > highest:
                break
            tail = found
            if tail > lowest:
                break
        return tail

    def _marked(self, run: int, gap: int) -> int:
        return self.marks.tokens(run, gap) if gap else self.weights.tokens(run, run)

    def _needs(self, start: int, last: int, tail: int, finished: int) -> int:
        marked = self._marked(last, tail - last - 1)
        return self.weights.tokens(start, last - 1) + marked + self.weights.tokens(tail, finished)
