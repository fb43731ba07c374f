"""The newest long replays of this process, so that pages of one table, its turns and its files compute it once."""

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from sessions_app.domain.replays.replayed import Replay

MOST_TURNS = 60_000


@dataclass(slots=True)
class KeptReplays:
    """Replays by all that they depend on: figures alone, no texts of runs.

    Of more than so many turns together, those go that were asked for longest ago.
    """

    most_turns: int = MOST_TURNS
    _replays: OrderedDict[str, Replay] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def find(self, key: str) -> Replay | None:
        """Return the replay, None if it is not kept."""
        with self._lock:
            found = self._replays.get(key)
            if found is not None:
                self._replays.move_to_end(key)
            return found

    def keep(self, key: str, replay: Replay) -> None:
        """Keep a replay, as far as there is room."""
        with self._lock:
            self._replays[key] = replay
            while sum(each.totals.turns for each in self._replays.values()) > self.most_turns:
                self._replays.popitem(last=False)
