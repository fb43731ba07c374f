"""A draft of memory settings: what a person has changed but not saved, as texts of a form or an address."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.errors import InvalidSettings
from sessions_app.domain.memory_settings import SETTINGS_BY_NAME, EffectiveSettings, Layer, stored_values
from sessions_app.domain.setting_values import check_settings, setting_from_text


@dataclass(frozen=True, slots=True)
class Draft:
    """Changes against the saved values in stored form; None takes the own value away, so that it is inherited.

    `errors` say what is allowed for the texts in `refused`, which are no values. `inherited` is what holds without
    values of one's own.
    """

    changes: Mapping[str, Any]
    refused: Mapping[str, str]
    errors: Mapping[str, str]
    inherited: EffectiveSettings

    @property
    def overrides(self) -> dict[str, Any]:
        """The changed values as sparse settings for a prompt."""
        below = stored_values(self.inherited.values)
        return {name: below[name] if value is None else value for name, value in self.changes.items()}

    @property
    def texts(self) -> dict[str, str]:
        """The draft as it stands in an address: only what differs from the saved values."""
        return {name: value_as_text(value) for name, value in self.overrides.items()} | dict(self.refused)

    @property
    def count(self) -> int:
        """How many settings are changed."""
        return len(self.changes) + len(self.refused)


def read_draft(
    texts: Mapping[str, str],
    *,
    saved: EffectiveSettings,
    inherited: EffectiveSettings,
    seen: Mapping[str, Any] | None = None,
    layer: Layer = Layer.SESSION,
) -> Draft:
    """Return what `texts` change; `seen` are the saved values that the person saw, and leaving those is no change.

    `layer` is whose settings they are: a value that it would inherit anyway is no override of its own.
    """
    now, below = stored_values(saved.values), stored_values(inherited.values)
    changes: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name in SETTINGS_BY_NAME.keys() & texts.keys():
        value = setting_from_text(name, texts[name])
        if value in (now[name], (seen or now).get(name)):
            continue
        try:
            check_settings({name: value})
        except InvalidSettings as refusal:
            errors[name] = refusal.errors[0].detail
            continue
        own = saved.origins[name] is layer
        changes[name] = None if own and value == below[name] else value
    refused = {name: texts[name] for name in errors}
    return Draft(_in_order(changes), _in_order(refused), errors, inherited)


def value_as_text(value: Any) -> str:
    """Write a value in stored form as `setting_from_text` reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _in_order(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in SETTINGS_BY_NAME if name in values}
