"""The key's own project."""

from datetime import datetime
from typing import Annotated

from django.db import transaction
from django.utils import timezone
from ninja import Router
from pydantic import Field

from sessions_app.api.access import ADMIN, READ, ApiRequest
from sessions_app.api.idempotency import idempotent
from sessions_app.api.schemas import In, JsonObject, Out
from sessions_app.api.setting_schemas import Note, SparseSettings
from sessions_app.domain.errors import at
from sessions_app.models import Project
from sessions_app.services.project_locks import lock_project
from sessions_app.services.settings import save_project_settings

router = Router(tags=["project"])


class ProjectPatch(In):
    """A JSON merge patch; a setting of null falls back to the built-in value."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    settings: SparseSettings | None = None
    note: Note = ""


class ProjectOut(Out):
    """A project; `settings` are its defaults that differ from the built-in values."""

    slug: str
    name: str
    settings: JsonObject
    created_at: datetime


@router.get("/project", auth=READ, response=ProjectOut)
def get_project(request: ApiRequest) -> Project:
    """Get the project of the key."""
    return request.auth.project


@router.patch("/project", auth=ADMIN, response=ProjectOut)
@idempotent
def patch_project(request: ApiRequest, payload: ProjectPatch) -> Project:
    """Change the project's name and its default settings."""
    with transaction.atomic():
        project = lock_project(request.auth.project_id)
        if payload.name is not None:
            project.name = payload.name
            project.save(update_fields=["name"])
        if payload.settings is not None:
            with at("/settings"):
                save_project_settings(
                    project=project,
                    changes=payload.settings,
                    now=timezone.now(),
                    actor=request.auth.name,
                    note=payload.note,
                )
    return project
