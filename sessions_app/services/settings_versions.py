"""Each save of memory settings as a version."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Project, Session, SettingsVersion, VersionOrigin

LONGEST_NOTE = 500
LONGEST_ACTOR = 200


def check_note(note: str) -> str:
    """Return a note in stored form, or raise InvalidInput if it is too long."""
    note = clean_text(note.strip())
    if len(note) > LONGEST_NOTE:
        detail = f"A note may have at most {LONGEST_NOTE} characters."
        raise InvalidInput(detail, errors=[FieldError("/note", detail)])
    return note


def record_version(
    *,
    project: Project,
    session: Session | None,
    settings: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    now: datetime,
    actor: str = "",
    note: str = "",
    sessions_changed: int | None = None,
) -> None:
    """Write the version of a save inside its transaction, which holds the lock of what it is saved to.

    `before` are the settings that it takes the place of; None for a session that is created with its settings. Nothing
    is written where both are the same. `sessions_changed` counts those that a project's default reaches.
    """
    if settings == (before or {}):
        return
    versions = SettingsVersion.objects.of(project, session)
    number = versions.order_by("-number").values_list("number", flat=True).first() or 0
    kept = {"project": project, "session": session, "saved_at": now}
    if before and not number:
        # Stored by nobody who kept versions.
        number = 1
        SettingsVersion.objects.create(**kept, number=1, settings=before, origin=VersionOrigin.FOUND)
    SettingsVersion.objects.create(
        **kept,
        number=number + 1,
        settings=settings,
        origin=VersionOrigin.CREATED if before is None else VersionOrigin.SAVED,
        actor=actor[:LONGEST_ACTOR],
        note=check_note(note),
        sessions_changed=sessions_changed,
    )
