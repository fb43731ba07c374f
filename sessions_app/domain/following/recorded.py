"""Where the words were in the prompts of past turns, from what runs need: a search in sums for each turn.

It holds for strategies that send the newest runs whole as far as they fit. What only the builder can tell, such as a
stopgap extract, is left open.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sessions_app.domain.deciding import Terms
from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.sights import Sight, Why, no_prompt
from sessions_app.domain.handed_down import HandedDown, HeadRoom, hand_down
from sessions_app.domain.memory_settings import LARGEST_INTEGER, MemorySettings, OnGap, Strategy
from sessions_app.domain.pieces import Piece, segments_of, tokens_of
from sessions_app.domain.plan import Part
from sessions_app.domain.replays.recording import Weights
from sessions_app.domain.replays.rules import NewestRuns
from sessions_app.domain.seeds.rules import has_seed_rule
from sessions_app.domain.transcript import ParentContext, SummaryEntry

TOLD_BY_SUMS: Final = frozenset({Strategy.BUFFER, Strategy.SUMMARY, Strategy.TOOL})


def are_told_by_sums(values: MemorySettings) -> bool:
    """Whether sums tell which runs a prompt holds under these settings, and what of them."""
    return values.strategy in TOLD_BY_SUMS and not values.keep_tool_results and not has_seed_rule(values)


def parts_saying(pieces: Iterable[Piece], phrase: Phrase) -> frozenset[Part]:
    """Return the parts of a prompt of which a piece says the words."""
    return frozenset(segment.part for segment in segments_of(list(pieces)) if phrase.is_in(segment.text))


class Handed(NamedTuple):
    """What stands before the runs in a prompt, what it needs, and which parts of it say the words."""

    down: HandedDown
    tokens: int
    saying: frozenset[Part]


@dataclass(frozen=True, slots=True)
class SaidRuns:
    """The positions, ascending, of the runs that say the words, and of those that still do as they are sent.

    `unsent` says of the others why not.
    """

    positions: Sequence[int]
    sent: Sequence[int]
    unsent: Mapping[int, Why] = field(default_factory=dict)

    def newest(self, before: int) -> int | None:
        """Return the newest that lies before a turn."""
        return _newest(self.positions, before)

    def newest_sent(self, before: int) -> int | None:
        """Return the newest that lies before a turn and says them as it is sent."""
        return _newest(self.sent, before)


def _newest(positions: Sequence[int], before: int) -> int | None:
    place = bisect_left(positions, before)
    return positions[place - 1] if place else None


@dataclass(slots=True)
class RecordedPrompts:
    """The prompts of the turns that were made under one of the settings; `weights` are those of all runs."""

    terms: Terms
    weights: Weights
    instructions: str
    phrase: Phrase
    said: SaidRuns
    _bare: int = field(init=False)
    _room: int = field(init=False)
    _handed: dict[tuple[object, ...], Handed] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        renderer, counter = self.terms.renderer, self.terms.counter
        self._bare = tokens_of(renderer.render_head(self.terms.bare_head(self.instructions), counter))
        self._room = self.terms.budget.tokens - renderer.overhead(counter) - self._bare

    @property
    def covers_at_most(self) -> int | None:
        """How many of the newest runs a summary must not cover; None where there is none in prompts."""
        values = self.terms.values
        return values.offset if values.strategy is Strategy.SUMMARY else None

    def sight(self, turn: int, summary: SummaryEntry | None, parents: Sequence[ParentContext]) -> Sight | None:
        """Return where the turn's prompt had the words, with this summary and these parents; None if unclear.

        The turn behind the last run is the prompt to come, which has no question yet.
        """
        left = self._room - self._question(turn)
        if left < 0:
            return no_prompt(self.said.newest(turn))
        handed = self._hand_down(summary, parents, left // 2)
        finished, covered = turn - 1, handed.down.summary.covers_through if handed.down.summary else 0
        first, start = self._kept(covered, finished, left + self._bare - handed.tokens)
        if start > first and (refused := self._refused_or_unclear()):
            return None if refused is Why.IN_EXTRACT else no_prompt(self.said.newest(turn))
        return self._seen(turn, start, handed) or self._missing(turn, start, covered, handed)

    def count(self, turn: int, summary: SummaryEntry | None, parents: Sequence[ParentContext]) -> int:
        """Return how many runs the turn's prompt holds, 0 if there is none."""
        left = self._room - self._question(turn)
        if left < 0:
            return 0
        handed = self._hand_down(summary, parents, left // 2)
        covered = handed.down.summary.covers_through if handed.down.summary else 0
        return turn - self._kept(covered, turn - 1, left + self._bare - handed.tokens)[1]

    def needed_tokens(self, turn: int, run: int, summary: SummaryEntry | None, parents: Sequence[ParentContext]) -> int:
        """Return a budget in which the turn's prompt has room for the runs from `run` on, and for all of its head."""
        handed, bare = self._hand_down(summary, parents, LARGEST_INTEGER), self._bare
        fixed = self.terms.budget.tokens - self._room + self._question(turn)
        extra = handed.tokens - bare
        return fixed + extra + max(extra, self.weights.tokens(run, turn - 1))

    def _question(self, turn: int) -> int:
        return self.weights.questions[turn] if turn <= self.weights.count else 0

    def _hand_down(self, summary: SummaryEntry | None, parents: Sequence[ParentContext], room: int) -> Handed:
        """Fill the head; where all of it fits, it is the same in every prompt."""
        key = (summary.summary_id if summary else None, *((each.title, each.text) for each in parents))
        whole = self._filled((key,), summary, parents, LARGEST_INTEGER)
        if whole.tokens - self._bare <= room:
            return whole
        return self._filled((key, room), summary, parents, room)

    def _filled(
        self, key: tuple[object, ...], summary: SummaryEntry | None, parents: Sequence[ParentContext], room: int
    ) -> Handed:
        if key not in self._handed:
            counter = self.terms.counter.remembering()
            head_room = HeadRoom(self.terms.renderer, counter, self.terms.bare_head(self.instructions), room)
            down = hand_down(head_room, summary=summary, parents=parents, settings=self.terms.values)
            self._handed[key] = Handed(down, tokens_of(down.pieces), parts_saying(down.pieces, self.phrase))
        return self._handed[key]

    def _kept(self, covered: int, finished: int, room: int) -> tuple[int, int]:
        """Return the oldest run that is wanted and the oldest that is sent."""
        values = self.terms.values
        remembered = covered if values.max_runs is None else max(covered, finished - values.max_runs)
        first = remembered + 1 if values.last_n is None else max(remembered, finished - values.last_n) + 1
        if values.strategy is Strategy.TOOL:
            first = max(first, finished)
        return first, NewestRuns(self.weights).choose(min(first, finished + 1), finished, room).start

    def _refused_or_unclear(self) -> Why | None:
        """Return what becomes of a prompt that drops runs, unless it just does without them."""
        values = self.terms.values
        if not values.autoprune:
            return Why.NO_PROMPT
        if values.strategy is not Strategy.SUMMARY or values.on_gap is OnGap.WARN:
            return None
        return Why.NO_PROMPT if values.on_gap is OnGap.ERROR else Why.IN_EXTRACT

    def _seen(self, turn: int, start: int, handed: Handed) -> Sight | None:
        number = handed.down.summary.number if handed.down.summary else None
        if Part.INSTRUCTIONS in handed.saying:
            return Sight(Why.IN_INSTRUCTIONS, summary=number)
        run = self.said.newest_sent(turn)
        if run is not None and run >= start:
            return Sight(Why.IN_RUN, run, number)
        if Part.SUMMARY in handed.saying:
            return Sight(Why.IN_SUMMARY, self.said.newest(turn), number)
        if Part.PARENT_CONTEXT in handed.saying:
            return Sight(Why.IN_PARENT, self.said.newest(turn), number)
        return None

    def _missing(self, turn: int, start: int, covered: int, handed: Handed) -> Sight:
        run, number = self.said.newest(turn), handed.down.summary.number if handed.down.summary else None
        if run is None:
            return Sight(Why.NOT_SAID, None, number)
        return Sight(self._why(run, start, covered, turn - 1), run, number)

    def _why(self, run: int, start: int, covered: int, finished: int) -> Why:
        """Return why the run is not seen, in the precedence of fates."""
        values = self.terms.values
        if run >= start:
            return self.said.unsent[run]
        if run <= covered:
            return Why.SUMMARIZED_AWAY
        if values.max_runs is not None and run <= finished - values.max_runs:
            return Why.CAPPED
        if values.last_n is not None and run <= finished - values.last_n:
            return Why.LAST_N
        if values.strategy is Strategy.TOOL and run < finished:
            return Why.STRATEGY
        return Why.LOST if values.strategy is Strategy.SUMMARY else Why.PRUNED
