"""What can be done about runs that are neither in the prompt nor in its summary; only ways that do lead out."""

from collections.abc import Iterator
from dataclasses import dataclass

from sessions_app.domain.budget import Budget
from sessions_app.domain.memory_settings import EffectiveSettings, Layer
from sessions_app.domain.summaries import Standing, step_is_due


@dataclass(frozen=True, slots=True)
class WaysOut:
    """Knows how far the summary has come, and which settings are in force."""

    budget: Budget
    standing: Standing
    settings: EffectiveSettings

    def __call__(self, first: int, last: int) -> str:
        """Return the ways out for the runs first..last."""
        return "; ".join(self._ways(first, last))

    def _ways(self, first: int, last: int) -> Iterator[str]:
        """Yield them; runs behind `summarizable` are among the newest `offset`, which are never summarized."""
        standing, values = self.standing, self.settings.values
        summarizable = standing.finished_through - values.offset
        yield self.budget.way_out
        if first <= summarizable:
            if step_is_due(standing, values):
                only_now = Layer.REQUEST in self.settings.origins.values()
                yield "save these settings and let the summary catch up" if only_now else "let the summary catch up"
            elif standing.covered_through <= summarizable:
                yield "lower summarize_at, so that older runs are summarized sooner"
        if max(last, standing.covered_through) > summarizable:
            yield "save a lower offset, so that newer runs may be summarized too"
