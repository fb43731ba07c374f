"""Imports of files and what became of each conversation."""

from django.contrib import admin
from django.db.models import Q

from sessions_app.admin.lists import LookedAt, ProjectFilter, pks_with_id
from sessions_app.models import Import, ImportedConversation, Session


@admin.register(Import)
class ImportAdmin(LookedAt):
    """Files on their way in."""

    list_display = ("file_name", "project", "user", "file_format", "status", "done_items", "created_at", "finished_at")
    list_select_related = ("project", "user")
    list_filter = (ProjectFilter, "status", "file_format")
    search_help_text = "Words of the file's name or of the error"
    word_columns = ("file_name", "error")


@admin.register(ImportedConversation)
class ImportedConversationAdmin(LookedAt):
    """What became of each conversation of a file."""

    project_path = "source_import__project"
    list_display = ("source_import", "place", "title", "outcome", "new_runs", "session", "detail")
    list_select_related = ("source_import", "session")
    list_filter = (ProjectFilter, "outcome")
    search_help_text = "The id of a session, or words of title and reason in the newest 10,000"
    word_columns = ("title", "detail")

    def ids(self, term: str) -> Q:
        """Match the id of a session."""
        return Q(session__in=pks_with_id(Session, term))
