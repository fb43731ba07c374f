"""Going back to a version of memory settings: a save like any other, which makes a new version."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from sessions_app.domain.errors import Conflict, FieldError, InvalidInput
from sessions_app.models import Project, Session, SettingsVersion, VersionOrigin
from sessions_app.services.project_locks import lock_project
from sessions_app.services.sessions import update_session
from sessions_app.services.settings import save_project_settings
from sessions_app.services.trees import lock_tree


def restore_session_settings(
    *, session: Session, to: int, now: datetime, actor: str = "", note: str = "", undoes: int | None = None
) -> Session:
    """Save the settings of version `to` to the session again; 0 are none, as before the first that was saved.

    With `undoes`, the version that this takes back, it raises Conflict if another was saved since.
    """
    with transaction.atomic():
        stored = lock_tree(session=session, now=None)
        wanted = _settings_of(stored.project, stored, to, undoes)
        changes = {"settings": _changes(stored.settings, wanted)}
        return update_session(
            session=stored, changes=changes, now=now, actor=actor, note=note or f"Back to version {to}."
        )


def restore_project_settings(
    *, project: Project, to: int, now: datetime, actor: str = "", note: str = "", undoes: int | None = None
) -> None:
    """Save the settings of version `to` as the project's defaults again; otherwise as for a session."""
    with transaction.atomic():
        stored = lock_project(project.pk)
        wanted = _settings_of(stored, None, to, undoes)
        changes = _changes(stored.settings, wanted)
        save_project_settings(
            project=project, changes=changes, now=now, actor=actor, note=note or f"Back to version {to}."
        )


def _settings_of(project: Project, session: Session | None, number: int, undoes: int | None) -> Mapping[str, Any]:
    versions = SettingsVersion.objects.of(project, session)
    newest = versions.newest()
    if undoes is not None and (newest is None or newest.number != undoes):
        raise Conflict(f"Version {undoes} is not in force any more: others have saved since.")
    if number == 0 and versions.filter(number=1, origin=VersionOrigin.SAVED).exists():
        return {}
    version = versions.filter(number=number).first()
    if version is None:
        detail = f"There is no version {number} to go back to."
        raise InvalidInput(detail, errors=[FieldError("/to", detail)])
    settings: Mapping[str, Any] = version.settings
    return settings


def _changes(now: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch that makes the one of the other."""
    return dict.fromkeys(now) | dict(wanted)
