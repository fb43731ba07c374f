"""What a replay reads of a conversation: each run once, oldest first, and what it needs in prompts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.cut_results import cut_segments
from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.pieces import Piece, Tail, segments_of, tokens_of
from sessions_app.domain.prompt_formats import PROMPT_FORMATS
from sessions_app.domain.run_rendering import RenderedRun, RunRendering
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.domain.tool_results import ResultLimits
from sessions_app.domain.transcript import EventKind, ParentContext, Role, Run, RunStatus

# What is stored with runs is what they need so.
_AS_STORED = RunRendering(PROMPT_FORMATS[PromptFormat.OPENAI], STORED_COUNTER, ResultLimits(None, None, STORED_COUNTER))


class RunWeight(NamedTuple):
    """What a run needs in prompts: `tokens` whole, `question` its input alone; `stored` is what is stored with it.

    `asked` of the question's tokens are messages with which the run itself begins, so that they stay as they are when
    the question becomes history. `cut` of its tool results are not sent whole.
    """

    stored: int
    tokens: int
    question: int
    asked: int
    cut: int = 0


class Recording(Protocol):
    """Reads a lineage for a replay: all its runs, the open one too."""

    @property
    def instructions(self) -> str:
        """The session's system prompt, maybe empty."""
        ...

    def parent_contexts(self, depth: int) -> list[ParentContext]:
        """The summaries of up to `depth` parents, root first; parents without a summary are left out."""
        ...

    def all_weights(self) -> Iterable[RunWeight]:
        """What each run needs as messages of OpenAI in o200k_base, from what is stored, oldest first."""
        ...

    def all_runs(self) -> Iterable[Run]:
        """The runs with all their events, oldest first."""
        ...


@dataclass(slots=True)
class Weights:
    """What the runs need, by position: `before`, `stored` and `cut` are sums over the runs 1..p.

    The others are of run p alone.
    """

    before: list[int] = field(default_factory=lambda: [0])
    stored: list[int] = field(default_factory=lambda: [0])
    questions: list[int] = field(default_factory=lambda: [0])
    asked: list[int] = field(default_factory=lambda: [0])
    cut: list[int] = field(default_factory=lambda: [0])

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.questions) - 1

    def add(self, weight: RunWeight) -> None:
        """Add the next run."""
        stored, tokens, question, asked, cut = weight
        self.before.append(self.before[-1] + tokens)
        self.stored.append(self.stored[-1] + stored)
        self.questions.append(question)
        self.asked.append(asked)
        self.cut.append(self.cut[-1] + cut)

    def tokens(self, first: int, last: int) -> int:
        """Return what the runs first..last need, whole."""
        return self.before[last] - self.before[first - 1]

    def cut_results(self, first: int, last: int) -> int:
        """Return how many tool results of the runs first..last are not sent whole."""
        return self.cut[last] - self.cut[first - 1]

    def are_alike(self, one: int, other: int) -> bool:
        """Whether the runs from `one` on look like those from `other` on: no run between them sends anything."""
        return self.before[one - 1] == self.before[other - 1]


def question_of(run: Run) -> Run:
    """Return a run as it was when it was asked: open, with its input alone."""
    asked = (event for event in run.events if event.kind is EventKind.MESSAGE and event.role is Role.USER)
    return replace(run, status=RunStatus.RUNNING, events=tuple(asked))


def weight_of(run: Run, rendering: RunRendering = _AS_STORED) -> RunWeight:
    """Render a run and its input, as what is stored is counted if nothing else is given, and count them."""
    question = rendering.renderer.render_tail(Tail(open_run=question_of(run)), rendering.counter)
    rendered = rendering(Excerpt(run), gap=0, newer=0)
    asked = common_tokens(question, rendered.pieces)
    return RunWeight(run.tokens, rendered.tokens, tokens_of(question), asked, cut_results(rendered, rendering))


def cut_results(rendered: RenderedRun, rendering: RunRendering) -> int:
    """Return how many tool results of a run are not sent whole."""
    limits = rendering.limits
    return sum(1 for _ in cut_segments(segments_of(rendered.pieces), keep=limits.keep, tokens=limits.tokens))


def common_tokens(one: Sequence[Piece], other: Sequence[Piece]) -> int:
    """Return what the messages need with which both begin; those of different runs are not the same."""
    tokens = 0
    for ours, theirs in zip(one, other, strict=False):
        if ours.message != theirs.message or _position(ours) != _position(theirs):
            break
        tokens += ours.tokens
    return tokens


def _position(piece: Piece) -> int | None:
    return piece.segments[0].position
