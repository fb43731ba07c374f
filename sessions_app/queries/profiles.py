"""The profiles of a project, and what applying one would change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.memory_settings import SETTINGS_BY_NAME, EffectiveSettings, stored_values
from sessions_app.domain.settings_draft import value_as_text
from sessions_app.models import Profile, Project
from sessions_app.queries.settings_versions import SettingChange


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A profile, and what it has otherwise than the values that it is compared with."""

    profile: Profile
    changes: Sequence[SettingChange]

    @property
    def texts(self) -> Mapping[str, str]:
        """The draft that applying it makes, as it stands in an address."""
        return {change.name: value_as_text(change.new) for change in self.changes}


def profiles_of(project: Project) -> list[Profile]:
    """Return the project's profiles by name; there are at most as many as one may have."""
    return list(Profile.objects.filter(project=project))


def profile_names(project: Project) -> list[Profile]:
    """Return the same, to be chosen from; the settings of one are read when they are asked for."""
    return list(Profile.objects.filter(project=project).defer("settings"))


def profile_rows(*, project: Project, beside: EffectiveSettings) -> list[ProfileRow]:
    """Return the profiles, each compared with the values in force somewhere."""
    now = stored_values(beside.values)
    return [ProfileRow(profile, _changes(profile.settings, now)) for profile in profiles_of(project)]


def _changes(settings: Mapping[str, Any], now: Mapping[str, Any]) -> list[SettingChange]:
    names = [name for name in SETTINGS_BY_NAME if name in settings and settings[name] != now[name]]
    return [SettingChange(name, now[name], settings[name]) for name in names]
