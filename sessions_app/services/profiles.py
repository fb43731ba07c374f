"""Profiles: named copies of all values of the memory settings, which have no effect until they are applied."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from sessions_app.domain.errors import Conflict, NotFound
from sessions_app.domain.setting_values import check_settings
from sessions_app.models import Profile, Project
from sessions_app.services.given_names import checked_name, taken_names_refused
from sessions_app.services.project_locks import lock_project
from sessions_app.services.settings_versions import LONGEST_ACTOR

MOST_PROFILES = 100


def save_new_profile(*, project: Project, name: str, settings: Mapping[str, Any], actor: str, now: datetime) -> Profile:
    """Store a copy of settings under a name that the project has not given yet."""
    profile = Profile(
        project=project,
        name=checked_name(name, kind="profile"),
        settings=check_settings(settings),
        actor=actor[:LONGEST_ACTOR],
        saved_at=now,
    )
    with transaction.atomic():
        lock_project(project.pk)
        if Profile.objects.filter(project=project).count() >= MOST_PROFILES:
            raise Conflict(f"A project has at most {MOST_PROFILES} profiles; delete one first.")
        with taken_names_refused(profile.name, kind="profile"):
            profile.save(force_insert=True)
    return profile


def rename_profile(*, profile: Profile, name: str) -> Profile:
    """Give a profile another name."""
    profile.name = checked_name(name, kind="profile")
    with taken_names_refused(profile.name, kind="profile"):
        if not Profile.objects.filter(pk=profile.pk).update(name=profile.name):
            raise NotFound("There is no such profile.")
    return profile
