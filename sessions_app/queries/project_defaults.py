"""What new defaults of a project change, and whom they reach."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.domain.memory_settings import EffectiveSettings, Layer, stored_values
from sessions_app.domain.settings_draft import Draft
from sessions_app.models import Project, Session, SettingsVersion
from sessions_app.models.sessions import HAS_OWN_SETTINGS
from sessions_app.queries.capped_counts import CappedCount, capped, capped_count
from sessions_app.queries.session_conditions import has_own_settings
from sessions_app.queries.settings_versions import setting_versions


@dataclass(frozen=True, slots=True)
class DefaultChange:
    """A setting that changes, in stored form; `layer` is the one that has the new value if the own one goes away.

    `set_by` is the version that gave it the old value, if that is known.
    """

    name: str
    now: Any
    new: Any
    layer: Layer | None = None
    set_by: SettingsVersion | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """How many sessions new defaults change, and how many set one of them themselves."""

    changing: CappedCount
    keeping: CappedCount


def project_changes(*, draft: Draft, defaults: EffectiveSettings, built_in: EffectiveSettings) -> list[DefaultChange]:
    """Return which of the project's defaults a draft would change."""
    now, below = stored_values(defaults.values), stored_values(built_in.values)
    return [
        DefaultChange(name, now[name], value, Layer.BUILT_IN if value == below[name] else None)
        for name, value in draft.overrides.items()
        if value != now[name]
    ]


def with_versions(
    changes: Sequence[DefaultChange], *, project: Project, session: Session | None = None
) -> list[DefaultChange]:
    """Add the versions that set the old values: of the session where it has its own, else of the project."""
    own = set(session.settings) if session else set[str]()
    names = [change.name for change in changes]
    of_session = setting_versions(project=project, session=session, names=names) if session else {}
    of_project = setting_versions(project=project, session=None, names=[name for name in names if name not in own])
    found = {**of_project, **of_session}
    return [replace(change, set_by=found.get(change.name)) for change in changes]


@dataclass(frozen=True, slots=True)
class Inheritance:
    """How many sessions a project has, and how many of them set at least one setting themselves."""

    sessions: CappedCount
    own: CappedCount


def inheritance_of(project: Project) -> Inheritance:
    """Count the sessions of a project, and those with settings of their own."""
    sessions = Session.objects.filter(project=project)
    return Inheritance(capped_count(sessions), capped_count(sessions.filter(has_own_settings())))


def reach_of(*, project: Project, names: Sequence[str]) -> Reach:
    """Count the sessions that inherit at least one of the settings, and those that set at least one themselves."""
    keeping = Session.objects.filter(HAS_OWN_SETTINGS, project=project, settings__has_any_keys=list(names))
    return Reach(CappedCount.of(count_inheriting(project=project, names=names)), capped_count(keeping))


def count_inheriting(*, project: Project, names: Sequence[str]) -> int:
    """Count the sessions that inherit at least one of the settings; one more than is told stands for all beyond."""
    return capped(Session.objects.filter(project=project).exclude(settings__has_keys=list(names))).count()
