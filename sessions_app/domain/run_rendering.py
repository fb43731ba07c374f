"""How what is taken of a run becomes pieces: tool results limited, what is left out marked, then the format."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.pieces import Piece, Renderer, tokens_of
from sessions_app.domain.run_marks import with_marks
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.tool_results import ResultLimits, results_in


@dataclass(frozen=True, slots=True)
class RenderedRun:
    """What is taken of a run as it looks in the prompt, counted exactly.

    `gap` runs are left out behind it, `results` tool results stand in it and behind it, `newer` of them behind it; they
    are counted only as far as they matter to older ones.
    """

    excerpt: Excerpt
    gap: int
    newer: int
    results: int
    pieces: Sequence[Piece]

    @property
    def position(self) -> int:
        """The position of the run."""
        return self.excerpt.run.position

    @property
    def tokens(self) -> int:
        """What it needs, margin included."""
        return tokens_of(self.pieces)


@dataclass(frozen=True, slots=True)
class RunRendering:
    """Renders runs in a format, counted by the model's counter, with the limits of tool results."""

    renderer: Renderer
    counter: TokenCounter
    limits: ResultLimits

    def __call__(self, excerpt: Excerpt, *, gap: int, newer: int) -> RenderedRun:
        """Render what is taken of a run; `gap` runs are left out behind it, `newer` tool results stand behind it."""
        run = with_marks(excerpt, gap=gap)
        pieces = self.renderer.render_run(self.limits.applied(run, newer=newer), self.counter)
        return RenderedRun(excerpt, gap, newer, self.limits.counted(newer + results_in(run)), pieces)
