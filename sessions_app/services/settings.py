"""Memory settings of a project: what it gives to its sessions, and saving them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings as configuration
from django.db import transaction

from sessions_app.domain.memory_settings import EffectiveSettings, stored_values
from sessions_app.domain.setting_values import check_settings, resolve_settings
from sessions_app.models import Project, Session
from sessions_app.queries.project_defaults import count_inheriting
from sessions_app.services.project_locks import lock_project
from sessions_app.services.settings_versions import record_version
from sessions_app.services.wishes import wish_for_all


def built_in_settings() -> EffectiveSettings:
    """Return the values that hold where no project and no session says otherwise."""
    return resolve_settings(default_model=configuration.CONVOWEB_MODEL, project={}, session={}, request={})


def project_settings(*, project: Project) -> EffectiveSettings:
    """Return the values that a project gives to sessions without settings of their own."""
    return resolve_settings(
        default_model=configuration.CONVOWEB_MODEL, project=project.settings, session={}, request={}
    )


def save_project_settings(
    *, project: Project, changes: Mapping[str, Any], now: datetime, actor: str = "", note: str = ""
) -> None:
    """Store the changes as the project's defaults; None or the built-in value removes a default of its own."""
    built_in = stored_values(built_in_settings().values)
    with transaction.atomic():
        stored = lock_project(project.pk)
        settings = check_settings({**stored.settings, **changes})
        project.settings = {name: value for name, value in settings.items() if value != built_in[name]}
        if project.settings != stored.settings:
            project.save(update_fields=["settings"])
            record_version(
                project=project,
                session=None,
                settings=project.settings,
                before=stored.settings,
                now=now,
                actor=actor,
                note=note,
                sessions_changed=count_inheriting(project=project, names=_differing(stored.settings, project.settings)),
            )
            wish_for_all(sessions=Session.objects.filter(project=project), now=now)


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]
