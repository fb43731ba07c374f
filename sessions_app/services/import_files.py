"""Uploaded files on their way in: kept in the data folder, worked through in the background, resumed after a crash.

How far an import came stands in its rows: the conversations that were reported, and a lease of the worker at it.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

import structlog
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.core.files import File
from django.core.files.storage import FileSystemStorage
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, Max, Q, QuerySet
from django.db.models.functions import Now

from sessions_app.clients import Work
from sessions_app.domain.errors import InvalidInput, NotFound
from sessions_app.domain.file_formats import FILE_FORMATS, detect_format
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Import, ImportedConversation, ImportStatus, Project
from sessions_app.services.imports import PreparedRow, import_row, prepare_row
from sessions_app.services.project_locks import lock_project
from sessions_app.services.wishes import hurry, many_wishes

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=60)
HEAD = 64 * 1024
LONGEST_NAME = 255
UNFINISHED = (ImportStatus.PENDING, ImportStatus.RUNNING)


def start_import(
    *, project: Project, user: AbstractBaseUser | AnonymousUser | None, file: File, now: datetime, told_format: str = ""
) -> Import:
    """Keep an uploaded file and its wish to be imported; raises InvalidInput if its format is not recognized.

    `told_format` is the name of a format in place of the detected one.
    """
    name = _name_of(file)
    file_format = FILE_FORMATS[told_format] if told_format else detect_format(file.read(HEAD), name)
    file.seek(0)
    stored_as = _storage().save(uuid.uuid4().hex, file)
    try:
        with transaction.atomic():
            # A project that is deleted meanwhile is deleted without knowing of this import.
            lock_project(project.pk)
            work = Import.objects.create(
                project=project,
                user_id=user.pk if user else None,
                file_name=name,
                stored_as=stored_as,
                file_format=file_format.name,
                format_was_told=bool(told_format),
                size=file.size,
                created_at=now,
            )
            hurry(Work.RUN_IMPORT, work.pk)
    except NotFound:
        _storage().delete(stored_as)
        raise
    return work


def start_imports(
    *,
    project: Project,
    user: AbstractBaseUser | AnonymousUser,
    files: Sequence[File],
    now: datetime,
    told_format: str = "",
) -> list[Import]:
    """Start an import of each file; among several, one that is not recognized becomes a failed import."""
    if len(files) == 1:
        return [start_import(project=project, user=user, file=files[0], now=now, told_format=told_format)]
    return [_started(project, user, file, now, told_format) for file in files]


def _started(
    project: Project, user: AbstractBaseUser | AnonymousUser, file: File, now: datetime, told_format: str
) -> Import:
    try:
        return start_import(project=project, user=user, file=file, now=now, told_format=told_format)
    except InvalidInput as refusal:
        return Import.objects.create(
            project=project,
            user_id=user.pk,
            file_name=_name_of(file),
            size=file.size,
            status=ImportStatus.FAILED,
            error=refusal.detail,
            created_at=now,
            finished_at=now,
        )


def cancel_import(*, work: Import) -> bool:
    """End an import that waits or runs; what it brought in stays. False if it had ended already.

    A worker at it stops before its next conversation.
    """
    stopped = Import.objects.filter(pk=work.pk, status__in=UNFINISHED).update(
        status=ImportStatus.CANCELLED, lease_until=None, finished_at=Now(), stored_as=""
    )
    if stopped and work.stored_as:
        _storage().delete(work.stored_as)
    return bool(stopped)


def waiting_imports() -> list[int]:
    """Return the keys of imports that nobody is working on."""
    return list(_free_imports().values_list("pk", flat=True))


def work_through(*, import_pk: int, now: datetime) -> None:
    """Bring in what is left of an import; returns at once if another worker is at it or it is done."""
    if not _free_imports().filter(pk=import_pk).update(status=ImportStatus.RUNNING, lease_until=_lease()):
        return
    work = Import.objects.select_related("project").get(pk=import_pk)
    try:
        with _path(work).open("rb") as stream, many_wishes():
            is_ours = _bring_in(work, stream, now)
    except OperationalError:
        raise  # The database is away or busy; the sweeper tries again when the lease has run out.
    except Exception as error:
        log.exception("import_failed", import_pk=import_pk)
        _end(work, error=f"It broke off: {type(error).__name__}.")
        return
    if is_ours:
        _end(work, error="" if work.conversations.exists() else "There is no conversation in this file.")


def _bring_in(work: Import, stream: BinaryIO, now: datetime) -> bool:
    """Import each conversation behind the last reported one; false if another worker took over or a person ended it."""
    file_format = FILE_FORMATS[work.file_format]
    done = work.conversations.aggregate(last=Max("place"))["last"] or 0
    for found in file_format.rows(stream, work.file_name):
        if found.place <= done:
            continue
        row = prepare_row(file_format=file_format, found=found)
        if not _store(work, row, stream.tell(), now):
            return False
    return True


def _store(work: Import, row: PreparedRow, done_bytes: int, now: datetime) -> bool:
    """Import a conversation and report it in one transaction; false if others reported its place or ended it."""
    try:
        with transaction.atomic():
            done = import_row(project=work.project, file_format=FILE_FORMATS[work.file_format], row=row, now=now)
            ImportedConversation.objects.create(
                source_import=work,
                place=row.place,
                title=done.title,
                outcome=done.outcome,
                detail=done.detail,
                session=done.session,
                new_runs=done.new_runs,
            )
            is_wanted = Import.objects.filter(pk=work.pk, status=ImportStatus.RUNNING).update(
                done_items=F("done_items") + 1, done_bytes=done_bytes, lease_until=_lease()
            )
            if not is_wanted:
                transaction.set_rollback(True)
                return False
    except IntegrityError:
        if not work.conversations.filter(place=row.place).exists():
            raise
        return False
    return True


def _end(work: Import, *, error: str) -> None:
    """Close an import, unless a person has, and forget its file."""
    ended = Import.objects.filter(pk=work.pk, status=ImportStatus.RUNNING).update(
        status=ImportStatus.FAILED if error else ImportStatus.COMPLETED,
        error=error,
        lease_until=None,
        done_bytes=F("done_bytes") if error else F("size"),
        finished_at=Now(),
        stored_as="",
    )
    if ended:
        _storage().delete(work.stored_as)


def _name_of(file: File) -> str:
    return clean_text(file.name or "")[-LONGEST_NAME:]


def _free_imports() -> QuerySet[Import]:
    return Import.objects.filter(Q(lease_until=None) | Q(lease_until__lt=Now()), status__in=UNFINISHED)


def _lease() -> ExpressionWrapper:
    return ExpressionWrapper(Now() + LEASE, output_field=DateTimeField())


def _storage() -> FileSystemStorage:
    folder = settings.DATA_DIR / "imports"
    return FileSystemStorage(location=folder, file_permissions_mode=0o600, directory_permissions_mode=0o700)


def _path(work: Import) -> Path:
    return Path(_storage().path(work.stored_as))
