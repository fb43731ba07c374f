"""Versions of the memory settings of sessions and of the project: the endpoints."""

from datetime import datetime

from django.utils import timezone
from ninja import Query, Router
from pydantic import Field

from sessions_app.api.access import ADMIN, READ, WRITE, ApiRequest
from sessions_app.api.idempotency import idempotent
from sessions_app.api.lookups import find_session
from sessions_app.api.paging import page_of
from sessions_app.api.schemas import Count, In, JsonObject, Out, PageQuery, Whole
from sessions_app.api.setting_schemas import Note
from sessions_app.models import Project, Session, SettingsVersion, VersionOrigin
from sessions_app.models.connections import one_state
from sessions_app.queries.settings_versions import BY_NUMBER
from sessions_app.services.settings_restoring import restore_project_settings, restore_session_settings

router = Router(tags=["settings"])


class VersionOut(Out):
    """Settings as they were in force from `saved_at` until the next version."""

    number: Whole
    settings: JsonObject = Field(description="The session's or the project's own, sparse.")
    origin: VersionOrigin = Field(
        description="saved; created with the session; or found when versions began to be kept, since when is not known."
    )
    actor: str = Field(description="The user or the API key that saved it.")
    note: str
    saved_at: datetime
    sessions_changed: int | None = Field(
        description="How many sessions inherited what a project's version changed when it was saved; 10,001 is more."
    )


class VersionPage(Out):
    """A page of versions, newest first; the newest of all is in force."""

    items: list[VersionOut]
    next_cursor: str | None


class VersionTarget(In):
    """The version to go back to."""

    to: Count = Field(description="Its number; 0 is nothing of its own, as before the first save.")
    note: Note = ""


@router.get("/sessions/{session_id}/settings/versions", auth=READ, response=VersionPage)
@one_state()
def list_session_versions(request: ApiRequest, session_id: str, query: Query[PageQuery]) -> VersionPage:
    """List the versions of a session's own settings, newest first."""
    session = find_session(request, session_id)
    return _page(session.project, session, query)


@router.post("/sessions/{session_id}/settings/restore", auth=WRITE, response=VersionOut)
@idempotent
def restore_session(request: ApiRequest, session_id: str, payload: VersionTarget) -> SettingsVersion | None:
    """Save the settings of an earlier version to the session again, as a new version."""
    session = find_session(request, session_id)
    restored = restore_session_settings(
        session=session, to=payload.to, now=timezone.now(), actor=request.auth.name, note=payload.note
    )
    return SettingsVersion.objects.of(restored.project, restored).newest()


@router.get("/project/settings/versions", auth=READ, response=VersionPage)
@one_state()
def list_project_versions(request: ApiRequest, query: Query[PageQuery]) -> VersionPage:
    """List the versions of the project's default settings, newest first."""
    return _page(request.auth.project, None, query)


@router.post("/project/settings/restore", auth=ADMIN, response=VersionOut)
@idempotent
def restore_project(request: ApiRequest, payload: VersionTarget) -> SettingsVersion | None:
    """Save the settings of an earlier version as the project's defaults again, as a new version."""
    project = request.auth.project
    restore_project_settings(
        project=project, to=payload.to, now=timezone.now(), actor=request.auth.name, note=payload.note
    )
    return SettingsVersion.objects.of(project, None).newest()


def _page(project: Project, session: Session | None, query: PageQuery) -> VersionPage:
    versions = SettingsVersion.objects.of(project, session)
    rows, cursor = page_of(versions, BY_NUMBER, limit=query.limit, cursor=query.cursor)
    return VersionPage(items=[VersionOut.model_validate(row) for row in rows], next_cursor=cursor)
