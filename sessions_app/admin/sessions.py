"""Conversations, their turns, events and summaries."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest

from sessions_app.admin.lists import LookedAt, ProjectFilter, pks_with_id
from sessions_app.models import Event, Run, Session, Summary

EXCERPT_LENGTH = 120


class KindFilter(admin.SimpleListFilter):
    """Roots, children or forks."""

    title = "kind"
    parameter_name = "kind"
    kinds: ClassVar[dict[str, Q]] = {
        "root": Q(parent=None),
        "child": Q(parent__isnull=False, forked_at=None),
        "fork": Q(forked_at__isnull=False),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the kinds of sessions."""
        return [(kind, kind) for kind in self.kinds]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the sessions of the chosen kind."""
        kind = self.kinds.get(self.value() or "")
        return queryset if kind is None else queryset.filter(kind)


@admin.register(Session)
class SessionAdmin(LookedAt):
    """Conversations."""

    list_display = ("__str__", "public_id", "project", "user_id", "forked_at", "run_count", "own_runs", "updated_at")
    list_select_related = ("project",)
    list_filter = (ProjectFilter, KindFilter, "created_at")
    search_help_text = "An id, or words of the title, id or user of the newest 10,000"
    word_columns = ("title", "public_id", "user_id")

    def ids(self, term: str) -> Q:
        """Match the id of a session."""
        return Q(pk__in=pks_with_id(Session, term))

    @admin.display(description="runs")
    def run_count(self, session: Session) -> int:
        """Return the length of the lineage."""
        return session.last_position

    @admin.display(description="own runs")
    def own_runs(self, session: Session) -> int:
        """Return how many runs are the session's own."""
        return session.own_run_count


@admin.register(Run)
class RunAdmin(LookedAt):
    """Turns."""

    list_display = ("public_id", "session", "project", "position", "status", "model", "tokens_o200k", "created_at")
    list_select_related = ("session", "project")
    list_filter = (ProjectFilter, "status")
    search_help_text = "The id of a run or of a session"

    def ids(self, term: str) -> Q:
        """Match the id of a run or of its session."""
        return Q(pk__in=pks_with_id(Run, term)) | Q(session__in=pks_with_id(Session, term))


@admin.register(Event)
class EventAdmin(LookedAt):
    """Messages, tool calls and whatever else happened in a turn."""

    project_path = "run__project"
    public_prefix = "evt_"
    list_display = ("outside_id", "session", "run", "index", "kind", "role", "tool_name", "excerpt", "created_at")
    list_select_related = ("run__session",)
    list_filter = (ProjectFilter, "kind", "role")
    search_help_text = "The id of an event, a run or a session, or words in the newest 10,000 events"
    word_columns = ("text", "arguments", "result")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return events with the beginning of their text; the whole is read on the page of one."""
        rows = super().get_queryset(request).annotate(beginning=Substr("text", 1, EXCERPT_LENGTH))
        return rows.defer("text", "content", "arguments", "result", "run__metadata", "run__session__instructions")

    def ids(self, term: str) -> Q:
        """Match the id of a run or a session."""
        return Q(run__in=pks_with_id(Run, term)) | Q(run__session__in=pks_with_id(Session, term))

    @admin.display(description="conversation")
    def session(self, event: Event) -> Session:
        """Return the conversation."""
        return event.run.session

    @admin.display(description="text")
    def excerpt(self, event: Any) -> str:
        """Return the beginning of the text."""
        return str(event.beginning)


@admin.register(Summary)
class SummaryAdmin(LookedAt):
    """The ledger of summaries."""

    project_path = "session__project"
    public_prefix = "sum_"
    list_display = (
        "outside_id",
        "session",
        "number",
        "status",
        "covers_through",
        "summarizer",
        "attempts",
        "created_at",
    )
    list_select_related = ("session",)
    list_filter = (ProjectFilter, "status", "summarizer")
    search_help_text = "The id of a summary or of a session, or words in the newest 10,000 summaries"
    word_columns = ("text", "error")

    def ids(self, term: str) -> Q:
        """Match the id of a session."""
        return Q(session__in=pks_with_id(Session, term))
