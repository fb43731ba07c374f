"""A Recording of runs in a list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.recording import RunWeight, weight_of
from sessions_app.domain.run_rendering import RunRendering
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.domain.tool_results import ResultLimits
from sessions_app.domain.transcript import ParentContext, Run

STORED = RunRendering(PROMPT_FORMATS[PromptFormat.OPENAI], STORED_COUNTER, ResultLimits(None, None, STORED_COUNTER))


@dataclass
class ListRecording:
    """The last run may be open; `read` says how often the runs were read."""

    history: Sequence[Run] = ()
    instructions: str = ""
    parents: Sequence[ParentContext] = ()
    read: int = 0

    def __post_init__(self) -> None:
        self.history = [replace(each, position=position) for position, each in enumerate(self.history, 1)]

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        return list(self.parents[-depth:])

    def weights(self) -> list[RunWeight]:
        return [weight_of(each, STORED) for each in self.history]

    def runs(self) -> Iterator[Run]:
        self.read += 1
        yield from self.history
