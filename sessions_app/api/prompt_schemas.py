"""Prompts as bots ask for and get them."""

from typing import Annotated, Any

from ninja import Schema
from pydantic import Field, StrictBool, create_model

from sessions_app.api.schemas import In, Index, JsonObject, Out, Position
from sessions_app.api.setting_schemas import RequestSettings
from sessions_app.domain.cut_results import count_cut_results
from sessions_app.domain.memory_settings import LARGEST_INTEGER, Layer, stored_values
from sessions_app.domain.plan import Fate, FateRange, Part, Prompt, TokenParts, WarningCode

AT = "Build the prompt of this turn: its run's input is the question, and what came later is not known."
SHORTEN = "Cut the newest run, marked, where it alone does not fit, instead of dropping it."


class BaseIn(In):
    """Messages of the caller's own, into which the memory goes."""

    messages: list[JsonObject] = Field(description="In OpenAI's form; they are sent as they are, and never dropped.")
    index: Index | None = Field(
        default=None,
        description="The memory goes in before the message of this index, counted as in Python; null: behind the last.",
    )


class PromptIn(In):
    """What to ask now, with what, and with which settings this time."""

    query: str | None = Field(default=None, description="The question that comes last; a blank one is refused.")
    context: list[str] = Field(default=[], description="Texts to put before the question, such as retrieved documents.")
    tools: list[JsonObject] = Field(
        default=[], description="Tool definitions in OpenAI's form; they are counted, not sent."
    )
    instructions: str | None = Field(default=None, description="This time instead of the session's.")
    settings: RequestSettings | None = Field(default=None, description="This time instead of the session's.")
    shorten: StrictBool = Field(default=False, description=SHORTEN)
    at: Position | None = Field(default=None, description=f"{AT} A query given as well takes the place of that input.")
    base: BaseIn | None = Field(
        default=None, description="In the formats openai and text: put the memory among these messages."
    )


class PromptParameters(Schema):
    """The same as query parameters."""

    profile: str | None = Field(default=None, description="The name of a profile, over which the settings stand.")
    shorten: bool = Field(default=False, description=SHORTEN)
    at: Annotated[int, Field(ge=1, le=LARGEST_INTEGER)] | None = Field(default=None, description=AT)


class FatesOut(Out):
    """Neighbouring runs that share a fate."""

    first: int
    last: int
    fate: Fate
    reason: str


class WarningOut(Out):
    """Something to know about a prompt."""

    code: WarningCode
    detail: str


class EffectiveSetting(Out):
    """A value in force and the layer that it comes from."""

    value: Any
    origin: Layer = Field(serialization_alias="from")


class SummarySent(Out):
    """The summary in a prompt."""

    id: str
    number: int
    covers_through: int


class VersionsOut(Out):
    """The versions of the settings that were in force at a turn: 0 if none had been saved yet, null if not known."""

    project: int | None
    session: int | None


class TurnOut(Out):
    """The turn that a prompt was rebuilt for."""

    turn: int
    recorded_fingerprint: str | None = Field(description="That of the prompt that the turn's run was made with.")
    same: bool | None = Field(description="Whether it is the same prompt; null where none is recorded.")
    settings_versions: VersionsOut | None = Field(description="Null where it is built with the settings of today.")


TokensOut = create_model(
    "TokensOut",
    __base__=Out,
    __doc__="Tokens by part; the parts sum to `total`, and `free` is what is left of `budget`.",
    **dict.fromkeys(["total", "budget", "free", *map(str, Part)], (int, ...)),  # type: ignore[call-overload]
)


class PromptOut(Out):
    """A prompt, ready to send, and everything that explains it."""

    messages: list[JsonObject] | None = Field(
        description="Ready to send in the format (gemini: its contents); null in the format text."
    )
    system: str | None = Field(description="The system text in the formats anthropic and gemini, to be sent beside.")
    text: str | None = Field(description="The prompt in the format text.")
    format: str
    model: str
    encoding: str
    margin: float = Field(description="By how much counts are enlarged for a tokenizer that is not public.")
    tokens: TokensOut  # type: ignore[valid-type]
    fates: list[FatesOut]
    unseen: int = Field(description="How many runs the model cannot see.")
    cut_results: int = Field(description="How many tool results in it are cut, or have a mark in their place.")
    warnings: list[WarningOut]
    settings: dict[str, EffectiveSetting]
    summary: SummarySent | None
    fingerprint: str
    at: TurnOut | None = Field(description="Set if the prompt of a turn was asked for.")


def prompt_out(prompt: Prompt) -> PromptOut:
    """Return a prompt as an answer."""
    return PromptOut(
        messages=None if prompt.messages is None else [dict(message) for message in prompt.messages],
        system=prompt.system,
        text=prompt.text,
        format=prompt.format,
        model=prompt.model,
        encoding=prompt.encoding,
        margin=prompt.margin,
        tokens=_tokens(prompt),
        fates=[_fates(fates) for fates in prompt.fates],
        unseen=prompt.unseen,
        cut_results=count_cut_results(prompt),
        warnings=[WarningOut(code=warning.code, detail=warning.detail) for warning in prompt.warnings],
        settings=_settings(prompt),
        summary=_summary(prompt),
        fingerprint=prompt.fingerprint,
        at=_turn(prompt),
    )


def _turn(prompt: Prompt) -> TurnOut | None:
    if prompt.turn is None:
        return None
    versions = prompt.turn.versions
    return TurnOut(
        turn=prompt.turn.position,
        recorded_fingerprint=prompt.turn.recorded or None,
        same=prompt.is_as_recorded,
        settings_versions=None if versions is None else VersionsOut(project=versions.project, session=versions.session),
    )


def _tokens(prompt: Prompt) -> Any:
    tokens: TokenParts = prompt.tokens
    parts = {str(part): getattr(tokens, part) for part in Part}
    return TokensOut(total=tokens.total, budget=prompt.budget, free=prompt.free, **parts)


def _fates(fates: FateRange) -> FatesOut:
    return FatesOut(first=fates.first, last=fates.last, fate=fates.fate, reason=fates.reason)


def _settings(prompt: Prompt) -> dict[str, EffectiveSetting]:
    origins = prompt.settings.origins
    values = stored_values(prompt.settings.values)
    return {name: EffectiveSetting(value=value, origin=origins[name]) for name, value in values.items()}


def _summary(prompt: Prompt) -> SummarySent | None:
    if prompt.summary_id is None or prompt.summary_number is None or prompt.covers_through is None:
        return None
    return SummarySent(id=prompt.summary_id, number=prompt.summary_number, covers_through=prompt.covers_through)
