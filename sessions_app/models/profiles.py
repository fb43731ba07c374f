"""Named copies of memory settings."""

from django.db import models

from sessions_app.models.fields import BytewiseCharField
from sessions_app.models.projects import Project


class Profile(models.Model):
    """A named copy of all values of the memory settings; no layer: it has an effect only where it is applied."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="profiles")
    name = BytewiseCharField(max_length=100)
    settings = models.JSONField(default=dict)
    actor = models.CharField(max_length=200, blank=True, help_text="Who saved it.")
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="profile_once_in_project")]

    def __str__(self) -> str:
        return self.name
