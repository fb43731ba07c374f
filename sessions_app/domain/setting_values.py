"""Settings on their way in: checked against their one definition, read from texts, and laid in layers."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from sessions_app.domain.errors import FieldError, InvalidSettings, pointer_to
from sessions_app.domain.memory_settings import (
    LARGEST_INTEGER,
    SETTINGS_BY_NAME,
    UNLIMITED,
    EffectiveSettings,
    Layer,
    MemorySettings,
    OnGap,
    PromptFormat,
    Setting,
    SettingKind,
    Strategy,
)

# Control characters, lone surrogates, and what stands for those that were replaced.
_UNSTORABLE = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff\N{REPLACEMENT CHARACTER}]")
_INTEGER = re.compile(r"-?(?:[0-9]{1,20}|[0-9]{1,3}(?:,[0-9]{3}){1,6})")
_ENUMS: Mapping[str, type[StrEnum]] = {"strategy": Strategy, "format": PromptFormat, "on_gap": OnGap}


def check_settings(sparse: Mapping[str, Any]) -> dict[str, Any]:
    """Return the overrides in stored form, without those that are None (inherit), or raise InvalidSettings."""
    errors = [error for name, value in sparse.items() if (error := _error(name, value))]
    if errors:
        raise InvalidSettings(" ".join(error.detail for error in errors), errors=errors)
    return {name: value for name, value in sparse.items() if value is not None}


def resolve_settings(
    *,
    default_model: str,
    project: Mapping[str, Any],
    session: Mapping[str, Any],
    request: Mapping[str, Any],
) -> EffectiveSettings:
    """Lay sparse, already checked overrides over the built-in values; the last layer that names a setting wins."""
    values: dict[str, Any] = {"model": default_model}
    origins = dict.fromkeys(SETTINGS_BY_NAME, Layer.BUILT_IN)
    for layer, sparse in ((Layer.PROJECT, project), (Layer.SESSION, session), (Layer.REQUEST, request)):
        values |= {name: value for name, value in sparse.items() if value is not None}
        origins |= {name: layer for name, value in sparse.items() if value is not None}
    typed = {name: _typed(SETTINGS_BY_NAME[name], value) for name, value in values.items()}
    return EffectiveSettings(MemorySettings(**typed), origins)


def setting_from_text(name: str, text: str) -> Any:
    """Read a setting's value from a form or a query string; what is not of its type comes back as it is."""
    setting = SETTINGS_BY_NAME.get(name)
    if setting is None:
        return text
    match setting.kind:
        case SettingKind.FLAG:
            return {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}.get(
                text.strip().lower(), text
            )
        case SettingKind.INTEGER | SettingKind.LIMIT:
            return _integer(text)
        case SettingKind.SHARE:
            return _number(text)
        case _:
            return text.strip()


def _integer(text: str) -> int | str:
    """Read a whole number as people and pages write it, thousands parted by commas or not; "unlimited" in any case."""
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return int(text.replace(",", ""))
    return UNLIMITED if text.lower() == UNLIMITED else text


def _number(text: str) -> float | str:
    """Read a share, with a decimal point or comma."""
    try:
        return float(text.replace(",", ".", 1))
    except ValueError:
        return text


def _typed(setting: Setting, value: Any) -> Any:
    """Return a stored value as it is in force, the same however it was written."""
    match setting.kind:
        case SettingKind.CHOICE:
            return _ENUMS[setting.name](value)
        case SettingKind.LIMIT if value == UNLIMITED:
            return None
        case SettingKind.SHARE:
            # Adding makes the 0 of -0.0.
            return float(value) + 0.0
        case SettingKind.TEXT:
            return value.strip()
        case _:
            return value


def _error(name: str, value: Any) -> FieldError | None:
    setting = SETTINGS_BY_NAME.get(name)
    if setting is None:
        return FieldError(pointer_to([name]), f"{name} is not a setting; known are {', '.join(SETTINGS_BY_NAME)}.")
    if value is None or _accepts(setting, value):
        return None
    return FieldError(f"/{name}", f"{name} must be {allowed(setting)}.")


def _accepts(setting: Setting, value: Any) -> bool:
    match setting.kind:
        case SettingKind.CHOICE:
            return isinstance(value, str) and value in setting.choices
        case SettingKind.TEXT:
            return isinstance(value, str) and 0 < len(value.strip()) <= 200 and not _UNSTORABLE.search(value)
        case SettingKind.FLAG:
            return isinstance(value, bool)
        case SettingKind.SHARE:
            return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        case SettingKind.LIMIT:
            return value == UNLIMITED or _is_bounded_integer(setting, value)
        case SettingKind.INTEGER:
            return _is_bounded_integer(setting, value)


def _is_bounded_integer(setting: Setting, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and setting.minimum <= value <= LARGEST_INTEGER


def allowed(setting: Setting) -> str:
    """Say in words which values a setting accepts."""
    match setting.kind:
        case SettingKind.CHOICE:
            return f"one of {', '.join(setting.choices)}"
        case SettingKind.TEXT:
            return "a name of 1 to 200 characters, none of them a control character"
        case SettingKind.FLAG:
            return "true or false"
        case SettingKind.SHARE:
            return "a number from 0 to 1"
        case SettingKind.LIMIT:
            return f"a whole number from {setting.minimum} to {LARGEST_INTEGER:,}, or {UNLIMITED}"
        case SettingKind.INTEGER:
            return f"a whole number from {setting.minimum} to {LARGEST_INTEGER:,}"
