"""The ledger of summaries."""

from django.db import models
from django.db.models import Q

from sessions_app.domain.transcript import SummaryEntry
from sessions_app.models.sessions import Session


class SummaryStatus(models.TextChoices):
    """The states of a ledger entry; only a completed one is ever sent."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class SummaryQuerySet(models.QuerySet["Summary"]):
    """Filters over ledger entries."""

    def in_use(self) -> "SummaryQuerySet":
        """The completed chain, newest last."""
        return self.filter(status=SummaryStatus.COMPLETED).order_by("covers_through")

    def unfinished(self) -> "SummaryQuerySet":
        """Entries that are being worked on."""
        return self.filter(status=SummaryStatus.RUNNING)


class Summary(models.Model):
    """An entry of a session's ledger: made from its predecessor and the runs behind it, through `covers_through`."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="summaries")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=SummaryStatus, default=SummaryStatus.RUNNING)
    predecessor = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    covers_through = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    tokens_before = models.PositiveBigIntegerField(default=0, help_text="Of what the summarizer was given.")
    tokens_o200k = models.PositiveBigIntegerField(default=0, help_text="Of the text.")
    summarizer = models.CharField(max_length=40)
    adopted = models.BooleanField(default=False, help_text="Taken over from the parent, without a summarizer.")
    attempts = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    lease_token = models.CharField(max_length=40, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)

    objects = SummaryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "summaries"
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="summary_number_once"),
            models.UniqueConstraint(fields=["session"], condition=Q(status="running"), name="summary_unfinished_once"),
            models.CheckConstraint(condition=Q(covers_through__gt=0), name="summary_covers_something"),
        ]
        indexes = [models.Index(fields=["session", "status", "covers_through"], name="summary_by_cover")]

    def __str__(self) -> str:
        return f"summary {self.number}"

    @property
    def public_id(self) -> str:
        """The entry's id outside."""
        return f"sum_{self.pk}"

    @property
    def covers_from(self) -> int:
        """The first run that this entry covers and its predecessor does not."""
        return self.predecessor.covers_through + 1 if self.predecessor else 1

    def to_value(self) -> SummaryEntry:
        """Return the entry as a value."""
        return SummaryEntry(self.public_id, self.number, self.covers_through, self.text)
