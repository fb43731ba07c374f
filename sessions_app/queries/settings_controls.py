"""The controls of settings on Tune and on a project's own page, derived from the one table of settings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from sessions_app.domain.memory_settings import (
    SETTINGS,
    UNLIMITED,
    EffectiveSettings,
    Layer,
    Setting,
    SettingKind,
    stored_values,
)
from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.settings_draft import Draft, value_as_text
from sessions_app.domain.settings_effects import no_effect
from sessions_app.models import Project, Session, has_parent_conversation
from sessions_app.queries.language_models import with_facts
from sessions_app.queries.setting_words import IN_NEXT_SUMMARY, setting_words

_RANGES: Mapping[str, tuple[float, float, float]] = {
    "reserve_output_tokens": (0, 8_192, 64),
    "max_runs": (1, 200, 1),
    "last_n": (0, 100, 1),
    "max_history": (0, 50, 1),
    "head_runs": (0, 20, 1),
    "keep_tool_results": (0, 50, 1),
    "offset": (0, 50, 1),
    "summarize_at": (0, 1, 0.05),
    "summarize_to": (0, 1, 0.05),
    "parent_depth": (1, 5, 1),
}
_ANY_RANGE = (0, 100, 1)
# Of these amounts of tokens the small ones matter most: each step of their sliders is the same ratio.
_RATIOS: Mapping[str, tuple[int, int]] = {
    "max_input_tokens": (100, 1_000),
    "max_summary_tokens": (32, 4_096),
    "tool_result_max_tokens": (10, 4_000),
}
_RATIO_STEPS = 100
_NUMBERS = frozenset({SettingKind.INTEGER, SettingKind.LIMIT, SettingKind.SHARE})

Carried = Mapping[str, str | Sequence[str]]
"""What addresses carry besides the draft, by name; empty texts are left out."""


@dataclass(frozen=True, slots=True)
class Slider:
    """The range of a slider; its right end is "unlimited" where the setting knows no limit.

    Where `least` and `most` are given, they are the values at its ends, and each step is the same ratio.
    """

    minimum: float
    maximum: float
    step: float
    value: float
    unlimited: bool
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """One setting as a field; `says` is what its value means, `warning` what is wrong with it, if that is told.

    `inherits` tells whether the change takes the own value away.

    `below` is the value without the session's or the project's own, None where it is neither's, and `below_layer` the
    layer that has it. `reset` is the address that takes a change away, or else drafts that value.
    """

    setting: Setting
    text: str
    value: Any
    saved: Any
    below: Any
    layer: Layer
    below_layer: Layer
    changed: bool
    inherits: bool
    error: str
    no_effect: str
    warning: str
    slider: Slider | None
    reset: str
    says: str

    @property
    def has_room(self) -> bool:
        """Whether room is kept for what is said of a change, so that nothing moves while it is made."""
        return self.setting.name in IN_NEXT_SUMMARY

    @property
    def bounds(self) -> str:
        """Between which numbers its values are, in words, if they are numbers."""
        least = f"{self.setting.minimum} or more"
        words = {SettingKind.SHARE: "0 to 1", SettingKind.INTEGER: least, SettingKind.LIMIT: f"{least}, or {UNLIMITED}"}
        return words.get(self.setting.kind, "")

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.setting.kind in _NUMBERS


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """Controls under one heading."""

    name: str
    controls: list[Control]

    @property
    def slug(self) -> str:
        """The name as a part of an id."""
        return self.name.split()[0].lower()

    @property
    def is_idle(self) -> bool:
        """Whether nothing in it has an effect, and nothing in it is changed or set by the session."""
        return all(each.no_effect and not each.changed and each.layer is not Layer.SESSION for each in self.controls)


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A setting as the inspector shows it; `below` is what the session would inherit instead, from `below_layer`.

    `no_effect` says why it changes nothing, empty if it does.
    """

    name: str
    value: Any
    layer: Layer
    below: Any
    below_layer: Layer
    no_effect: str


def setting_rows(session: Session, saved: EffectiveSettings, inherited: EffectiveSettings) -> list[SettingRow]:
    """Return a session's values in force with their layers, in the order of the table."""
    values, below = stored_values(saved.values), stored_values(inherited.values)
    origins, below_origins = saved.origins, inherited.origins
    idle = {setting.name: _no_effect(setting, session, saved) for setting in SETTINGS}
    return [
        SettingRow(name, values[name], origins[name], below[name], below_origins[name], idle[name]) for name in values
    ]


def control_groups(
    *,
    project: Project,
    session: Session | None,
    draft: Draft,
    saved: EffectiveSettings,
    built_in: EffectiveSettings,
    carried: Carried,
    warnings: Mapping[str, str],
) -> list[ControlGroup]:
    """Return all controls of a session, or without one of the project, in their groups.

    `warnings` are by name, `carried` is what addresses carry besides.
    """
    below = {Layer.SESSION: draft.inherited, Layer.PROJECT: built_in}
    drafted = with_facts(drafted_settings(draft, saved), project_id=project.pk)
    controls = (
        _control(
            setting,
            session=session,
            draft=draft,
            saved=saved,
            drafted=drafted,
            below=below.get(saved.origins[setting.name]),
            carried=carried,
            warning=warnings.get(setting.name, ""),
        )
        for setting in SETTINGS
    )
    grouped = groupby(controls, key=lambda control: control.setting.group)
    return [ControlGroup(str(name), list(members)) for name, members in grouped]


def drafted_settings(draft: Draft, saved: EffectiveSettings) -> EffectiveSettings:
    """Return the values that a draft makes of the saved ones; those of the draft come from the request."""
    return resolve_settings(
        default_model=saved.values.model, project=stored_values(saved.values), session={}, request=draft.overrides
    )


def inherit_all(saved: EffectiveSettings, inherited: EffectiveSettings, carried: Carried) -> str:
    """Return the address in which the session has no settings of its own."""
    below = stored_values(inherited.values)
    own = {name: value_as_text(below[name]) for name, layer in saved.origins.items() if layer is Layer.SESSION}
    return address(own, carried)


def address(texts: Mapping[str, str], carried: Carried) -> str:
    """Return the query string of a draft."""
    return f"?{urlencode({**texts, **{name: text for name, text in carried.items() if text}}, doseq=True)}"


def _control(
    setting: Setting,
    *,
    session: Session | None,
    draft: Draft,
    saved: EffectiveSettings,
    drafted: EffectiveSettings,
    below: EffectiveSettings | None,
    carried: Carried,
    warning: str,
) -> Control:
    name, now = setting.name, stored_values(saved.values)
    value = draft.overrides.get(name, now[name])
    value_below = None if below is None else stored_values(below.values)[name]
    changed = name in draft.changes or name in draft.refused
    texts = {other: text for other, text in draft.texts.items() if other != name}
    if not changed and below is not None:
        texts[name] = value_as_text(value_below)
    return Control(
        setting=setting,
        text=draft.refused.get(name, value_as_text(value)),
        value=value,
        saved=now[name],
        below=value_below,
        layer=saved.origins[name],
        below_layer=(below or saved).origins[name],
        changed=changed,
        inherits=name in draft.changes and draft.changes[name] is None,
        error=draft.errors.get(name, ""),
        no_effect=_no_effect(setting, session, drafted),
        warning=warning,
        slider=_slider(setting, value, session) if session and setting.kind in _NUMBERS else None,
        reset=address(texts, carried),
        says=setting_words(name, drafted, changed=changed and session is not None),
    )


def _no_effect(setting: Setting, session: Session | None, in_force: EffectiveSettings) -> str:
    """Return why a setting changes nothing under the values in force, empty if it does."""
    of_parents = setting.name in ("include_parent_context", "parent_depth")
    if session and of_parents and not has_parent_conversation(session):
        if session.parent_id is None:
            return "no effect: this conversation has no parent"
        return "no effect: a fork has its parent's runs, and takes no parent context"
    idle = no_effect(setting, in_force.values, in_force.model.window)
    return f"no effect: {idle.reason}" if idle else ""


def _slider(setting: Setting, value: Any, session: Session) -> Slider:
    if setting.name in _RATIOS:
        shortest, longest = _RATIOS[setting.name]
        # Beyond what the whole conversation needs twice, nothing changes any more.
        needed = 2 * session.lineage_tokens if setting.name == "max_input_tokens" else 0
        return _ratio_slider(value, shortest, max(longest, needed), unlimited=setting.kind is SettingKind.LIMIT)
    least, most, step = _RANGES.get(setting.name, _ANY_RANGE)
    unlimited = setting.kind is SettingKind.LIMIT
    if value == UNLIMITED:
        return Slider(least, most, step, most, unlimited)
    most = most if value < most else -(-value * 5 // (4 * step)) * step
    return Slider(least, most if setting.kind is not SettingKind.SHARE else 1, step, value, unlimited)


def _ratio_slider(value: Any, least: int, most: int, *, unlimited: bool) -> Slider:
    if value == UNLIMITED:
        return Slider(0, _RATIO_STEPS, 1, _RATIO_STEPS, unlimited, least, most)
    least, most = min(least, max(value, 1)), max(most, value * 5 // 4)
    place = round(_RATIO_STEPS * math.log(max(value, 1) / least) / math.log(most / least))
    return Slider(0, _RATIO_STEPS, 1, place, unlimited, least, most)
