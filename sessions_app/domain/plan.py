"""The decision for one prompt, as values: what is sent, each run's fate and why, the tokens, the warnings."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from sessions_app.domain.memory_settings import EffectiveSettings, PromptFormat
from sessions_app.domain.settings_versions import VersionsOfTurn


class Fate(StrEnum):
    """What became of a run; the order is the precedence."""

    KEPT = "kept"
    SUMMARIZED = "summarized"
    CAPPED = "capped"
    SKIPPED = "skipped"
    PRUNED = "pruned"
    LOST = "lost"


UNSEEN_FATES = frozenset({Fate.CAPPED, Fate.SKIPPED, Fate.PRUNED, Fate.LOST})


@dataclass(frozen=True, slots=True)
class FateRange:
    """Neighbouring runs first..last (lineage positions) that share a fate and its reason in words."""

    first: int
    last: int
    fate: Fate
    reason: str

    @property
    def count(self) -> int:
        """How many runs the range holds."""
        return self.last - self.first + 1


class WarningCode(StrEnum):
    """What a prompt's warnings are about."""

    RUNS_LOST = "runs_lost"
    RUNS_EXTRACTED = "runs_extracted"
    RUNS_IN_NEITHER = "runs_in_neither"
    NEWEST_RUN_DROPPED = "newest_run_dropped"
    NEWEST_RUN_SHORTENED = "newest_run_shortened"
    SUMMARY_CUT = "summary_cut"
    PARENT_CONTEXT_CUT = "parent_context_cut"
    MODEL_UNKNOWN = "model_unknown"
    OPEN_RUN_SKIPPED = "open_run_skipped"
    LIMIT_ABOVE_WINDOW = "limit_above_window"
    HEAD_OF_THE_NEWEST = "head_of_the_newest"
    SUMMARIZE_TO_ABOVE_AT = "summarize_to_above_at"
    SETTING_WITHOUT_EFFECT = "setting_without_effect"
    SETTINGS_OF_TODAY = "settings_of_today"
    TOOL_CALLS_LEFT_OUT = "tool_calls_left_out"


@dataclass(frozen=True, slots=True)
class PromptWarning:
    """What the reader of a prompt should know: a stable code, a sentence, and the setting that it is about, if any."""

    code: WarningCode
    detail: str
    setting: str = ""


class Part(StrEnum):
    """What a piece of a prompt is; in the order in which a prompt is shown. A base is context, too."""

    INSTRUCTIONS = "instructions"
    TOOLS = "tools"
    PARENT_CONTEXT = "parent_context"
    SUMMARY = "summary"
    RUNS = "runs"
    CONTEXT = "context"
    QUERY = "query"
    OVERHEAD = "overhead"


@dataclass(frozen=True, slots=True)
class TokenParts:
    """Tokens by part, the model's margin included; they sum to `total`."""

    instructions: int = 0
    tools: int = 0
    parent_context: int = 0
    summary: int = 0
    runs: int = 0
    context: int = 0
    query: int = 0
    overhead: int = 0

    @property
    def total(self) -> int:
        """What the prompt needs by our counter applied to what is sent."""
        return sum(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of what is sent, in order, for showing it.

    The system block gives one segment for each of its headings (role "system"), every other message one. `position` is
    the run it comes from, `calls` the tool calls of an assistant message as (name, arguments) pairs.
    """

    part: Part
    role: str
    text: str
    tokens: int
    position: int | None = None
    heading: str = ""
    calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the budget ended: the run at `position` needs more tokens than the `left` ones."""

    position: int
    needs: int
    left: int


@dataclass(frozen=True, slots=True)
class PastTurn:
    """The turn that a prompt was rebuilt for; `recorded` is the fingerprint that its run carries, empty if none.

    `versions` of the settings are those of then; None: the settings are those of today.
    """

    position: int
    recorded: str
    versions: VersionsOfTurn | None = None


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """The decision for one prompt and everything that explains it, without what is sent.

    `budget` is in the same tokens as `tokens`; `reserve` is what is kept free of the model's `window` (None where
    unknown), 0 where the window does not bind. `finished` is the position of the newest finished run, `open_position`
    that of the open run if the prompt asks it. `cut` is None if no run was left out for the budget, `extract` are the
    runs first..last that a stopgap extract stands for, and `turn` is None if it is the next prompt.
    """

    format: PromptFormat
    model: str
    encoding: str
    margin: float
    window: int | None
    budget: int
    reserve: int
    tokens: TokenParts
    fates: tuple[FateRange, ...]
    cut: Cut | None
    extract: tuple[int, int] | None
    warnings: tuple[PromptWarning, ...]
    settings: EffectiveSettings
    summary_id: str | None
    summary_number: int | None
    covers_through: int | None
    finished: int
    open_position: int | None
    turn: PastTurn | None

    @property
    def free(self) -> int:
        """Tokens of the budget that are not used."""
        return self.budget - self.tokens.total

    @property
    def unseen(self) -> int:
        """How many runs the model cannot see."""
        return sum(fates.count for fates in self.fates if fates.fate in UNSEEN_FATES)

    @property
    def lost(self) -> tuple[FateRange, ...]:
        """The runs that are neither in the prompt nor in its summary."""
        return tuple(fates for fates in self.fates if fates.fate is Fate.LOST)

    @property
    def gap(self) -> tuple[FateRange, ...]:
        """The runs that a summary should cover and none does: lost, or with a stopgap extract in their place."""
        first, last = self.extract or (0, 0)
        return tuple(fates for fates in self.fates if fates.fate is Fate.LOST or first <= fates.first <= last)

    @property
    def run_tokens(self) -> Mapping[int, int]:
        """What runs need in this prompt, by position; those that are missing need what is stored with them."""
        return {self.cut.position: self.cut.needs} if self.cut else {}


@dataclass(frozen=True, slots=True)
class Prompt(PromptPlan):
    """A built prompt: its plan and what is sent.

    Exactly one of `messages` and `text` (format text) is set; `system` is the system text where it is sent beside the
    messages (formats anthropic and gemini), None where there is none.
    """

    messages: tuple[Mapping[str, Any], ...] | None
    text: str | None
    system: str | None
    segments: tuple[Segment, ...]
    fingerprint: str

    @property
    def is_as_recorded(self) -> bool | None:
        """Whether it is the prompt that the turn's run was made with; None where that is not known."""
        return self.turn.recorded == self.fingerprint if self.turn and self.turn.recorded else None

    @property
    def run_tokens(self) -> Mapping[int, int]:
        """What the runs in the prompt, and the first that does not fit, need, by position."""
        tokens = Counter({self.cut.position: self.cut.needs} if self.cut else {})
        for segment in self.segments:
            if segment.position is not None:
                tokens[segment.position] += segment.tokens
        return tokens
