"""Versions of memory settings, and profiles."""

from django.contrib import admin
from django.db.models import Q

from sessions_app.admin.lists import LookedAt, ProjectFilter, pks_with_id
from sessions_app.models import Profile, Session, SettingsVersion


@admin.register(SettingsVersion)
class SettingsVersionAdmin(LookedAt):
    """What was saved as settings of sessions and projects, by whom, when and why."""

    list_display = ("__str__", "project", "session", "origin", "actor", "note", "saved_at")
    list_select_related = ("project", "session")
    list_filter = (ProjectFilter, "origin", ("session", admin.EmptyFieldListFilter))
    search_help_text = "The id of a session, or words of the note or of who saved it in the newest 10,000"
    word_columns = ("note", "actor")

    def ids(self, term: str) -> Q:
        """Match the id of a session."""
        return Q(session__in=pks_with_id(Session, term))


@admin.register(Profile)
class ProfileAdmin(LookedAt):
    """Named copies of settings."""

    list_display = ("name", "project", "actor", "saved_at")
    list_select_related = ("project",)
    list_filter = (ProjectFilter,)
    search_help_text = "Words of the name"
    word_columns = ("name",)
