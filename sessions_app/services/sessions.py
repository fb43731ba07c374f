"""Creating, forking and changing sessions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from sessions_app.clients import Work
from sessions_app.domain.errors import Conflict, FieldError, IdTaken, InvalidInput, NotFound
from sessions_app.domain.identifiers import check_id
from sessions_app.domain.session_fields import check_patch, check_session_fields, merge_patch
from sessions_app.models import Project, Run, Session, SessionTag, lineage_runs
from sessions_app.models.identifiers import RANDOM_LETTERS, new_session_id
from sessions_app.models.metadata_entries import index_metadata
from sessions_app.models.search_index import index_sessions
from sessions_app.services.adoption import adopt
from sessions_app.services.forms_sent_twice import identity
from sessions_app.services.settings_versions import record_version
from sessions_app.services.trees import lock_tree
from sessions_app.services.wishes import hurry, lock_for_change, wish_for_hearers

# How a conversation is kept and looked at; trying settings and taking them back leaves it where it stood in lists.
_NO_ACTIVITY = {"settings", "tags"}


def create_session(
    *,
    project: Project,
    now: datetime,
    public_id: str | None = None,
    title: str = "",
    parent: Session | None = None,
    forked_at: int | None = None,
    instructions: str = "",
    user_id: str = "",
    tags: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    source: str = "",
    source_id: str = "",
    actor: str = "",
) -> Session:
    """Create a session, under a parent or as the root of a new tree; `forked_at` makes it a fork of its parent."""
    given = {"title": title, "instructions": instructions, "user_id": user_id, "tags": list(tags)}
    fields = check_session_fields(given | {"metadata": metadata, "settings": settings})
    names = fields.pop("tags")
    session = Session(
        project=project,
        public_id=new_session_id() if public_id is None else check_id(public_id),
        source=source,
        source_id=source_id,
        created_at=now,
        updated_at=now,
        tree_active_at=now,
        summary_wanted_at=now,
        **fields,
    )
    with transaction.atomic():
        if not Project.objects.filter(pk=project.pk).exists():
            raise NotFound("There is no such project.")
        _place(session, parent, forked_at, now)
        _insert(session)
        index_sessions([session])
        index_metadata([session])
        SessionTag.objects.bulk_create(SessionTag(session=session, name=name) for name in names)
        record_version(project=project, session=session, settings=session.settings, before=None, now=now, actor=actor)
        if forked_at:
            adopt(session=session, finished_through=forked_at, now=now)
        hurry(Work.SUMMARIZE, session.pk)
    return session


def fork_session(
    *,
    session: Session,
    at: int,
    now: datetime,
    public_id: str | None = None,
    title: str | None = None,
    actor: str = "",
) -> Session:
    """Create a fork that shares the session's runs 1..`at` and copies its instructions, settings and tags."""
    return create_session(
        project=session.project,
        now=now,
        public_id=public_id,
        title=session.title if title is None else title,
        parent=session,
        forked_at=at,
        instructions=session.instructions,
        user_id=session.user_id,
        tags=[tag.name for tag in session.tags.all()],
        settings=session.settings,
        actor=actor,
    )


def fork_by_form(*, session: Session, at: int, now: datetime, title: str, actor: str, form_number: str) -> Session:
    """Create a fork, or return the one that the same form with the same answers has made."""
    public_id = f"ses_{identity(form_number, session.pk, at, title, actor, length=RANDOM_LETTERS)}"
    try:
        return fork_session(session=session, at=at, now=now, public_id=public_id, title=title, actor=actor)
    except IdTaken:
        return Session.objects.get(project=session.project_id, public_id=public_id)


def update_session(
    *, session: Session, changes: Mapping[str, Any], now: datetime, actor: str = "", note: str = ""
) -> Session:
    """Apply a JSON merge patch of title, instructions, user_id, tags, metadata and settings; return what is stored.

    `note` says why settings change. Settings and tags alone leave the time of the last activity as it is.
    """
    with transaction.atomic():
        stored = lock_for_change(session=session, now=now, active=not changes.keys() <= _NO_ACTIVITY)
        before = {name: getattr(stored, name) for name in changes if name != "tags"}
        check_patch(changes)
        patched = {name: merge_patch(before.get(name), value) for name, value in changes.items()}
        fields = check_session_fields(patched)
        names = fields.pop("tags", None)
        for name, value in fields.items():
            setattr(stored, name, value)
        stored.save(update_fields=fields)
        if "settings" in fields:
            record_version(
                project=stored.project,
                session=stored,
                settings=stored.settings,
                before=before["settings"],
                now=now,
                actor=actor,
                note=note,
            )
        if "title" in fields:
            index_sessions([stored])
            wish_for_hearers(session=stored, now=now)
        if "metadata" in fields:
            index_metadata([stored])
        if names is not None:
            _replace_tags(stored, names)
    return stored


def _place(session: Session, parent: Session | None, forked_at: int | None, now: datetime) -> None:
    if parent is None:
        if forked_at is not None:
            raise _refused("/forked_at", "A fork needs a parent: forked_at was given without parent_id.")
        return
    try:
        session.parent = lock_tree(session=parent, now=now)
    except NotFound:
        raise _refused("/parent_id", "There is no such parent.") from None
    if session.parent.project_id != session.project_id:
        raise _refused("/parent_id", "There is no such parent.")
    Session.objects.filter(pk=session.parent.pk).update(has_children=True)
    session.root_id = session.parent.root_id
    session.depth = session.parent.depth + 1
    if forked_at is not None:
        _share(session, session.parent, forked_at)


def _share(session: Session, parent: Session, forked_at: int) -> None:
    finished = parent.last_position - Run.objects.unfinished().filter(session=parent).count()
    if not 0 <= forked_at <= finished:
        raise _refused(
            "/forked_at", f"A fork starts at a finished run of its parent: forked_at must be from 0 to {finished}."
        )
    session.forked_at = session.last_position = forked_at
    if forked_at:
        newest = lineage_runs(parent).get(position=forked_at)
        session.shared_tokens_o200k = newest.tokens_before_o200k + newest.tokens_o200k


def _insert(session: Session) -> None:
    """Write the row; the unique constraints decide, since another request may choose the same id meanwhile."""
    try:
        with transaction.atomic():
            session.save(force_insert=True)
    except IntegrityError:
        if Session.objects.filter(project=session.project, public_id=session.public_id).exists():
            raise IdTaken(
                f"A session with the id {session.public_id} exists already.",
                errors=[FieldError("/id", "This id is taken.")],
            ) from None
        raise Conflict("This conversation was imported by somebody else just now.") from None
    if session.root_id is None:
        session.root = session
        session.save(update_fields=["root"])


def _replace_tags(session: Session, names: Sequence[str]) -> None:
    session.tags.exclude(name__in=names).delete()
    present = set(session.tags.values_list("name", flat=True))
    SessionTag.objects.bulk_create(SessionTag(session=session, name=name) for name in names if name not in present)


def _refused(pointer: str, detail: str) -> InvalidInput:
    return InvalidInput(detail, errors=[FieldError(pointer, detail)])
