"""The ledger of summaries."""

from datetime import datetime

from django.db import models
from django.db.models import Exists, OuterRef, Q

from sessions_app.domain.transcript import SummaryEntry
from sessions_app.models.fields import Constant
from sessions_app.models.sessions import Session


class SummaryStatus(models.TextChoices):
    """The states of a ledger entry; only a completed one is ever sent."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED = (SummaryStatus.PENDING, SummaryStatus.RUNNING)


class SummaryOrigin(models.TextChoices):
    """Where the text of an entry comes from."""

    SUMMARIZER = "summarizer"
    ADOPTED = "adopted"
    EDITED = "edited"


class SummaryQuerySet(models.QuerySet["Summary"]):
    """Filters over ledger entries."""

    def in_use(self) -> "SummaryQuerySet":
        """The chain in use, newest last; of two that cover the same the one made from the other is the newer."""
        return self.filter(status=SummaryStatus.COMPLETED, retired_at=None).order_by("covers_through", "number")

    def in_use_at(self, moment: datetime) -> "SummaryQuerySet":
        """The chain that was in use at a moment, newest last."""
        kept = Q(retired_at=None) | Q(retired_at__gt=moment)
        made = self.filter(kept, status=SummaryStatus.COMPLETED, ended_at__lte=moment)
        away = SummaryAbsence.objects.filter(entry=OuterRef("pk"), since__lte=moment, until__gt=moment)
        return made.filter(~Exists(away)).order_by("covers_through", "number")

    def unfinished(self) -> "SummaryQuerySet":
        """Entries that wait for a worker or are being worked on: at most one of a session, in the order of an index."""
        return self.filter(status__in=[Constant(status) for status in UNFINISHED]).order_by("status")


class Summary(models.Model):
    """An entry of a session's ledger: made from its predecessor and the runs behind it, through `covers_through`.

    `started_at` and `duration_ms` are those of the newest attempt, `cost_usd` is the sum of all. An entry is out of use
    since `retired_at` (a person rolled back to an earlier one).
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="summaries")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=SummaryStatus, default=SummaryStatus.RUNNING)
    origin = models.CharField(max_length=10, choices=SummaryOrigin, default=SummaryOrigin.SUMMARIZER)
    predecessor = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    adopted_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    covers_through = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    tokens_before = models.PositiveBigIntegerField(default=0, help_text="Of what the summarizer was given.")
    tokens_o200k = models.PositiveBigIntegerField(default=0, help_text="Of the text.")
    facts = models.JSONField(default=dict, blank=True, help_text="Which facts the text kept and which it dropped.")
    summarizer = models.CharField(max_length=40)
    model = models.CharField(max_length=200, blank=True)
    template = models.CharField(max_length=12, blank=True, help_text="The version of the request's template: its hash.")
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    from_cache = models.BooleanField(default=False, help_text="The same request was answered and paid for before.")
    duration_ms = models.PositiveBigIntegerField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    actor = models.CharField(max_length=200, blank=True, help_text="Who edited or asked for it; empty: the settings.")
    lease_token = models.CharField(max_length=40, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = SummaryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "summaries"
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="summary_number_once"),
            models.UniqueConstraint(
                fields=["session"], condition=Q(status__in=UNFINISHED), name="summary_unfinished_once"
            ),
            models.CheckConstraint(condition=Q(covers_through__gt=0), name="summary_covers_something"),
        ]
        indexes = [models.Index(fields=["session", "status", "covers_through", "number"], name="summary_by_cover")]

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


class SummaryAbsence(models.Model):
    """A time in which an entry was out of use, before a person put it into use again."""

    entry = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="absences")
    since = models.DateTimeField()
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.entry} from {self.since} until {self.until}"
