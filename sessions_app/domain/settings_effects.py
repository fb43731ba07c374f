"""Which settings change nothing, or contradict each other, under the values in force, and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sessions_app.domain.language_models import LanguageModel
from sessions_app.domain.memory_settings import (
    SETTINGS,
    EffectiveSettings,
    Layer,
    MemorySettings,
    PromptFormat,
    Setting,
    Strategy,
    stored_value,
)
from sessions_app.domain.plan import PromptWarning, WarningCode
from sessions_app.domain.seeds.rules import has_seed_rule

_OF_RESULTS = ("tool_result_max_tokens", "keep_tool_results")
_STRENGTH = {layer: strength for strength, layer in enumerate(Layer)}


@dataclass(frozen=True, slots=True)
class NoEffect:
    """Why a setting changes nothing, in words; `cause` is the setting that brings it about."""

    reason: str
    cause: str


def no_effect(setting: Setting, values: MemorySettings, window: int | None) -> NoEffect | None:
    """Return why a setting changes nothing, or None if it does; `window` is the model's."""
    return next(_reasons(setting, values, window), None)


def settings_warnings(settings: EffectiveSettings, model: LanguageModel) -> Iterator[PromptWarning]:
    """Warn of values that contradict each other, and of chosen ones that do nothing.

    A value from a weaker layer than what makes it idle was not chosen for this prompt, so nothing is said of it.
    """
    yield from _contradictions(settings.values)
    for setting in SETTINGS:
        idle = no_effect(setting, settings.values, model.window)
        if idle is not None and _was_chosen(setting.name, idle.cause, settings):
            value = stored_value(getattr(settings.values, setting.name))
            detail = f"{setting.name} {_written(value)} has no effect: {idle.reason}."
            yield PromptWarning(WarningCode.SETTING_WITHOUT_EFFECT, detail, setting.name)


def _was_chosen(name: str, cause: str, settings: EffectiveSettings) -> bool:
    layer = settings.origins[name]
    return layer is not Layer.BUILT_IN and _STRENGTH[layer] >= _STRENGTH[settings.origins[cause]]


def _reasons(setting: Setting, values: MemorySettings, window: int | None) -> Iterator[NoEffect]:
    yield from _seed_reasons(setting, values) if has_seed_rule(values) else _strategy_reasons(setting, values.strategy)
    if setting.name == "reserve_output_tokens":
        yield from _idle_reserve(values, window)
    if setting.name in _OF_RESULTS and values.format is PromptFormat.TEXT:
        yield NoEffect("the format text carries no tool results", "format")
    yield from (idle for is_idle, idle in _OVERRULED.get(setting.name, ()) if is_idle(values))


def _seed_reasons(setting: Setting, values: MemorySettings) -> Iterator[NoEffect]:
    """Yield why a setting is idle where a prompt is chuk's own, which takes the parent's summary only on demand."""
    if setting.name in _OF_RESULTS:
        yield NoEffect("the format seed sends results as they are", "format")
    elif setting.name == "parent_depth":
        yield NoEffect("the format seed takes the nearest parent alone", "format")
    elif setting.name == "include_parent_context" and values.strategy is not Strategy.HIERARCHICAL:
        yield NoEffect("in the format seed only hierarchical takes it", "format")
    elif setting.name != "include_parent_context":
        yield from _strategy_reasons(setting, values.strategy)


def _strategy_reasons(setting: Setting, strategy: Strategy) -> Iterator[NoEffect]:
    if setting.strategies is None or strategy in setting.strategies:
        return
    if setting.name == "include_parent_context":
        yield NoEffect("hierarchical always includes it", "strategy")
    else:
        names = sorted(setting.strategies)
        yield NoEffect(f"only {' and '.join(names)} {'uses' if len(names) == 1 else 'use'} it", "strategy")


def _is_last_n_idle(values: MemorySettings) -> bool:
    return values.max_runs is not None and values.last_n is not None and values.last_n >= values.max_runs


def _leaves_only_head(values: MemorySettings, limit: int | None) -> bool:
    return limit is not None and limit <= values.head_runs + 1


def _has_no_messages(values: MemorySettings) -> bool:
    return values.strategy is Strategy.CONVERSATION and values.max_history == 0 and not has_seed_rule(values)


def _has_no_runs(values: MemorySettings) -> bool:
    """Whether no finished run is sent; chuk's own prompts take the open one for a run like others."""
    return values.last_n == 0 and not has_seed_rule(values)


def _is_newest_sent_anyway(values: MemorySettings) -> bool:
    return values.strategy is Strategy.TOOL and values.last_n != 0 and not has_seed_rule(values)


_NOT_DROPPED = NoEffect("autoprune is off, so no run is dropped", "autoprune")
_ONLY_HEAD = "leaves no more runs than these and the newest"
_OVERRULED: Mapping[str, Sequence[tuple[Callable[[MemorySettings], bool], NoEffect]]] = {
    "autoprune": (
        (_has_no_runs, NoEffect("last_n 0 sends no run that could be dropped", "last_n")),
        (_has_no_messages, NoEffect("max_history 0 sends no run that could be dropped", "max_history")),
    ),
    "last_n": (
        (_is_last_n_idle, NoEffect("max_runs leaves no more runs anyway", "max_runs")),
        (_has_no_messages, NoEffect("max_history 0 sends no run anyway", "max_history")),
        (_is_newest_sent_anyway, NoEffect("tool sends only the newest run anyway", "strategy")),
    ),
    "max_history": ((_has_no_runs, NoEffect("last_n 0 sends no run", "last_n")),),
    "head_runs": (
        (lambda values: not values.autoprune, _NOT_DROPPED),
        (lambda values: _leaves_only_head(values, values.last_n), NoEffect(f"last_n {_ONLY_HEAD}", "last_n")),
        (lambda values: _leaves_only_head(values, values.max_runs), NoEffect(f"max_runs {_ONLY_HEAD}", "max_runs")),
    ),
    "parent_depth": (
        (lambda values: not values.takes_parents, NoEffect("include_parent_context is off", "include_parent_context")),
    ),
    "summarize_to": (
        (
            lambda values: values.summarize_at == 0,
            NoEffect("summarize_at 0 summarizes each run as soon as it ages", "summarize_at"),
        ),
    ),
    "on_gap": (
        (lambda values: not values.autoprune, _NOT_DROPPED),
        (_has_no_runs, NoEffect("last_n 0 sends no run that could be dropped", "last_n")),
    ),
    "tool_result_max_tokens": (
        (
            lambda values: values.keep_tool_results == 0,
            NoEffect("keep_tool_results 0 leaves no result whole", "keep_tool_results"),
        ),
    ),
}


def _idle_reserve(values: MemorySettings, window: int | None) -> Iterator[NoEffect]:
    if window is None:
        yield NoEffect("the window of this model is not known", "model")
    elif values.max_input_tokens is not None and values.max_input_tokens <= window - values.reserve_output_tokens:
        yield NoEffect(f"the window of {window:,} does not bind", "max_input_tokens")


def _contradictions(values: MemorySettings) -> Iterator[PromptWarning]:
    if values.strategy is Strategy.HEAD_TAIL:
        yield from _head_of_the_newest(values)
    if values.strategy is not Strategy.SUMMARY:
        return
    limits = {"last_n": values.last_n, "max_runs": values.max_runs}
    below = [(limit, name) for name, limit in limits.items() if limit is not None and limit < values.offset]
    if below:
        limit, name = min(below)
        yield PromptWarning(WarningCode.RUNS_IN_NEITHER, _in_neither(name, limit, values.offset), name)
    if 0 < values.summarize_at < values.summarize_to:
        yield PromptWarning(
            WarningCode.SUMMARIZE_TO_ABOVE_AT,
            f"summarize_to {values.summarize_to} is above summarize_at {values.summarize_at}: nothing is summarized "
            "before the runs need more than summarize_to.",
            "summarize_to",
        )


def _head_of_the_newest(values: MemorySettings) -> Iterator[PromptWarning]:
    """Warn of a limit that leaves out how the conversation began, which head_runs is there to keep."""
    limits = [(limit, name) for name in ("last_n", "max_runs") if (limit := getattr(values, name)) is not None]
    if not limits or not values.head_runs:
        return
    limit, name = min(limits)
    yield PromptWarning(
        WarningCode.HEAD_OF_THE_NEWEST,
        f"{name} {limit:,} leaves out how the conversation began: head_runs {values.head_runs:,} counts from the first "
        f"of the newest {limit:,} runs. A way out: {name} unlimited.",
        "head_runs",
    )


def _in_neither(name: str, limit: int, offset: int) -> str:
    runs = f"run {offset} from the end is" if limit + 1 == offset else f"runs {limit + 1}-{offset} from the end are"
    return (
        f"{name} {limit:,} is below offset {offset:,}: {runs} in neither the prompt nor a summary. "
        f"Ways out: raise {name}; lower offset."
    )


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:,}" if isinstance(value, int) else str(value)
