"""Runs and their events, and the one place where such rows become values."""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.db import models
from django.db.models import Q

from sessions_app.domain import transcript
from sessions_app.domain.transcript import OPEN_STATUSES, EventKind, Role, RunStatus, ToolCall
from sessions_app.models.fields import BytewiseCharField, Constant
from sessions_app.models.identifiers import new_run_id
from sessions_app.models.projects import Project
from sessions_app.models.sessions import Session


def _choices(enum: Any) -> list[tuple[str, str]]:
    return [(member.value, member.value.replace("_", " ")) for member in enum]


def run_status_choices() -> list[tuple[str, str]]:
    """Return the run states for the column."""
    return _choices(RunStatus)


def event_kind_choices() -> list[tuple[str, str]]:
    """Return the event kinds for the column."""
    return _choices(EventKind)


def role_choices() -> list[tuple[str, str]]:
    """Return the roles for the column."""
    return _choices(Role)


class RunQuerySet(models.QuerySet["Run"]):
    """Filters over runs."""

    def unfinished(self) -> "RunQuerySet":
        """Runs that are still being answered, found by the partial indexes over them."""
        return self.filter(status__in=[Constant(status) for status in OPEN_STATUSES])

    def uncompleted(self) -> "RunQuerySet":
        """Runs in another state than completed, found by an index over them."""
        return self.exclude(status=Constant(RunStatus.COMPLETED))

    def peculiar(self) -> "RunQuerySet":
        """Runs that did not complete or hold other events than messages and tool calls, found by an index over them."""
        ended = [Constant(RunStatus.FAILED), Constant(RunStatus.CANCELLED)]
        return self.filter(Q(status__in=ended) | ~Q(other_kinds=Constant("")))

    def with_events(self) -> "RunQuerySet":
        """Runs with their events in order, in one further query."""
        return self.prefetch_related(models.Prefetch("events", queryset=Event.objects.order_by("index")))


class Run(models.Model):
    """One turn at its lineage position.

    `tokens_o200k` is what it needs in a prompt (`domain.run_tokens`); `tokens_before_o200k` what all earlier runs of
    the lineage need, so that a range's tokens and the place of a budget's cut are found without reading what lies
    between.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="runs")
    position = models.PositiveIntegerField()
    public_id = BytewiseCharField("id", max_length=200, default=new_run_id)
    status = models.CharField(max_length=10, choices=run_status_choices)
    model = models.CharField(max_length=200, blank=True)
    usage = models.JSONField(null=True, blank=True)
    finish_reason = models.CharField(max_length=100, blank=True)
    error = models.TextField(blank=True)
    prompt_fingerprint = models.CharField(max_length=100, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    extras = models.JSONField(
        default=dict, blank=True, help_text="What its messages say beyond events, by their index."
    )
    other_kinds = models.CharField(
        max_length=40, blank=True, help_text="Kinds of its events that are neither messages nor tool calls."
    )
    tokens_o200k = models.PositiveBigIntegerField(default=0)
    tokens_before_o200k = models.PositiveBigIntegerField()
    created_at = models.DateTimeField()
    touched_at = models.DateTimeField(help_text="When an open run last changed.")
    completed_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "position"], name="run_position_once"),
            models.UniqueConstraint(fields=["project", "public_id"], name="run_id_once_in_project"),
            models.UniqueConstraint(
                fields=["session"], condition=Q(status__in=["pending", "running"]), name="run_open_once"
            ),
            models.CheckConstraint(condition=Q(position__gte=1), name="run_position_positive"),
        ]
        indexes = [
            models.Index(fields=["session", "tokens_before_o200k"], name="run_by_tokens"),
            models.Index(fields=["touched_at"], condition=Q(status__in=["pending", "running"]), name="run_open"),
            models.Index(
                fields=["project", "session"],
                condition=Q(status__in=["pending", "running"]),
                name="run_open_in_project",
            ),
            models.Index(
                fields=["project", "status", "session", "position"],
                condition=~Q(status="completed"),
                name="run_uncompleted_in_project",
            ),
            models.Index(
                fields=["session", "position"],
                condition=Q(status__in=["failed", "cancelled"]) | ~Q(other_kinds=""),
                name="run_peculiar",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.position}"

    def to_value(self, events: tuple[transcript.Event, ...] | None = None) -> transcript.Run:
        """Return the run as a value, with the given events or all; reads those unless they are prefetched."""
        return transcript.Run(
            position=self.position,
            status=RunStatus(self.status),
            events=event_values(self.events.all()) if events is None else events,
            error=self.error,
            tokens=self.tokens_o200k,
            prompt_fingerprint=self.prompt_fingerprint,
        )

    def to_new_value(self) -> transcript.NewRun:
        """Return what the run was made of, as it would be stored again under an id of its own.

        Of its events only those have a time that have another one than the run.
        """
        rows = list(self.events.all())
        timed = (None if row.created_at == self.created_at else row.created_at for row in rows)
        return transcript.NewRun(
            events=tuple(
                replace(event, created_at=time) for event, time in zip(event_values(rows), timed, strict=True)
            ),
            status=RunStatus(self.status),
            model=self.model,
            usage=None if self.usage is None else transcript.Usage(**self.usage),
            finish_reason=self.finish_reason,
            error=self.error,
            prompt_fingerprint=self.prompt_fingerprint,
            metadata=self.metadata,
            extras=self.extras,
            created_at=self.created_at,
        )


class Event(models.Model):
    """One thing inside a run, in order; `content` is JSON text of the parts a message was given in."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    index = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=event_kind_choices)
    role = models.CharField(max_length=10, choices=role_choices, blank=True)
    text = models.TextField(blank=True)
    content = models.TextField(null=True, blank=True)  # noqa: DJ001 (missing is not empty)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="calls")
    call_id = models.TextField(blank=True)
    tool_name = models.TextField(blank=True)
    arguments = models.TextField(blank=True)
    arguments_were_text = models.BooleanField(default=True)
    result = models.TextField(null=True, blank=True)  # noqa: DJ001 (missing is not empty)
    result_was_text = models.BooleanField(default=True)
    error = models.TextField(null=True, blank=True)  # noqa: DJ001 (missing is not empty)
    tokens_o200k = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["run", "index"]
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="event_index_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.index} of {self.run_id}"

    @property
    def public_id(self) -> str:
        """The event's id outside."""
        return f"evt_{self.pk}"

    @classmethod
    def from_value(cls, event: transcript.Event, **columns: Any) -> "Event":
        """Return an unsaved row of a value; run, index, parent and created_at come as columns."""
        tool = event.tool
        row = cls(
            kind=event.kind,
            role=event.role or "",
            text=event.text,
            content=None if event.content is None else json.dumps(event.content, ensure_ascii=False),
            tokens_o200k=event.tokens,
            **columns,
        )
        if tool is not None:
            row.call_id, row.tool_name, row.arguments = tool.call_id, tool.name, tool.arguments
            row.result, row.error = tool.result, tool.error
            row.arguments_were_text, row.result_was_text = tool.arguments_were_text, tool.result_was_text
        return row


def event_values(rows: Iterable[Event]) -> tuple[transcript.Event, ...]:
    """Return the events of one run, given in order, as values; parents become indexes inside the run."""
    ordered = list(rows)
    places = {row.pk: place for place, row in enumerate(ordered)}
    return tuple(_event_value(row, places) for row in ordered)


def _event_value(row: Event, places: dict[int, int]) -> transcript.Event:
    return transcript.Event(
        kind=EventKind(row.kind),
        text=row.text,
        role=Role(row.role) if row.role else None,
        content=None if row.content is None else tuple(json.loads(row.content)),
        tool=_tool_value(row) if row.kind == EventKind.TOOL_CALL else None,
        parent=places.get(row.parent_id) if row.parent_id is not None else None,
        tokens=row.tokens_o200k,
    )


def _tool_value(row: Event) -> ToolCall:
    return ToolCall(
        call_id=row.call_id,
        name=row.tool_name,
        arguments=row.arguments,
        result=row.result,
        error=row.error,
        arguments_were_text=row.arguments_were_text,
        result_was_text=row.result_was_text,
    )
