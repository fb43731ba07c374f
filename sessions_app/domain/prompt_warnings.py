"""What the reader of a prompt should know, in words, and the ways out."""

from collections.abc import Iterator, Sequence

from sessions_app.domain.budget import Budget
from sessions_app.domain.fates import History
from sessions_app.domain.language_models import LanguageModel
from sessions_app.domain.memory_settings import EffectiveSettings, Layer, MemorySettings
from sessions_app.domain.pieces import Tail
from sessions_app.domain.plan import FateRange, PromptWarning, WarningCode
from sessions_app.domain.selection import Selection
from sessions_app.domain.summaries import Standing, step_is_due
from sessions_app.domain.tokens import STORED_ENCODING


def model_warnings(model: LanguageModel, settings: MemorySettings, budget: Budget) -> Iterator[PromptWarning]:
    """Warn of an unknown model and of a limit that its window makes meaningless."""
    if not model.is_known:
        yield PromptWarning(
            WarningCode.MODEL_UNKNOWN,
            f"The model {model.name} is not known; "
            f"its tokens are counted in {STORED_ENCODING} times {float(model.margin)}.",
        )
    limit = settings.max_input_tokens
    if limit is not None and budget.reserve is not None:
        yield PromptWarning(
            WarningCode.LIMIT_ABOVE_WINDOW,
            f"max_input_tokens {limit:,} is above what {model.name} has room for, {budget.tokens:,} "
            f"({budget.limit}); the window binds.",
        )


def open_run_warnings(tail: Tail) -> Iterator[PromptWarning]:
    """Warn that a query leaves the open run out."""
    if tail.open_run is not None and tail.query is not None:
        yield PromptWarning(
            WarningCode.OPEN_RUN_SKIPPED,
            f"Run {tail.open_run.position} is still open and left out, because a query was given; "
            "finish or cancel it, or build the prompt without a query.",
        )


def budget_warnings(selection: Selection, history: History, budget: Budget) -> Iterator[PromptWarning]:
    """Warn of a dropped newest run."""
    cut = selection.cut
    if cut is not None and cut.position == history.finished:
        yield PromptWarning(
            WarningCode.NEWEST_RUN_DROPPED,
            f"Run {history.finished}, the newest, does not fit: it needs {cut.needs:,} tokens, "
            f"{cut.left:,} are left ({budget.limit}). A way out: {budget.way_out}.",
        )


def lost_warning(
    lost: Sequence[FateRange], budget: Budget, standing: Standing, settings: EffectiveSettings
) -> PromptWarning:
    """Warn of lost runs; of the ways out only those are named that lead out."""
    first, last = lost[0].first, lost[-1].last
    runs = f"Run {first} is" if first == last else f"Runs {first}-{last} are"
    ways = "; ".join(_ways_out(first, last, budget, standing, settings))
    return PromptWarning(
        WarningCode.RUNS_LOST,
        f"{runs} neither in the prompt nor in its summary: {budget.limit} is reached. Ways out: {ways}.",
    )


def _ways_out(first: int, last: int, budget: Budget, standing: Standing, settings: EffectiveSettings) -> Iterator[str]:
    """Yield them; runs behind `summarizable` are among the newest `offset`, which are never summarized."""
    summarizable = standing.finished_through - settings.values.offset
    yield budget.way_out
    if first <= summarizable:
        if step_is_due(standing, settings.values):
            only_now = Layer.REQUEST in settings.origins.values()
            yield "save these settings and let the summary catch up" if only_now else "let the summary catch up"
        elif standing.covered_through <= summarizable:
            yield "lower summarize_at, so that older runs are summarized sooner"
    if max(last, standing.covered_through) > summarizable:
        yield "lower offset, so that newer runs may be in the summary too"
