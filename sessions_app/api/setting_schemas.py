"""The memory settings as API schemas, derived from their one definition in the domain."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StrictBool, WithJsonSchema, create_model

from sessions_app.domain.memory_settings import LARGEST_INTEGER, SETTINGS, UNLIMITED, Setting, SettingKind
from sessions_app.services.settings_versions import LONGEST_NOTE


def _type_of(setting: Setting) -> Any:
    whole = Annotated[int, Field(ge=setting.minimum, le=LARGEST_INTEGER)]
    match setting.kind:
        case SettingKind.CHOICE:
            return Literal[tuple(str(choice) for choice in setting.choices)]
        case SettingKind.TEXT:
            return Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
        case SettingKind.FLAG:
            return StrictBool
        case SettingKind.SHARE:
            return Annotated[float, Field(ge=0, le=1)]
        case SettingKind.LIMIT:
            return whole | Literal[UNLIMITED]
        case SettingKind.INTEGER:
            return whole


def _fields(types: dict[str, Any]) -> dict[str, Any]:
    return {
        setting.name: (types[setting.name] | None, Field(default=None, description=setting.help))
        for setting in SETTINGS
    }


_MODEL = create_model(
    "MemorySettings",
    __config__=ConfigDict(extra="forbid", protected_namespaces=()),
    __doc__="Sparse overrides; null means inherit.",
    **_fields({setting.name: _type_of(setting) for setting in SETTINGS}),
)
_SCHEMA: dict[str, Any] = _MODEL.model_json_schema()
_WITH_PROFILE = create_model(
    "RequestSettings",
    __base__=_MODEL,
    __doc__="Sparse overrides for once, over the values of a profile, if one is named; null means inherit.",
    profile=(str | None, Field(default=None, description="The name of a profile of the project.")),
)

# Checked by the domain, whose refusals name what is allowed.
SparseSettings = Annotated[dict[str, Any], WithJsonSchema(_SCHEMA)]
RequestSettings = Annotated[dict[str, Any], WithJsonSchema(_WITH_PROFILE.model_json_schema())]

Note = Annotated[
    str, Field(max_length=LONGEST_NOTE, description="Why the settings change; it is kept in their version.")
]

SettingParameters = create_model(
    "SettingParameters",
    __config__=ConfigDict(protected_namespaces=()),
    __doc__="The same as query parameters.",
    **_fields(
        {setting.name: Annotated[str, WithJsonSchema(_SCHEMA["properties"][setting.name])] for setting in SETTINGS}
    ),
)
