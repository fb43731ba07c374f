"""What held at each turn of a session: settings, summary, what parents handed down. Read once, told turn by turn."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Final

from sessions_app.domain.following.timelines import SummaryTimeline
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.transcript import ParentContext, SummaryEntry
from sessions_app.models import (
    ParentTimeline,
    Session,
    SessionTranscript,
    TurnRow,
    parent_timelines,
    settings_changes,
    summary_timelines,
    turn_rows,
)
from sessions_app.services.prompts import effective_settings, settings_of_turn

# Of more turns each is looked up by itself.
MOST_TURNS: Final = 100_000


class RememberedTurns:
    """The turns of a session; the one behind the last run is the prompt to come."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._settings: dict[tuple[int, int], EffectiveSettings] = {}
        self._parents: dict[int, Sequence[ParentTimeline]] = {}

    @property
    def last(self) -> int:
        """The newest turn that was made."""
        return self.session.last_position

    @property
    def are_known(self) -> bool:
        """Whether turns are few enough to be told one by one."""
        return self.last <= MOST_TURNS

    @cached_property
    def today(self) -> EffectiveSettings:
        """The settings that are saved now."""
        return effective_settings(session=self.session)

    @cached_property
    def is_open(self) -> bool:
        """Whether the newest run is still being answered: then its turn is the prompt to come."""
        return SessionTranscript(self.session).open_run() is not None

    def settings(self, turn: int) -> EffectiveSettings:
        """Return the settings of a turn; between two saves they are the same."""
        if not self.are_known:
            return settings_of_turn(session=self.session, at=turn)
        row = self._rows[turn - 1]
        key = row.holder, bisect_right(self._changes, row.created_at)
        if key not in self._settings:
            self._settings[key] = settings_of_turn(session=self.session, at=turn)
        return self._settings[key]

    def summary(self, turn: int, covers_at_most: int) -> SummaryEntry | None:
        """Return the summary in the prompt of a turn, which covers at most so many runs."""
        if covers_at_most <= 0:
            return None
        if turn > self.last:
            return SessionTranscript(self.session).newest_summary(covers_at_most)
        row = self._rows[turn - 1]
        return self._timelines[row.holder].newest_at(row.created_at, covers_at_most)

    def parents(self, turn: int, settings: EffectiveSettings) -> list[ParentContext]:
        """Return what parents handed down at a turn under some settings."""
        depth = settings.values.parent_depth
        if not settings.values.takes_parents or self.session.parent_id is None:
            return []
        if turn > self.last:
            return SessionTranscript(self.session).parent_contexts(depth)
        if depth not in self._parents:
            self._parents[depth] = parent_timelines(self.session, depth)
        moment = self._rows[turn - 1].created_at
        found = ((each.title, each.timeline.newest_at(moment)) for each in self._parents[depth])
        return [ParentContext(title, entry.text) for title, entry in found if entry is not None]

    def new_summaries(self, first: int) -> Iterator[int]:
        """Yield the turns, from `first` on, at which another summary is in use than at the turn before."""
        before = None
        for row in self._rows[first - 1 :]:
            entry = self._timelines[row.holder].newest_at(row.created_at)
            if entry is not before:
                yield row.position
            before = entry

    @cached_property
    def _rows(self) -> Sequence[TurnRow]:
        return turn_rows(self.session)

    @cached_property
    def _changes(self) -> Sequence[datetime]:
        return settings_changes(self.session)

    @cached_property
    def _timelines(self) -> Mapping[int, SummaryTimeline]:
        return summary_timelines(self.session)
