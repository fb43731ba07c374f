"""Ways to bring words back into a prompt; changes of settings are tried by building the prompt with them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sessions_app.domain.causes import Cause
from sessions_app.domain.following.sights import Place, Sight, Why
from sessions_app.domain.language_models import LanguageModel
from sessions_app.domain.memory_settings import (
    UNLIMITED,
    EffectiveSettings,
    Layer,
    MemorySettings,
    OnGap,
    PromptFormat,
    Strategy,
    built_in_value,
    stored_value,
    stored_values,
)

Changes = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """Sparse settings to be tried; `layer` is the one that has them, if they stand in a layer already."""

    changes: Changes
    layer: Layer | None = None


class WayKind(StrEnum):
    """What a way to bring words back does."""

    TODAY = "today"
    LAYER = "layer"
    SETTINGS = "settings"
    EDIT_SUMMARY = "edit_summary"
    USE_SUMMARY = "use_summary"
    SUMMARIZE = "summarize"
    FORK = "fork"


@dataclass(frozen=True, slots=True)
class Sent:
    """What a prompt that was built needs, and the model that it goes to."""

    tokens: int
    model: LanguageModel

    def cost(self, *, now: datetime) -> Decimal | None:
        """Return what sending it costs in USD, nothing of it cached; None where the price is not known."""
        return self.model.prices(now=now).cost(input_tokens=self.tokens)


@dataclass(frozen=True, slots=True)
class Way:
    """One way: `changes` of settings with the place the words then are in, a summary's `number`, or a run to fork at.

    Where a layer has these values already, `layer` says which. `is_extract`: only until a summary covers the runs;
    `reach` is the last turn up to which every prompt has them with these settings, None where that is not worked out.
    `sent` is what the prompt needs that has them then, `sent_without` what the same turn's needs without the change;
    None where it was not built.
    """

    kind: WayKind
    changes: Changes | None = None
    place: Place | None = None
    layer: Layer | None = None
    number: int | None = None
    run: int | None = None
    is_extract: bool = False
    reach: int | None = None
    sent: Sent | None = field(default=None, compare=False)
    sent_without: Sent | None = field(default=None, compare=False)


def other_layers(cause: Cause, inherited: EffectiveSettings) -> Iterator[Trial]:
    """Yield the values that the layers below have for the setting that is to blame.

    `inherited` is what a session without settings of its own has.
    """
    name = cause.setting
    values = {inherited.origins[name]: stored_value(getattr(inherited.values, name))}
    if name != "model":
        values.setdefault(Layer.BUILT_IN, built_in_value(name))
    below = {Layer.SESSION: [Layer.PROJECT, Layer.BUILT_IN], Layer.PROJECT: [Layer.BUILT_IN]}.get(cause.layer, [])
    tried = {cause.value}
    for layer in below:
        if layer in values and values[layer] not in tried:
            tried.add(values[layer])
            yield Trial({name: values[layer]}, layer)


def layer_with(changes: Changes, settings: EffectiveSettings, inherited: EffectiveSettings) -> Layer | None:
    """Return the layer below that has all these values already, the project's if they are of both.

    `inherited` is what a session without settings of its own has.
    """
    origins = {settings.origins[name] for name in changes}
    if origins == {Layer.SESSION} and are_inherited(changes, inherited):
        of_project = any(inherited.origins[name] is Layer.PROJECT for name in changes)
        return Layer.PROJECT if of_project else Layer.BUILT_IN
    is_above = origins <= {Layer.SESSION, Layer.PROJECT} and "model" not in changes
    return Layer.BUILT_IN if is_above and all(built_in_value(n) == v for n, v in changes.items()) else None


def are_inherited(changes: Changes, inherited: EffectiveSettings) -> bool:
    """Tell whether a session without settings of its own has all these values."""
    return changes.items() <= stored_values(inherited.values).items()


def trials(sight: Sight, settings: EffectiveSettings, *, finished: int, needed: int | None) -> Iterator[Trial]:
    """Yield what may show the words to the model where a prompt of so many finished runs had them nowhere.

    `needed` is a budget that has room for the run that says them, None if that is not known.
    """
    if sight.run is None:
        return
    for changes in _changes(sight.why, settings.values, newest=finished - sight.run + 1, needed=needed):
        yield Trial(changes)


def _changes(why: Why, values: MemorySettings, *, newest: int, needed: int | None) -> Iterator[Changes]:
    """Yield changes; `newest` is how many of the newest runs the one that says the words is among."""
    match why:
        case Why.LOST | Why.PRUNED | Why.EXTRACTED_AWAY:
            yield from _beyond_budget(why, values, needed)
        case Why.CAPPED:
            yield {"max_runs": newest}
        case Why.LAST_N:
            yield {"last_n": newest}
        case Why.SUMMARIZED_AWAY:
            yield {"offset": newest}
            yield {"strategy": Strategy.BUFFER.value}
        case Why.STRATEGY | Why.PART_LEFT_OUT:
            yield from _other_strategies(values, newest)
        case _ if why in _SIMPLE:
            yield _SIMPLE[why]


_SIMPLE: Mapping[Why, Changes] = {
    Why.RESULT_CUT: {"tool_result_max_tokens": UNLIMITED},
    Why.RESULT_HIDDEN: {"keep_tool_results": UNLIMITED},
    Why.FORMAT: {"format": PromptFormat.OPENAI.value},
}


def _beyond_budget(why: Why, values: MemorySettings, needed: int | None) -> Iterator[Changes]:
    if values.max_input_tokens is not None:
        yield {"max_input_tokens": max(needed, values.max_input_tokens + 1) if needed else UNLIMITED}
    if why is Why.LOST and values.on_gap is not OnGap.STOPGAP:
        yield {"on_gap": OnGap.STOPGAP.value}
    if values.strategy is Strategy.BUFFER:
        yield {"strategy": Strategy.SUMMARY.value}


def _other_strategies(values: MemorySettings, newest: int) -> Iterator[Changes]:
    if values.strategy is Strategy.CONVERSATION:
        for times in (2, 4, 8):
            yield {"max_history": times * newest}
    for strategy in (Strategy.SUMMARY, Strategy.BUFFER):
        if values.strategy is not strategy:
            yield {"strategy": strategy.value}
