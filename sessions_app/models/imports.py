"""Imports of files and their report, conversation by conversation."""

from django.conf import settings
from django.db import models

from sessions_app.models.projects import Project
from sessions_app.models.sessions import Session


class ImportStatus(models.TextChoices):
    """The states of an import."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ImportOutcome(models.TextChoices):
    """What became of one conversation of a file."""

    IMPORTED = "imported"
    EXTENDED = "extended"
    UNCHANGED = "unchanged"
    CHANGED = "changed", "history changed"
    INVALID = "invalid"


class Import(models.Model):
    """A file on its way in; `done_bytes` of `size` have been read."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    file_name = models.CharField(max_length=255)
    stored_as = models.CharField(max_length=100, blank=True, help_text="Name in the data folder until it is done.")
    file_format = models.CharField(max_length=40, blank=True, help_text="Empty where it was not recognized.")
    format_was_told = models.BooleanField(default=False, help_text="A person said it; else it was detected.")
    size = models.PositiveBigIntegerField()
    done_bytes = models.PositiveBigIntegerField(default=0)
    done_items = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, choices=ImportStatus, default=ImportStatus.PENDING)
    error = models.TextField(blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["project", "-created_at", "-id"], name="import_by_time")]

    def __str__(self) -> str:
        return self.file_name

    @property
    def public_id(self) -> str:
        """The id by which the API calls it."""
        return f"imp_{self.pk}"


class ImportedConversation(models.Model):
    """The report of one conversation: where it stood in the file, what became of it and why."""

    source_import = models.ForeignKey(Import, on_delete=models.CASCADE, related_name="conversations")
    place = models.PositiveIntegerField(help_text="Line of a JSONL file, else the place in its list; from 1.")
    title = models.CharField(max_length=500, blank=True)
    outcome = models.CharField(max_length=10, choices=ImportOutcome)
    detail = models.TextField(blank=True)
    session = models.ForeignKey(Session, null=True, blank=True, on_delete=models.SET_NULL)
    new_runs = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["source_import", "place"]
        constraints = [models.UniqueConstraint(fields=["source_import", "place"], name="import_place_once")]

    def __str__(self) -> str:
        return f"{self.place}: {self.outcome}"
