"""Invitations to projects."""

from datetime import datetime

from django.conf import settings
from django.db import models

from sessions_app.models.projects import Project, member_roles


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Filters over invitations."""

    def open_at(self, now: datetime) -> "InvitationQuerySet":
        """Those that can still be accepted."""
        return self.filter(expires_at__gt=now)


class Invitation(models.Model):
    """A link by which one person joins a project; its row goes when it was used or is revoked.

    The token of the link is stored as its SHA-256 only.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=member_roles)
    token_hash = models.CharField(max_length=64, unique=True)
    actor = models.CharField(max_length=200, blank=True, help_text="Who invited, as they were called then.")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.role} in {self.project}"
