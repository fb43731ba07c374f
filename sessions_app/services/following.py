"""Where the prompts of a session had some words, turn by turn, and why they had them no more."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sessions_app.domain.builder import terms_of
from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.causes import Cause
from sessions_app.domain.deciding import Terms
from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.following.blame import blamed
from sessions_app.domain.following.built import kept_without, says, sight_in
from sessions_app.domain.following.filling import fill
from sessions_app.domain.following.followed import Following
from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.recorded import RecordedPrompts, SaidRuns, are_told_by_sums
from sessions_app.domain.following.sights import Hit, Sight, Why, intervals_of, no_prompt
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.pieces import segments_of
from sessions_app.domain.replays.recording import Weights, weight_of
from sessions_app.domain.replays.replay import rendering_of
from sessions_app.domain.run_tokens import are_exact
from sessions_app.domain.transcript import ParentContext, SummaryEntry
from sessions_app.models import (
    Said,
    Session,
    SessionRecording,
    SessionTranscript,
    parent_timelines,
    runs_saying,
    settings_changes,
    summary_timelines,
    turn_rows,
)
from sessions_app.services.prompts import as_stored, effective_settings, session_prompt, settings_of_turn

# Turns that sums tell, runs that are rendered for that where stored sums do not, and prompts that are built beside.
MOST_TURNS: Final = 10_000
MOST_RENDERED: Final = 1_500
MOST_BUILT: Final = 40
# A prompt of more runs is not built to try a change of settings, where sums tell the same.
MOST_RUNS: Final = 400
_RUNS_BUILT: Final = 2_000


def follow(*, session: Session, phrase: Phrase) -> Following:
    """Follow words over the turns of a session, from one state of the database."""
    with as_stored(session) as stored:
        return following_of(Memory(stored, phrase))


def following_of(memory: "Memory") -> Following:
    """Return where the words were at each turn, and which setting is to blame where they were not."""
    sights, guessed = memory.sights()
    upcoming, first = memory.upcoming(), memory.said.searched_from
    causes = {
        each.first: cause
        for each in intervals_of(sights, first=first)
        if (cause := _cause(each.why, memory, each.first)) is not None
    }
    blame = blamed(upcoming.why, memory.today) if upcoming else None
    return Following(memory.phrase, memory.said.hits, first, sights, upcoming, guessed, causes, blame)


def _cause(why: Why, memory: "Memory", turn: int) -> Cause | None:
    try:
        return blamed(why, memory.settings(turn))
    except ConvowebError:
        return None


@dataclass(slots=True, weakref_slot=True)
class _Weighed:
    """What runs need in some terms, and which of those that say the words still do as they are sent."""

    weights: Weights
    said: SaidRuns


class Memory:
    """A session's turns, as far as words are followed over them; what belongs to several turns is read once."""

    def __init__(self, session: Session, phrase: Phrase) -> None:
        self.session, self.phrase = session, phrase
        self.said: Said = runs_saying(session, phrase)
        self._prompts: dict[int, tuple[EffectiveSettings, RecordedPrompts | None]] = {}
        self._weighed: dict[Any, _Weighed] = {}
        self._settings: dict[Any, EffectiveSettings] = {}
        self._parents: dict[int, Any] = {}

    @cached_property
    def today(self) -> EffectiveSettings:
        """The settings that are saved now."""
        return effective_settings(session=self.session)

    @property
    def knows_turns(self) -> bool:
        """Whether turns are few enough to be told one by one."""
        return self.session.last_position <= MOST_TURNS

    @cached_property
    def is_open(self) -> bool:
        """Whether the newest run is still being answered: then its turn is the prompt to come."""
        return SessionTranscript(self.session).open_run() is not None

    @cached_property
    def _rows(self) -> Sequence[Any]:
        return turn_rows(self.session)

    @cached_property
    def _changes(self) -> Sequence[Any]:
        return settings_changes(self.session)

    @cached_property
    def _timelines(self) -> Mapping[int, Any]:
        return summary_timelines(self.session)

    def hit_before(self, turn: int) -> Hit | None:
        """Return the newest run before a turn that says the words."""
        place = bisect_right(self.said.positions, turn - 1)
        return self.said.hits[place - 1] if place else None

    def settings(self, turn: int) -> EffectiveSettings:
        """Return the settings of a turn; between two saves they are the same."""
        if not self.knows_turns:
            return settings_of_turn(session=self.session, at=turn)
        row = self._rows[turn - 1]
        key = row.holder, bisect_right(self._changes, row.created_at)
        if key not in self._settings:
            self._settings[key] = settings_of_turn(session=self.session, at=turn)
        return self._settings[key]

    def sights(self) -> tuple[list[Sight], int]:
        """Return where the words were at each turn from the first that was searched, and how many are guessed."""
        first, last = self.said.searched_from, self.session.last_position
        known = [self._told(turn) for turn in range(first, last + 1)]
        marks = self._marks(first, last) if None in known else ()
        return fill(known, build=lambda index: self.built(first + index), marks=marks, most=self._most_built)

    def upcoming(self) -> Sight | None:
        """Return where the words are in the prompt to come, None while a run is open."""
        if self.is_open:
            return None
        turn = self.session.last_position + 1
        prompts = self.recorded(self.today)
        if prompts is not None:
            found = prompts.sight(turn, self.summary(prompts, turn), self.parents(self.today, turn))
            if found is not None:
                return found
        return self.built(None)

    def built(self, turn: int | None) -> Sight:
        """Return where the words are in a turn's prompt as it is built, or in the one to come."""
        return self.built_with(turn, {})

    def built_with(self, turn: int | None, overrides: Mapping[str, Any], *, as_saved: bool = False) -> Sight:
        """Return the same under sparse settings over those of the turn, or over those that are saved today."""
        hit = self.hit_before(self.session.last_position + 1 if turn is None else turn)
        try:
            prompt = session_prompt(session=self.session, at=turn, overrides=overrides, as_saved=as_saved)
        except ConvowebError:
            return no_prompt(hit.position if hit else None)
        return sight_in(prompt, self.phrase, hit)

    def seen_with(self, turn: int | None, overrides: Mapping[str, Any]) -> Sight:
        """Return where a turn's prompt has the words under sparse settings over those that are saved today.

        The prompt is built, unless it holds very many runs: then sums tell the same, or it counts as one without them.
        """
        try:
            settings = effective_settings(session=self.session, overrides=overrides)
        except ConvowebError:
            return self.built_with(turn, overrides, as_saved=True)
        at = self.session.last_position + 1 if turn is None else turn
        prompts = self.recorded(settings)
        if prompts is not None and self.knows_turns:
            before = self.summary(prompts, at), self.parents(settings, at)
            if prompts.count(at, *before) > MOST_RUNS:
                return prompts.sight(at, *before) or Sight(Why.LOST, self._newest(at))
        return self.built_with(turn, overrides, as_saved=True)

    def _newest(self, turn: int) -> int | None:
        hit = self.hit_before(turn)
        return hit.position if hit else None

    def _told(self, turn: int) -> Sight | None:
        """Return what sums tell of a turn; nothing has to be worked out before the words were said, but in the head."""
        if not self.knows_turns:
            return None
        settings = self.settings(turn)
        prompts = self.recorded(settings)
        if prompts is None:
            return None
        return prompts.sight(turn, self.summary(prompts, turn), self.parents(settings, turn))

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
        turns, is_stored = self.session.last_position, are_exact(terms.values, terms.counter)
        if not are_told_by_sums(terms.values) or turns > (MOST_TURNS if is_stored else MOST_RENDERED):
            return None
        weighed = self._weigh(terms, is_stored=is_stored)
        return RecordedPrompts(terms, weighed.weights, self.session.instructions, self.phrase, weighed.said)

    def _weigh(self, terms: Terms, *, is_stored: bool) -> _Weighed:
        key = None if is_stored else (terms.values.format, terms.result_limits)
        if key not in self._weighed:
            self._weighed[key] = self._stored() if is_stored else self._rendered(terms)
        return self._weighed[key]

    def _stored(self) -> _Weighed:
        """Take what is stored with runs, which are sent as they are."""
        weights, positions = Weights(), self.said.positions
        for weight in SessionRecording(self.session).all_weights():
            weights.add(weight)
        return _Weighed(weights, SaidRuns(positions, positions))

    def _rendered(self, terms: Terms) -> _Weighed:
        """Render every run, and see which of those that say the words still do."""
        weights, rendering = Weights(), rendering_of(terms)
        hits, sent, unsent = {hit.position: hit for hit in self.said.hits}, [], {}
        for run in SessionRecording(self.session).all_runs():
            weights.add(weight_of(run, rendering))
            if run.position not in hits:
                continue
            pieces = rendering(Excerpt(run), gap=0, newer=0).pieces
            if any(says(segment, self.phrase) for segment in segments_of(pieces)):
                sent.append(run.position)
            else:
                left_out, hidden = terms.renderer.left_out(run), terms.values.keep_tool_results is not None
                why = kept_without(hits[run.position], terms.values, left_out=left_out, hidden=hidden)
                unsent[run.position] = why
        return _Weighed(weights, SaidRuns(list(hits), sent, unsent))

    def summary(self, prompts: RecordedPrompts, turn: int) -> SummaryEntry | None:
        """Return the summary in the prompt of a turn, or in the one to come."""
        kept = prompts.covers_at_most
        at_most = 0 if kept is None else turn - 1 - kept
        if at_most <= 0:
            return None
        if turn > self.session.last_position:
            return SessionTranscript(self.session).newest_summary(at_most)
        row = self._rows[turn - 1]
        found: SummaryEntry | None = self._timelines[row.holder].newest_at(row.created_at, at_most)
        return found

    def parents(self, settings: EffectiveSettings, turn: int) -> list[ParentContext]:
        """Return what parents handed down at a turn."""
        values = settings.values
        if not values.takes_parents or self.session.parent_id is None:
            return []
        if turn > self.session.last_position:
            return SessionTranscript(self.session).parent_contexts(values.parent_depth)
        if values.parent_depth not in self._parents:
            self._parents[values.parent_depth] = parent_timelines(self.session, values.parent_depth)
        moment = self._rows[turn - 1].created_at
        found = ((each.title, each.timeline.newest_at(moment)) for each in self._parents[values.parent_depth])
        return [ParentContext(title, entry.text) for title, entry in found if entry is not None]

    @property
    def _most_built(self) -> int:
        """How many prompts are built: fewer where there may be many runs in each."""
        return max(3, min(MOST_BUILT, MOST_BUILT * _RUNS_BUILT // max(_RUNS_BUILT, 20 * self.session.last_position)))

    def _marks(self, first: int, last: int) -> Iterator[int]:
        """Yield the places of turns at which something may change: behind a run that says it, at a new summary."""
        yield from (position + 1 - first for position in self.said.positions if first <= position + 1 <= last)
        if last > MOST_TURNS:
            return
        before = None
        for row in self._rows[first - 1 :]:
            entry = self._timelines[row.holder].newest_at(row.created_at)
            if entry is not before:
                yield row.position - first
            before = entry
