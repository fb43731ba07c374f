"""Profiles: named copies of all values of the memory settings, which have no effect until they are applied."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from sessions_app.domain.errors import Conflict, FieldError, IdTaken, InvalidInput, NotFound
from sessions_app.domain.setting_values import check_settings
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Profile, Project
from sessions_app.services.settings_versions import LONGEST_ACTOR

LONGEST_NAME = 100
MOST_PROFILES = 100


def save_new_profile(*, project: Project, name: str, settings: Mapping[str, Any], actor: str, now: datetime) -> Profile:
    """Store a copy of settings under a name that the project has not given yet."""
    profile = Profile(
        project=project,
        name=_checked(name),
        settings=check_settings(settings),
        actor=actor[:LONGEST_ACTOR],
        saved_at=now,
    )
    with transaction.atomic():
        if Project.objects.select_for_update().filter(pk=project.pk).first() is None:
            raise NotFound("There is no such project.")
        if Profile.objects.filter(project=project).count() >= MOST_PROFILES:
            raise Conflict(f"A project has at most {MOST_PROFILES} profiles; delete one first.")
        with _taken_names_refused(profile.name), transaction.atomic():
            profile.save(force_insert=True)
    return profile


def rename_profile(*, profile: Profile, name: str) -> Profile:
    """Give a profile another name."""
    profile.name = _checked(name)
    with _taken_names_refused(profile.name), transaction.atomic():
        if not Profile.objects.filter(pk=profile.pk).update(name=profile.name):
            raise NotFound("There is no such profile.")
    return profile


@contextmanager
def _taken_names_refused(name: str) -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        detail = f"There is a profile {name} already; choose another name, or delete that one."
        raise IdTaken(detail, errors=[FieldError("/name", detail)]) from None


def _checked(name: str) -> str:
    name = clean_text(" ".join(name.split()))
    if not 0 < len(name) <= LONGEST_NAME:
        detail = f"A profile has a name of 1 to {LONGEST_NAME} characters."
        raise InvalidInput(detail, errors=[FieldError("/name", detail)])
    return name
