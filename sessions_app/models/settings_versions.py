"""The versions of a project's and of each session's memory settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q

from sessions_app.models.projects import Project
from sessions_app.models.sessions import Session


class VersionOrigin(models.TextChoices):
    """How a version came about: what was in force before it is known only if somebody saved it in place of that."""

    SAVED = "saved"
    CREATED = "created"
    FOUND = "found"


@dataclass(frozen=True, slots=True)
class InForce:
    """Sparse settings that were in force at a moment, and the number of their version; 0 if none had been saved yet."""

    number: int
    settings: Mapping[str, Any]


class SettingsVersionQuerySet(models.QuerySet["SettingsVersion"]):
    """Filters over versions."""

    def of(self, project: Project, session: Session | None) -> "SettingsVersionQuerySet":
        """The versions of a session, or of the project itself, unordered."""
        return self.filter(session=session) if session else self.filter(project=project, session=None)

    def newest(self) -> "SettingsVersion | None":
        """The version in force now; None if there is none."""
        return self.order_by("-number").first()

    def at(self, moment: datetime, *, is_watched: bool, stored: Mapping[str, Any]) -> InForce | None:
        """What was in force of these, which are one project's or session's, at a moment; None if that is not known.

        If it `is_watched` that versions were kept then already, nothing was set before the first that somebody saved,
        and what is `stored` now has always been so if there is none.
        """
        newest = self.filter(saved_at__lte=moment).order_by("-saved_at", "-number").first()
        if newest is not None:
            return InForce(newest.number, newest.settings)
        if not is_watched:
            return None
        oldest = self.order_by("number").first()
        if oldest is None:
            return InForce(0, stored)
        return InForce(0, {}) if oldest.origin == VersionOrigin.SAVED else None


class SettingsVersion(models.Model):
    """Sparse memory settings of a session, or without one of the project, as they were in force from `saved_at` on.

    A version is written with every save that changes something, never changed, and goes with its session.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="settings_versions")
    session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.CASCADE, related_name="settings_versions"
    )
    number = models.PositiveIntegerField()
    settings = models.JSONField(default=dict, blank=True)
    origin = models.CharField(max_length=10, choices=VersionOrigin, default=VersionOrigin.SAVED)
    actor = models.CharField(max_length=200, blank=True, help_text="The user or the API key that saved it.")
    note = models.CharField(max_length=500, blank=True)
    saved_at = models.DateTimeField()
    sessions_changed = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="How many sessions inherited what it changed when it was saved, counted up to 10,001.",
    )

    objects = SettingsVersionQuerySet.as_manager()

    class Meta:
        verbose_name = "version of settings"
        verbose_name_plural = "versions of settings"
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="settings_version_once_in_session"),
            models.UniqueConstraint(
                fields=["project", "number"], condition=Q(session=None), name="settings_version_once_in_project"
            ),
        ]
        indexes = [
            models.Index(fields=["session", "saved_at", "number"], name="settings_version_of_session"),
            models.Index(
                fields=["project", "saved_at", "number"],
                condition=Q(session=None),
                name="settings_version_of_project",
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"


def settings_at(*, session: Session, moment: datetime) -> tuple[InForce | None, InForce | None]:
    """Return what was in force at a moment for a session's project and for itself; None where that is not known.

    Without a version it is not known before the project was there, or before versions began to be kept.
    """
    project, versions = session.project, SettingsVersion.objects
    of_project, of_session = versions.of(project, None), versions.of(project, session)
    found = of_project.filter(number=1, origin=VersionOrigin.FOUND).values_list("saved_at", flat=True).first()
    is_watched = moment >= (found or project.created_at)
    return (
        of_project.at(moment, is_watched=is_watched, stored=project.settings),
        of_session.at(moment, is_watched=is_watched, stored=session.settings),
    )
