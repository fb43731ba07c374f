"""What the reader of a prompt should know, in words, and the ways out."""

from collections.abc import Iterator, Sequence

from sessions_app.domain.budget import Budget
from sessions_app.domain.fates import History
from sessions_app.domain.gaps import MOST_RUNS
from sessions_app.domain.language_models import LanguageModel
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.pieces import TOOL_CALLS, Renderer, Tail
from sessions_app.domain.plan import FateRange, PastTurn, PromptWarning, WarningCode
from sessions_app.domain.selection import Choice, Span
from sessions_app.domain.tokens import STORED_ENCODING
from sessions_app.domain.ways_out import WaysOut


def model_warnings(model: LanguageModel, settings: MemorySettings, budget: Budget) -> Iterator[PromptWarning]:
    """Warn of an unknown model and of a limit that its window makes meaningless."""
    if not model.is_known:
        yield PromptWarning(
            WarningCode.MODEL_UNKNOWN,
            f"The model {model.name} is not known; "
            f"its tokens are counted in {STORED_ENCODING} times {float(model.margin)}.",
            "model",
        )
    limit = settings.max_input_tokens
    if limit is not None and budget.reserve is not None:
        yield PromptWarning(
            WarningCode.LIMIT_ABOVE_WINDOW,
            f"max_input_tokens {limit:,} is above what {model.name} has room for, {budget.tokens:,} "
            f"({budget.limit}); the window binds.",
            "max_input_tokens",
        )


def open_run_warnings(tail: Tail) -> Iterator[PromptWarning]:
    """Warn that a query leaves the open run out."""
    if tail.open_run is not None and tail.query is not None:
        yield PromptWarning(
            WarningCode.OPEN_RUN_SKIPPED,
            f"Run {tail.open_run.position} is still open and left out, because a query was given; "
            "finish or cancel it, or build the prompt without a query.",
        )


def turn_warnings(turn: PastTurn) -> Iterator[PromptWarning]:
    """Say where the settings are not those that were in force at the turn."""
    if turn.versions is None:
        yield PromptWarning(
            WarningCode.SETTINGS_OF_TODAY,
            f"Turn {turn.position} is built with the settings and instructions of today, and with context and tools of "
            "this request.",
        )
    elif turn.versions.unknown:
        yield PromptWarning(
            WarningCode.SETTINGS_OF_TODAY,
            f"Which settings {turn.versions.unknown} had at turn {turn.position} is not recorded; those of today take "
            "their place.",
        )


def budget_warnings(choice: Choice, history: History, budget: Budget) -> Iterator[PromptWarning]:
    """Warn of a newest run that is dropped or cut."""
    cut = choice.cut
    if choice.shortened is not None:
        yield PromptWarning(
            WarningCode.NEWEST_RUN_SHORTENED,
            f"Run {choice.shortened} does not fit by itself and is cut to its beginnings ({budget.limit}). "
            f"A way out: {budget.way_out}.",
        )
    if cut is not None and not choice.kept:
        newest = ", the newest," if cut.position == history.finished else ", the newest that is wanted,"
        yield PromptWarning(
            WarningCode.NEWEST_RUN_DROPPED,
            f"Run {cut.position}{newest} does not fit: it needs {cut.needs:,} tokens, "
            f"{cut.left:,} are left ({budget.limit}). A way out: {budget.way_out}.",
        )


def left_out_warnings(choice: Choice, renderer: Renderer, name: str) -> Iterator[PromptWarning]:
    """Warn of a format that leaves out what the runs in the prompt did by tool calls."""
    count = sum(runs.last - runs.first + 1 for runs in choice.kept if TOOL_CALLS in renderer.left_out(runs.excerpt.run))
    if count:
        runs = "a run in the prompt is" if count == 1 else f"{count:,} runs in the prompt are"
        yield PromptWarning(
            WarningCode.TOOL_CALLS_LEFT_OUT,
            f"The format {name} carries no tool calls: {runs} sent without calls and results.",
        )


def gap_warnings(
    lost: Sequence[FateRange], extract: Span | None, budget: Budget, ways: WaysOut, *, is_stopgap: bool
) -> Iterator[PromptWarning]:
    """Warn of runs that no summary covers: that an extract stands in for some, and that others are lost, and why."""
    if extract is not None:
        first, last = extract
        runs = f"Run {first} does" if first == last else f"Runs {first}-{last} do"
        yield PromptWarning(
            WarningCode.RUNS_EXTRACTED,
            f"{runs} not fit, and no summary covers them yet: {budget.limit} is reached. An offline extract stands in "
            f"for them. Ways out: {ways(first, last)}.",
        )
    if lost:
        first, last = lost[0].first, lost[-1].last
        runs = f"Run {first} is" if first == last else f"Runs {first}-{last} are"
        no_room = "not even an extract of a few words fits into its half of the room"
        why = f"an extract stands in for at most {MOST_RUNS} runs" if extract else no_room
        yield PromptWarning(
            WarningCode.RUNS_LOST,
            f"{runs} neither in the prompt nor in its summary: {budget.limit} is reached"
            f"{f', and {why}' if is_stopgap else ''}. Ways out: {ways(first, last)}.",
        )
