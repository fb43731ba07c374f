"""Memory settings of a project: what it gives to its sessions, and saving them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings as configuration
from django.db import transaction

from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.setting_values import check_settings, resolve_settings
from sessions_app.models import Project, Session
from sessions_app.services.wishes import wish_for_all


def project_settings(*, project: Project) -> EffectiveSettings:
    """Return the values that a project gives to sessions without settings of their own."""
    return resolve_settings(
        default_model=configuration.CONVOWEB_MODEL, project=project.settings, session={}, request={}
    )


def save_project_settings(*, project: Project, changes: Mapping[str, Any], now: datetime) -> None:
    """Store the changes as the project's defaults; None removes a default of its own."""
    with transaction.atomic():
        stored = Project.objects.select_for_update().get(pk=project.pk)
        project.settings = check_settings({**stored.settings, **changes})
        if project.settings != stored.settings:
            project.save(update_fields=["settings"])
            wish_for_all(sessions=Session.objects.filter(project=project), now=now)
