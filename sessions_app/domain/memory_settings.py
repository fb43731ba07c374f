"""The one definition of the memory settings; forms, schemas, stored JSON and documentation are derived from it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from sessions_app.domain.errors import FieldError, InvalidSettings

UNLIMITED = "unlimited"
LARGEST_INTEGER = 2**31 - 1

# Control characters, lone surrogates, and what stands for those that were replaced.
_UNSTORABLE = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff\N{REPLACEMENT CHARACTER}]")


class Strategy(StrEnum):
    """Which runs are candidates for the prompt."""

    BUFFER = "buffer"
    SUMMARY = "summary"


class PromptFormat(StrEnum):
    """The shape of the built prompt."""

    OPENAI = "openai"
    TEXT = "text"


class Layer(StrEnum):
    """Where an effective value comes from, weakest first."""

    BUILT_IN = "built-in"
    PROJECT = "project"
    SESSION = "session"
    REQUEST = "request"


class SettingKind(StrEnum):
    """The type of a setting's value."""

    CHOICE = "choice"
    TEXT = "text"
    INTEGER = "integer"
    LIMIT = "limit"
    SHARE = "share"
    FLAG = "flag"


class SettingGroup(StrEnum):
    """The group under which people find a setting."""

    STRATEGY = "Strategy & model"
    BUDGET = "Budget"
    HISTORY = "History"
    SUMMARY = "Summary"
    PARENT = "Parent"


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """All values in force for one prompt; None means unlimited."""

    model: str
    strategy: Strategy = Strategy.SUMMARY
    format: PromptFormat = PromptFormat.OPENAI
    max_input_tokens: int | None = None
    reserve_output_tokens: int = 1024
    autoprune: bool = True
    max_runs: int | None = None
    last_n: int | None = None
    offset: int = 6
    summarize_at: float = 0.75
    summarize_to: float = 0.4
    max_summary_tokens: int = 512
    include_parent_context: bool = False
    parent_depth: int = 1


@dataclass(frozen=True, slots=True)
class Setting:
    """What one setting accepts, where it means something (None: everywhere) and how it is explained."""

    name: str
    kind: SettingKind
    group: SettingGroup
    help: str
    minimum: int = 0
    choices: tuple[str, ...] = ()
    strategies: frozenset[Strategy] | None = None


_SUMMARY_ONLY = frozenset({Strategy.SUMMARY})

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "strategy",
        SettingKind.CHOICE,
        SettingGroup.STRATEGY,
        "Which runs are candidates for the prompt: all of them, or the summary and the runs after it.",
        choices=tuple(Strategy),
    ),
    Setting(
        "model",
        SettingKind.TEXT,
        SettingGroup.STRATEGY,
        "The model the prompt is for; it picks the token encoding and the context window.",
    ),
    Setting(
        "format",
        SettingKind.CHOICE,
        SettingGroup.STRATEGY,
        "The shape of the built prompt.",
        choices=tuple(PromptFormat),
    ),
    Setting(
        "max_input_tokens",
        SettingKind.LIMIT,
        SettingGroup.BUDGET,
        "The most tokens the prompt may need; the model's window limits it further.",
        minimum=1,
    ),
    Setting(
        "reserve_output_tokens",
        SettingKind.INTEGER,
        SettingGroup.BUDGET,
        "Room for the answer, taken from the model's window, never from max_input_tokens.",
    ),
    Setting(
        "autoprune",
        SettingKind.FLAG,
        SettingGroup.BUDGET,
        "Drop the oldest runs until the prompt fits; off: what does not fit is an error.",
    ),
    Setting(
        "max_runs",
        SettingKind.LIMIT,
        SettingGroup.HISTORY,
        "So many newest runs are remembered; older ones are capped in prompts, never deleted.",
        minimum=1,
    ),
    Setting(
        "last_n",
        SettingKind.LIMIT,
        SettingGroup.HISTORY,
        "At most so many newest runs go into this prompt; 0 means none.",
    ),
    Setting(
        "offset",
        SettingKind.INTEGER,
        SettingGroup.SUMMARY,
        "So many newest runs are never summarized.",
        strategies=_SUMMARY_ONLY,
    ),
    Setting(
        "summarize_at",
        SettingKind.SHARE,
        SettingGroup.SUMMARY,
        "Summarize only when fixed parts and word-for-word runs need more than this share of the budget; "
        "0 summarizes as soon as a run ages beyond offset.",
        strategies=_SUMMARY_ONLY,
    ),
    Setting(
        "summarize_to",
        SettingKind.SHARE,
        SettingGroup.SUMMARY,
        "Then summarize the oldest runs until the rest needs at most this share of the budget.",
        strategies=_SUMMARY_ONLY,
    ),
    Setting(
        "max_summary_tokens",
        SettingKind.INTEGER,
        SettingGroup.SUMMARY,
        "A longer summary is cut at a sentence, and said so.",
        minimum=1,
        strategies=_SUMMARY_ONLY,
    ),
    Setting(
        "include_parent_context",
        SettingKind.FLAG,
        SettingGroup.PARENT,
        "Put the summaries of parent conversations in front; a fork and its parent are one conversation.",
    ),
    Setting(
        "parent_depth",
        SettingKind.INTEGER,
        SettingGroup.PARENT,
        "How many levels of parents hand down their summaries.",
        minimum=1,
    ),
)
SETTINGS_BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """The values in force and the layer each of them comes from."""

    values: MemorySettings
    origins: Mapping[str, Layer]


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


def stored_value(value: Any) -> Any:
    """Return a value of MemorySettings as it stands in JSON, forms and query strings: None becomes "unlimited"."""
    return UNLIMITED if value is None else value


def stored_values(settings: MemorySettings) -> dict[str, Any]:
    """Return every value in stored form, in the order of the settings table."""
    return {setting.name: stored_value(getattr(settings, setting.name)) for setting in SETTINGS}


def settings_hash(settings: MemorySettings) -> str:
    """Return a short hash of all values; what was worked out with another one is stale."""
    return hashlib.sha256(json.dumps(stored_values(settings), sort_keys=True).encode()).hexdigest()[:16]


def built_in_value(name: str) -> Any:
    """Return the built-in value of a setting in stored form; the model has none of its own."""
    return stored_value(_DEFAULTS[name])


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
            return int(text) if _is_integer(text) else text.strip()
        case SettingKind.SHARE:
            return _number(text)
        case _:
            return text.strip()


def _is_integer(text: str) -> bool:
    digits = text.strip().removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) <= 20


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _typed(setting: Setting, value: Any) -> Any:
    if setting.name == "strategy":
        return Strategy(value)
    if setting.name == "format":
        return PromptFormat(value)
    if setting.kind is SettingKind.LIMIT and value == UNLIMITED:
        return None
    return value


def _error(name: str, value: Any) -> FieldError | None:
    setting = SETTINGS_BY_NAME.get(name)
    if setting is None:
        return FieldError(f"/{name}", f"{name} is not a setting; known are {', '.join(SETTINGS_BY_NAME)}.")
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
            return f"a whole number from {setting.minimum} to {LARGEST_INTEGER}, or {UNLIMITED}"
        case SettingKind.INTEGER:
            return f"a whole number from {setting.minimum} to {LARGEST_INTEGER}"


_DEFAULTS: Mapping[str, Any] = {
    field.name: field.default for field in fields(MemorySettings) if field.name in SETTINGS_BY_NAME
}
