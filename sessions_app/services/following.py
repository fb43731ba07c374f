"""Where the prompts of a session had some words, turn by turn, and why they had them no more."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sessions_app.domain.builder import terms_of
from sessions_app.domain.causes import Cause
from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.following.blame import blamed
from sessions_app.domain.following.built import sight_in
from sessions_app.domain.following.filling import fill
from sessions_app.domain.following.followed import Following
from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.recorded import RecordedPrompts, are_told_by_sums
from sessions_app.domain.following.sights import Hit, Part, Sight, Why, asked_anew, intervals_of, no_prompt
from sessions_app.domain.following.ways import Sent
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.run_tokens import are_exact
from sessions_app.domain.transcript import ParentContext, SummaryEntry
from sessions_app.models import Said, Session, runs_saying
from sessions_app.services.prompts import as_stored, effective_settings, session_prompt
from sessions_app.services.remembered_turns import RememberedTurns
from sessions_app.services.weighed_runs import WeighingOfRuns

# Runs that are rendered where stored sums do not tell what they need, and prompts that are built beside.
MOST_RENDERED: Final = 1_500
MOST_BUILT: Final = 40
# A prompt of more runs is not built to try a change of settings, where sums tell the same.
MOST_RUNS: Final = 400
# In sessions of more runs fewer prompts are built, for each may hold as many.
_RUNS_BUILT: Final = 400


def follow(*, session: Session, phrase: Phrase) -> Following:
    """Follow words over the turns of a session, from one state of the database."""
    with as_stored(session) as stored:
        return following_of(Memory(stored, phrase))


def following_of(memory: "Memory") -> Following:
    """Return where the words were at each turn, and which setting is to blame where they were not."""
    before, guessed = memory.sights()
    upcoming, first = memory.upcoming(), memory.said.searched_from
    asking = {hit.position for hit in memory.said.hits if Part.INPUT in hit.parts}
    sights = [asked_anew(each) if turn in asking else each for turn, each in enumerate(before, first)]
    causes = {
        each.first: cause
        for each in intervals_of(sights, first=first)
        if (cause := _cause(before[each.first - first].why, memory, each.first)) is not None
    }
    blame = blamed(upcoming.why, memory.turns.today) if upcoming else None
    return Following(memory.phrase, memory.said.hits, first, sights, upcoming, guessed, causes, blame)


def _key(turn: int | None, overrides: Mapping[str, Any]) -> str:
    return repr((turn, sorted(overrides.items())))


def _cause(why: Why, memory: "Memory", turn: int) -> Cause | None:
    try:
        return blamed(why, memory.turns.settings(turn))
    except ConvowebError:
        return None


class Memory:
    """A session as far as words are followed over its turns; what belongs to several of them is read once."""

    def __init__(self, session: Session, phrase: Phrase) -> None:
        self.session, self.phrase, self.turns = session, phrase, RememberedTurns(session)
        self.said: Said = runs_saying(session, phrase)
        self._weigh = WeighingOfRuns(session, phrase, self.said)
        self._prompts: dict[int, tuple[EffectiveSettings, RecordedPrompts | None]] = {}
        self._sent: dict[str, Sent] = {}

    def hit_before(self, turn: int) -> Hit | None:
        """Return the newest run before a turn that says the words."""
        place = bisect_right(self.said.positions, turn - 1)
        return self.said.hits[place - 1] if place else None

    def sights(self) -> tuple[list[Sight], int]:
        """Return where the words were at each turn from the first that was searched, and how many are guessed."""
        first, last = self.said.searched_from, self.turns.last
        known = [self._told(turn) for turn in range(first, last + 1)]
        marks = [turn - first for turn in self._marks(first, last)] if None in known else []
        return fill(known, build=lambda index: self.built(first + index), marks=marks, most=self._most_built)

    def upcoming(self) -> Sight | None:
        """Return where the words are in the prompt to come, None while a run is open."""
        if self.turns.is_open:
            return None
        turn, today = self.turns.last + 1, self.turns.today
        prompts = self.recorded(today)
        found = prompts.sight(turn, *self.handed_down(prompts, today, turn)) if prompts else None
        return found or self.built(None)

    def built(self, turn: int | None) -> Sight:
        """Return where the words are in a turn's prompt as it is built, or in the one to come."""
        return self.built_with(turn, {})

    def built_with(self, turn: int | None, overrides: Mapping[str, Any], *, as_saved: bool = False) -> Sight:
        """Return the same under sparse settings over those of the turn, or over those that are saved today."""
        hit = self.hit_before(self.turns.last + 1 if turn is None else turn)
        try:
            prompt = session_prompt(session=self.session, at=turn, overrides=overrides, as_saved=as_saved)
        except ConvowebError:
            return no_prompt(hit.position if hit else None)
        if as_saved:
            self._sent[_key(turn, overrides)] = Sent(prompt.tokens.total, prompt.settings.model)
        return sight_in(prompt, self.phrase, hit)

    def seen_with(self, turn: int | None, overrides: Mapping[str, Any]) -> Sight:
        """Return where a turn's prompt has the words under sparse settings over those that are saved today.

        The prompt is built, unless it holds very many runs: then sums tell the same, or it counts as one without them.
        """
        try:
            settings = effective_settings(session=self.session, overrides=overrides)
        except ConvowebError:
            return self.built_with(turn, overrides, as_saved=True)
        at = self.turns.last + 1 if turn is None else turn
        prompts = self.recorded(settings)
        if prompts is not None and self.turns.are_known:
            before = self.handed_down(prompts, settings, at)
            if prompts.count(at, *before) > MOST_RUNS:
                return prompts.sight(at, *before) or Sight(Why.LOST, self._newest(at))
        return self.built_with(turn, overrides, as_saved=True)

    def sent_with(self, turn: int | None, overrides: Mapping[str, Any]) -> Sent | None:
        """Return what a turn's prompt needs that was built under sparse settings over those that are saved today."""
        return self._sent.get(_key(turn, overrides))

    def _newest(self, turn: int) -> int | None:
        hit = self.hit_before(turn)
        return hit.position if hit else None

    def _told(self, turn: int) -> Sight | None:
        """Return what sums tell of a turn; nothing has to be worked out before the words were said, but in the head."""
        if not self.turns.are_known:
            return None
        settings = self.turns.settings(turn)
        prompts = self.recorded(settings)
        if prompts is None:
            return None
        return prompts.sight(turn, *self.handed_down(prompts, settings, turn))

    def recorded(self, settings: EffectiveSettings) -> RecordedPrompts | None:
        """Return the prompts under some settings as sums tell them, None if they do not."""
        key = id(settings)
        if key not in self._prompts:
            # With the settings themselves, so that no others get their identity.
            self._prompts[key] = settings, self._recorded(settings)
        return self._prompts[key][1]

    def _recorded(self, settings: EffectiveSettings) -> RecordedPrompts | None:
        try:
            terms = terms_of(settings)
        except ConvowebError:
            return None
        is_read = are_exact(terms.values, terms.counter) or self.turns.last <= MOST_RENDERED
        if not are_told_by_sums(terms.values) or not self.turns.are_known or not is_read:
            return None
        weighed = self._weigh(terms)
        return RecordedPrompts(terms, weighed.weights, self.session.instructions, self.phrase, weighed.said)

    def handed_down(
        self, prompts: RecordedPrompts, settings: EffectiveSettings, turn: int
    ) -> tuple[SummaryEntry | None, list[ParentContext]]:
        """Return the summary in the prompt of a turn, or in the one to come, and what parents handed down."""
        kept = prompts.covers_at_most
        summary = None if kept is None else self.turns.summary(turn, turn - 1 - kept)
        return summary, self.turns.parents(turn, settings)

    @property
    def _most_built(self) -> int:
        """How many prompts are built: fewer where there may be many runs in each."""
        return max(6, MOST_BUILT * _RUNS_BUILT // max(_RUNS_BUILT, self.turns.last))

    def _marks(self, first: int, last: int) -> Iterator[int]:
        """Yield the turns at which something may change: behind a run that says it, at a new summary."""
        yield from (position + 1 for position in self.said.positions if first <= position + 1 <= last)
        if self.turns.are_known:
            yield from self.turns.new_summaries(first)
