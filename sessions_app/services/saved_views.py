"""Views: filters of the list of sessions that a project has given names to."""

from collections.abc import Mapping
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from sessions_app.domain.errors import Conflict, InvalidInput, NotFound
from sessions_app.domain.text_cleaning import clean_json
from sessions_app.models import DefaultView, Project, SavedView
from sessions_app.services.given_names import checked_name, taken_names_refused
from sessions_app.services.project_locks import lock_project
from sessions_app.services.settings_versions import LONGEST_ACTOR

MOST_VIEWS = 50


def save_new_view(*, project: Project, name: str, query: Mapping[str, str], actor: str, now: datetime) -> SavedView:
    """Keep a filter, as it stands in an address, under a name that the project has not given yet."""
    if not query:
        raise InvalidInput("A view has a filter or an order of its own; this is the whole list.")
    view = SavedView(
        project=project,
        name=checked_name(name, kind="view"),
        query=clean_json(query),
        actor=actor[:LONGEST_ACTOR],
        created_at=now,
    )
    with transaction.atomic():
        lock_project(project.pk)
        if SavedView.objects.filter(project=project).count() >= MOST_VIEWS:
            raise Conflict(f"A project has at most {MOST_VIEWS} views; delete one first.")
        with taken_names_refused(view.name, kind="view"):
            view.save(force_insert=True)
    return view


def rename_view(*, view: SavedView, name: str) -> SavedView:
    """Give a view another name."""
    view.name = checked_name(name, kind="view")
    with taken_names_refused(view.name, kind="view"):
        if not SavedView.objects.filter(pk=view.pk).update(name=view.name):
            raise NotFound("There is no such view.")
    return view


def open_list_with(*, view: SavedView, user: User) -> None:
    """Let the project's list show somebody this view if they ask for nothing else, in place of any other."""
    with transaction.atomic():
        # What is deleted meanwhile is nobody's default.
        if not SavedView.objects.select_for_update().filter(pk=view.pk).exists():
            raise NotFound("There is no such view.")
        DefaultView.objects.update_or_create(project=view.project, user=user, defaults={"view": view})
