"""A project's choice of summarizer, and how its prompts introduce a summary."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings as configuration
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import transaction

from sessions_app.clients import Work
from sessions_app.domain.endpoint_names import key_variable
from sessions_app.models import Project, ProjectSummarizer, Session
from sessions_app.services.project_locks import lock_owned_project
from sessions_app.services.wishes import hurry, wish_for_all


@dataclass(frozen=True, slots=True)
class ListedEndpoint:
    """An endpoint by its name, the environment variable of its key, and whether that is set."""

    name: str
    key_variable: str
    has_key: bool


def summarizer_of(project: Project) -> ProjectSummarizer:
    """Return the project's choice; the offline summarizer, not stored, if it has made none."""
    return ProjectSummarizer.objects.filter(project=project).first() or ProjectSummarizer(project=project)


def listed_endpoints() -> list[ListedEndpoint]:
    """Return what projects see of the operator's endpoints, in the order of the list."""
    keys = configuration.CONVOWEB_ENDPOINT_KEYS
    return [ListedEndpoint(name, key_variable(name), name in keys) for name in configuration.CONVOWEB_ENDPOINTS]


def save_project_summarizer(
    *, project: Project, changes: Mapping[str, Any], by: AbstractBaseUser | AnonymousUser, now: datetime
) -> ProjectSummarizer:
    """Store columns of the project's choice, already checked; summaries that exist stay as they are.

    Another summarizer is tried at once where the one before has failed; another introduction alters next prompts.
    """
    with transaction.atomic():
        lock_owned_project(project.pk, by=by)
        chosen = ProjectSummarizer.objects.filter(project=project).first() or ProjectSummarizer(project=project)
        changed = {name for name, value in changes.items() if getattr(chosen, name) != value}
        for name in changed:
            setattr(chosen, name, changes[name])
        chosen.save()
        if "summary_template" in changed:
            wish_for_all(sessions=Session.objects.filter(project=project), now=now)
        if changed - {"summary_template"}:
            _try_again(project, now)
    return chosen


def _try_again(project: Project, now: datetime) -> None:
    """Let sessions whose summarizing has failed not wait for what another summarizer did."""
    failing = Session.objects.filter(project=project).exclude(next_attempt_at=None)
    ordered = failing.order_by("pk").select_for_update().values("pk")
    if Session.objects.filter(pk__in=ordered).update(next_attempt_at=None, summary_wanted_at=now):
        hurry(Work.SWEEP)
