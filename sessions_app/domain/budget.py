"""How many tokens a prompt may need, and which limit says so."""

from dataclasses import dataclass

from sessions_app.domain.errors import FieldError, WindowUnknown
from sessions_app.domain.language_models import LanguageModel
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings


@dataclass(frozen=True, slots=True)
class Budget:
    """The most tokens of a prompt; `limit` names in words what sets it, `way_out` what would raise it.

    `reserve` is what is kept free for the answer where the model's window sets it, None where the window does not bind.
    """

    tokens: int
    limit: str
    way_out: str
    reserve: int | None = None


def budget_of(settings: MemorySettings, model: LanguageModel) -> Budget:
    """Return the smaller of `max_input_tokens` and the window less the reserve, or raise WindowUnknown."""
    budgets = [budget for budget in (_limit_budget(settings), _window_budget(settings, model)) if budget is not None]
    if not budgets:
        detail = f"The context window of {model.name} is not known; set max_input_tokens."
        raise WindowUnknown(detail, errors=[FieldError("/settings/max_input_tokens", detail)])
    return min(budgets, key=lambda budget: budget.tokens)


def stored_budget(effective: EffectiveSettings) -> int | None:
    """Return the budget in tokens as they are stored, or None where none can be told."""
    model = effective.model
    try:
        return model.counter.raw_limit(budget_of(effective.values, model).tokens)
    except WindowUnknown:
        return None


def _limit_budget(settings: MemorySettings) -> Budget | None:
    limit = settings.max_input_tokens
    return None if limit is None else Budget(limit, f"max_input_tokens {limit:,}", "raise max_input_tokens")


def _window_budget(settings: MemorySettings, model: LanguageModel) -> Budget | None:
    if model.window is None:
        return None
    tokens = max(0, model.window - settings.reserve_output_tokens)
    limit = f"window {model.window:,} less {settings.reserve_output_tokens:,} reserved"
    way_out = "choose a model with a larger window or lower reserve_output_tokens"
    return Budget(tokens, limit, way_out, settings.reserve_output_tokens)
