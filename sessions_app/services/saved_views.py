"""Views: filters of the list of sessions that a project has given names to."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from django.db import IntegrityError, transaction

from sessions_app.domain.errors import Conflict, FieldError, IdTaken, InvalidInput, NotFound
from sessions_app.domain.text_cleaning import clean_json, clean_text
from sessions_app.models import Project, SavedView
from sessions_app.services.settings_versions import LONGEST_ACTOR

LONGEST_NAME = 100
MOST_VIEWS = 50


def save_new_view(*, project: Project, name: str, query: Mapping[str, str], actor: str, now: datetime) -> SavedView:
    """Keep a filter, as it stands in an address, under a name that the project has not given yet."""
    if not query:
        raise InvalidInput("A view has a filter or an order of its own; this is the whole list.")
    view = SavedView(
        project=project, name=_checked(name), query=clean_json(query), actor=actor[:LONGEST_ACTOR], created_at=now
    )
    with transaction.atomic():
        if Project.objects.select_for_update().filter(pk=project.pk).first() is None:
            raise NotFound("There is no such project.")
        if SavedView.objects.filter(project=project).count() >= MOST_VIEWS:
            raise Conflict(f"A project has at most {MOST_VIEWS} views; delete one first.")
        with _taken_names_refused(view.name), transaction.atomic():
            view.save(force_insert=True)
    return view


def rename_view(*, view: SavedView, name: str) -> SavedView:
    """Give a view another name."""
    view.name = _checked(name)
    with _taken_names_refused(view.name), transaction.atomic():
        if not SavedView.objects.filter(pk=view.pk).update(name=view.name):
            raise NotFound("There is no such view.")
    return view


@contextmanager
def _taken_names_refused(name: str) -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        detail = f"There is a view {name} already; choose another name, or delete that one."
        raise IdTaken(detail, errors=[FieldError("/name", detail)]) from None


def _checked(name: str) -> str:
    name = clean_text(" ".join(name.split()))
    if not 0 < len(name) <= LONGEST_NAME:
        detail = f"A view has a name of 1 to {LONGEST_NAME} characters."
        raise InvalidInput(detail, errors=[FieldError("/name", detail)])
    return name
