"""A conversation in memory, for using the engine without a store."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from sessions_app.domain.openai_messages import conversation
from sessions_app.domain.replays.recording import RunWeight, weight_of
from sessions_app.domain.run_fields import check_new_run
from sessions_app.domain.transcript import (
    EventKind,
    LikeRuns,
    MessagePlace,
    ParentContext,
    Role,
    Run,
    RunInput,
    RunStatus,
    SummaryEntry,
    WeighedRuns,
    other_kinds,
)


@dataclass
class InMemoryTranscript:
    """The TranscriptReader and the Recording of runs in order, numbered from 1 here; only the last one may be open.

    `parents` are root first. `made_before` says before which run a summary, by its id, or a parent's, by its title, was
    made, so that past turns can be rebuilt; what it does not name was there from the start.
    """

    runs: Sequence[Run] = ()
    instructions: str = ""
    summaries: Sequence[SummaryEntry] = ()
    parents: Sequence[ParentContext] = ()
    made_before: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        self.runs = [replace(each, position=position) for position, each in enumerate(self.runs, 1)]

    @classmethod
    def of_messages(cls, messages: Sequence[Mapping[str, Any]]) -> "InMemoryTranscript":
        """Return the conversation that messages of OpenAI tell; raises InvalidInput, pointing to what is none."""
        instructions, new_runs = conversation(messages)
        checked = map(check_new_run, new_runs)
        return cls([Run(0, new.status, new.events, new.error, new.tokens) for new in checked], instructions)

    @property
    def finished_through(self) -> int:
        """The position of the newest finished run; 0 if there is none."""
        return len(self.runs) - (self.open_run() is not None)

    def open_run(self) -> Run | None:
        """The newest run while it is pending or running."""
        return self.runs[-1] if self.runs and self.runs[-1].status.is_open else None

    def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[Run]:
        """Finished runs p with not_below <= p < position, newest first: as many as fit `tokens`, and one more."""
        last = min(position - 1, self.finished_through)
        first = max(not_below, self._first_that_fits(last, tokens) - 1)
        return list(self.runs[first - 1 : last])[::-1] if first <= last else []

    def weigh(self, *, not_below: int, tokens: int) -> WeighedRuns:
        """The finished runs p >= not_below, newest first, as many as fit `tokens` by what they need as they are."""
        last = self.finished_through
        first = min(max(not_below, self._first_that_fits(last, tokens)), last + 1)
        first_out = self.runs[first - 2].tokens if first > not_below else None
        peculiar = [
            LikeRuns(run.position, run.position, run.status, other_kinds(run.events))
            for run in self.runs[first - 1 : last]
            if run.status is not RunStatus.COMPLETED or other_kinds(run.events)
        ]
        return WeighedRuns(first, self.tokens_between(first, last), first_out, tuple(peculiar))

    def tokens_between(self, first: int, last: int) -> int:
        """The tokens of the runs first..last, from sums; 0 if there are none."""
        return self._sums[last] - self._sums[first - 1] if first <= last else 0

    def newest_answered(self, *, not_below: int) -> Run | None:
        """The newest finished run p >= not_below in which the assistant said anything."""
        finished = self.runs[not_below - 1 : self.finished_through]
        return next((each for each in reversed(finished) if _says(each, Role.ASSISTANT)), None)

    def first_input(self, *, not_below: int) -> RunInput | None:
        """The input of the first finished run p >= not_below that has one."""
        finished = self.runs[not_below - 1 : self.finished_through]
        first = next((each for each in finished if _says(each, Role.USER)), None)
        if first is None:
            return None
        asked = tuple(event for event in first.events if event.role is Role.USER)
        return RunInput(replace(first, events=asked), len(asked) == len(first.events))

    def oldest_question(self, *, among: int, not_below: int) -> MessagePlace | None:
        """The oldest user message among the newest `among` messages of the finished runs p >= not_below."""
        place: MessagePlace | None = None
        for run in reversed(self.runs[not_below - 1 : self.finished_through]):
            messages = [event for event in run.events if event.kind is EventKind.MESSAGE][::-1]
            for number, event in enumerate(messages[:among], 1):
                place = MessagePlace(run.position, number) if event.role is Role.USER else place
            among -= len(messages)
            if among <= 0:
                break
        return place

    def newest_summary(self, covers_at_most: int) -> SummaryEntry | None:
        """The summary that covers the most of those that cover at most the runs 1..`covers_at_most`."""
        usable = [entry for entry in self.summaries if entry.covers_through <= covers_at_most]
        return max(usable, key=lambda entry: entry.covers_through, default=None)

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parents, root first."""
        return list(self.parents[-depth:])

    def as_of(self, turn: int) -> "InMemoryTranscript":
        """What there was when run `turn` was made; its open run is that run with its input alone."""
        run, made = self.runs[turn - 1], self.made_before or {}
        asked = tuple(event for event in run.events if event.role is Role.USER)
        question = replace(run, events=asked, status=RunStatus.RUNNING, error="")
        return replace(
            self,
            runs=[*self.runs[: turn - 1], question],
            summaries=[entry for entry in self.summaries if made.get(entry.summary_id, 0) <= turn],
            parents=[parent for parent in self.parents if made.get(parent.title, 0) <= turn],
        )

    def all_runs(self) -> Sequence[Run]:
        """The runs, the open one too, oldest first."""
        return self.runs

    def all_weights(self) -> list[RunWeight]:
        """What each run needs as messages of OpenAI in o200k_base, oldest first."""
        return [weight_of(run) for run in self.runs]

    @cached_property
    def _sums(self) -> list[int]:
        """What the runs 1..n need together, by n."""
        return list(accumulate((run.tokens for run in self.runs), initial=0))

    def _first_that_fits(self, last: int, tokens: int) -> int:
        """Return the lowest position from which the runs up to `last` need at most `tokens`."""
        return bisect_left(self._sums, self._sums[last] - tokens, 0, last) + 1


def _says(run: Run, role: Role) -> bool:
    return any(event.role is role for event in run.events)
