"""What the reader of a prompt should know, in words, and the ways out."""

from collections.abc import Iterator, Sequence

from sessions_app.domain.budget import Budget
from sessions_app.domain.fates import History, Verdict
from sessions_app.domain.language_models import LanguageModel
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.pieces import Tail
from sessions_app.domain.plan import Fate, FateRange, PromptWarning, Turn, WarningCode
from sessions_app.domain.tokens import STORED_ENCODING


def model_warnings(model: LanguageModel, settings: MemorySettings) -> Iterator[PromptWarning]:
    """Warn of an unknown model and of a limit that its window makes meaningless."""
    if not model.is_known:
        yield PromptWarning(
            WarningCode.MODEL_UNKNOWN,
            f"The model {model.name} is not known; "
            f"its tokens are counted in {STORED_ENCODING} times {float(model.margin)}.",
        )
    limit = settings.max_input_tokens
    if limit is not None and model.window is not None and limit > model.window:
        yield PromptWarning(
            WarningCode.LIMIT_ABOVE_WINDOW,
            f"max_input_tokens {limit:,} is above the window of {model.name}, {model.window:,}; the window binds.",
        )


def open_run_warnings(tail: Tail) -> Iterator[PromptWarning]:
    """Warn that a query leaves the open run out."""
    if tail.open_run is not None and tail.query is not None:
        yield PromptWarning(
            WarningCode.OPEN_RUN_SKIPPED,
            f"Run {tail.open_run.position} is still open and left out, because a query was given; "
            "finish or cancel it, or build the prompt without a query.",
        )


def turn_warnings(turn: Turn) -> Iterator[PromptWarning]:
    """Say that it is not known which settings were in force at the turn."""
    yield PromptWarning(
        WarningCode.SETTINGS_OF_TODAY,
        f"Which settings, instructions, context and tools turn {turn.position} had is not recorded; it is built with "
        "those of today and of this request.",
    )


def gap_warnings(verdict: Verdict, budget: Budget) -> Iterator[PromptWarning]:
    """Warn that an extract stands in for runs that no summary covers."""
    if verdict.extract is not None:
        first, last = verdict.extract
        runs = f"Run {first} does" if first == last else f"Runs {first}-{last} do"
        yield PromptWarning(
            WarningCode.RUNS_EXTRACTED,
            f"{runs} not fit, and no summary covers them yet: {budget.limit} is reached. An offline extract stands in "
            f"for them. Ways out: {budget.way_out}; let the summary catch up.",
        )


def budget_warnings(
    fates: Sequence[FateRange], verdict: Verdict, history: History, budget: Budget
) -> Iterator[PromptWarning]:
    """Warn of a newest run that is dropped or cut, and of lost runs."""
    selection, out = verdict.selection, verdict.selection.first_out
    if selection.shortened:
        run = selection.shortened.position
        yield PromptWarning(
            WarningCode.NEWEST_RUN_SHORTENED,
            f"Run {run} does not fit by itself and is cut to its beginnings ({budget.limit}). "
            f"A way out: {budget.way_out}.",
        )
    if out is not None and not selection.kept:
        newest = ", the newest," if out.position == history.finished else ", the newest that is wanted,"
        yield PromptWarning(
            WarningCode.NEWEST_RUN_DROPPED,
            f"Run {out.position}{newest} does not fit: it needs {out.tokens:,} tokens, "
            f"{selection.left:,} are left ({budget.limit}). A way out: {budget.way_out}.",
        )
    lost = [each for each in fates if each.fate is Fate.LOST]
    if lost:
        protected_from = history.finished - history.settings.offset + 1
        yield PromptWarning(WarningCode.RUNS_LOST, _lost(lost[0].first, lost[-1].last, budget, protected_from))


def _lost(first: int, last: int, budget: Budget, protected_from: int) -> str:
    """Name the ways out; runs from `protected_from` on are among the newest `offset` and never summarized."""
    runs = f"Run {first} is" if first == last else f"Runs {first}-{last} are"
    ways = [budget.way_out]
    if first < protected_from:
        ways.append("let the summary catch up")
    if last >= protected_from:
        ways.append("lower offset, so that newer runs are summarized too")
    return f"{runs} neither in the prompt nor in its summary: {budget.limit} is reached. Ways out: {'; '.join(ways)}."
