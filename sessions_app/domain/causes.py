"""Which setting keeps runs out of a prompt, and which layer that setting comes from."""

from dataclasses import dataclass
from typing import Any

from sessions_app.domain.fates import NEVER_FINISHED, QUERY_INSTEAD
from sessions_app.domain.memory_settings import Layer, Strategy, stored_value
from sessions_app.domain.plan import Fate, FateRange, PromptPlan


@dataclass(frozen=True, slots=True)
class Cause:
    """A setting, its value in stored form, and the layer that it comes from."""

    setting: str
    value: Any
    layer: Layer


def cause_of(fates: FateRange, plan: PromptPlan) -> Cause | None:
    """Return what keeps runs of a plan from the model; None if it sees them, or no setting is to blame."""
    name = _setting(fates, plan)
    if name is None:
        return None
    settings = plan.settings
    return Cause(name, stored_value(getattr(settings.values, name)), settings.origins[name])


def _setting(fates: FateRange, plan: PromptPlan) -> str | None:
    values = plan.settings.values
    match fates.fate:
        case Fate.CAPPED:
            return "max_runs"
        case Fate.PRUNED | Fate.LOST:
            return "max_input_tokens" if values.max_input_tokens == plan.budget else "model"
        case Fate.SKIPPED if fates.reason not in (NEVER_FINISHED, QUERY_INSTEAD):
            if fates.reason.startswith("last_n "):
                return "last_n"
            return "max_history" if values.strategy is Strategy.CONVERSATION else "strategy"
    return None
