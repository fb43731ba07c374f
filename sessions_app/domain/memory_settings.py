"""The one definition of the memory settings; forms, schemas, stored JSON and documentation are derived from it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from sessions_app.domain.language_models import NO_FACTS, LanguageModel, ModelFacts, language_model
from sessions_app.domain.settings_versions import VersionsOfTurn

UNLIMITED = "unlimited"
LARGEST_INTEGER = 2**31 - 1


class Strategy(StrEnum):
    """Which runs are candidates for the prompt; each has its file in `strategies`."""

    BUFFER = "buffer"
    SUMMARY = "summary"
    MINIMAL = "minimal"
    TASK = "task"
    TOOL = "tool"
    CONVERSATION = "conversation"
    HIERARCHICAL = "hierarchical"
    HEAD_TAIL = "head_tail"


class OnGap(StrEnum):
    """What happens when the budget drops runs that no summary covers."""

    WARN = "warn"
    ERROR = "error"
    STOPGAP = "stopgap"


class PromptFormat(StrEnum):
    """The shape of the built prompt."""

    OPENAI = "openai"
    RESPONSES = "responses"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    TEXT = "text"
    SEED = "seed"


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
    TOOLS = "Tool results"
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
    max_history: int = 5
    head_runs: int = 1
    tool_result_max_tokens: int | None = None
    keep_tool_results: int | None = None
    offset: int = 6
    summarize_at: float = 0.75
    summarize_to: float = 0.4
    max_summary_tokens: int = 512
    on_gap: OnGap = OnGap.STOPGAP
    include_parent_context: bool = False
    parent_depth: int = 1

    @property
    def takes_parents(self) -> bool:
        """Whether the parents' summaries are wanted; hierarchical always wants them."""
        return self.include_parent_context or self.strategy is Strategy.HIERARCHICAL


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
_ALL_BUT_HIERARCHICAL = frozenset(Strategy) - {Strategy.HIERARCHICAL}

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "strategy",
        SettingKind.CHOICE,
        SettingGroup.STRATEGY,
        "Which runs, and what of them, are candidates for the prompt.",
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
        "max_history",
        SettingKind.INTEGER,
        SettingGroup.HISTORY,
        "So many newest messages go into the prompt, from a user message on; 0 means none.",
        strategies=frozenset({Strategy.CONVERSATION}),
    ),
    Setting(
        "head_runs",
        SettingKind.INTEGER,
        SettingGroup.HISTORY,
        "So many first runs stay in the prompt, before the newest that fit.",
        strategies=frozenset({Strategy.HEAD_TAIL}),
    ),
    Setting(
        "tool_result_max_tokens",
        SettingKind.LIMIT,
        SettingGroup.TOOLS,
        "A longer tool result is shortened in the prompt, marked.",
        minimum=1,
    ),
    Setting(
        "keep_tool_results",
        SettingKind.LIMIT,
        SettingGroup.TOOLS,
        "So many newest tool results stay whole; in the place of an older one stands a mark.",
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
        "on_gap",
        SettingKind.CHOICE,
        SettingGroup.SUMMARY,
        "What happens to runs that do not fit and that no summary covers: only a warning, an error, or a stopgap, "
        "which sends an offline extract of them.",
        choices=tuple(OnGap),
        strategies=_SUMMARY_ONLY,
    ),
    Setting(
        "include_parent_context",
        SettingKind.FLAG,
        SettingGroup.PARENT,
        "Put the summaries of parent conversations in front, as the strategy hierarchical always does; a fork and its "
        "parent are one conversation.",
        strategies=_ALL_BUT_HIERARCHICAL,
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
    """The values in force and the layer each of them comes from; `facts` are what the project says of the model.

    `summary_template` is how its prompts introduce a summary, with {summary} where it stands; empty: by a heading.
    `versions` are those of a past turn that they are made of; None: they are made of what is saved today.
    """

    values: MemorySettings
    origins: Mapping[str, Layer]
    facts: ModelFacts = NO_FACTS
    summary_template: str = ""
    versions: VersionsOfTurn | None = None

    @property
    def model(self) -> LanguageModel:
        """What is known of the model in force."""
        return language_model(self.values.model).with_facts(self.facts)


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


_DEFAULTS: Mapping[str, Any] = {
    field.name: field.default for field in fields(MemorySettings) if field.name in SETTINGS_BY_NAME
}
