"""Which setting keeps the words out of a turn's prompt, and which layer it comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.budget import stored_budget
from sessions_app.domain.causes import Cause
from sessions_app.domain.following.sights import Why
from sessions_app.domain.memory_settings import EffectiveSettings, Layer, Strategy, stored_value

_SETTINGS: Mapping[Why, str] = {
    Why.RESULT_CUT: "tool_result_max_tokens",
    Why.RESULT_HIDDEN: "keep_tool_results",
    Why.CAPPED: "max_runs",
    Why.LAST_N: "last_n",
    Why.PART_LEFT_OUT: "strategy",
    Why.FORMAT: "format",
}
_OF_BUDGET = frozenset({Why.PRUNED, Why.LOST, Why.EXTRACTED_AWAY})
_OF_SUMMARIES = ("max_summary_tokens", "summarize_at")


@dataclass(frozen=True, slots=True)
class TighterSetting:
    """A setting of a session that leaves its summaries less room, or lets them begin earlier, than what it hides.

    `layer` is the one that has the value `inherited`.
    """

    name: str
    value: Any
    inherited: Any
    layer: Layer


def tighter_summaries(settings: EffectiveSettings, inherited: EffectiveSettings) -> Iterator[TighterSetting]:
    """Yield what a session itself has for its summaries where the values without its own, `inherited`, are larger."""
    for name in _OF_SUMMARIES:
        value, below = getattr(settings.values, name), getattr(inherited.values, name)
        if settings.origins[name] is Layer.SESSION and value < below:
            yield TighterSetting(name, value, below, inherited.origins[name])


def blamed(why: Why, settings: EffectiveSettings) -> Cause | None:
    """Return the setting that is to blame, None if none is: a summary that says it no more, a run that never ended."""
    name = _name(why, settings)
    if name is None:
        return None
    return Cause(name, stored_value(getattr(settings.values, name)), settings.origins[name])


def _name(why: Why, settings: EffectiveSettings) -> str | None:
    values = settings.values
    if why is Why.STRATEGY:
        return "max_history" if values.strategy is Strategy.CONVERSATION else "strategy"
    if why in _OF_BUDGET:
        limit, budget = values.max_input_tokens, stored_budget(settings)
        binds = limit is not None and (budget is None or settings.model.counter.raw_limit(limit) <= budget)
        return "max_input_tokens" if binds else "model"
    return _SETTINGS.get(why)
