"""Imports: a file in, and what became of its conversations."""

from datetime import datetime
from functools import wraps
from http import HTTPStatus
from inspect import unwrap
from typing import Any, Literal

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import File, Form, Query, Router
from ninja.decorators import decorate_view
from ninja.errors import HttpError
from ninja.files import UploadedFile
from ninja.responses import Status
from pydantic import Field

from sessions_app.api.access import READ, WRITE, ApiRequest
from sessions_app.api.lookups import find_import
from sessions_app.api.parsing import Door
from sessions_app.api.schemas import In, Out, Whole
from sessions_app.domain.file_formats import FILE_FORMATS
from sessions_app.models import Import, ImportOutcome, ImportStatus
from sessions_app.queries.imports import Shown, outcomes_of, report_of
from sessions_app.services.import_files import start_import

router = Router(tags=["imports"])


class FailedOut(Out):
    """A conversation of which nothing was stored, and why."""

    place: int = Field(description="Line of a JSON Lines file, else the place in the list; from 1.")
    title: str
    outcome: ImportOutcome
    detail: str
    session_id: str | None = Field(description="The session that says otherwise than the file.")


class CountsOut(Out):
    """How many conversations came to which outcome."""

    imported: int
    extended: int
    unchanged: int
    changed: int
    invalid: int


class ImportOut(Out):
    """A file on its way in."""

    id: str
    status: Literal[tuple(ImportStatus.values)]  # type: ignore[valid-type]
    file_name: str
    file_format: str
    size: int
    read_bytes: int
    counts: CountsOut
    error: str
    created_at: datetime
    finished_at: datetime | None
    failed: list[FailedOut]
    next_after: int | None = Field(description="`after` of the next page of `failed`; null behind the last.")


class ImportFields(In):
    """What is said of a file."""

    file_format: Literal[tuple(FILE_FORMATS)] | None = None  # type: ignore[valid-type]


class ImportQuery(In):
    """Which of the conversations that failed are shown."""

    after: Whole = 0


def _limited(run: Door) -> Door:
    """Refuse a request that is too large before its file is looked for, which is then not there."""
    operation = unwrap(run).__self__

    @wraps(run)
    def limited(request: ApiRequest, **kwargs: Any) -> HttpResponseBase:
        length = request.headers.get("Content-Length") or "0"
        if length.isdigit() and int(length) <= settings.CONVOWEB_MAX_UPLOAD:
            return run(request, **kwargs)
        detail = f"A file may have at most {settings.CONVOWEB_MAX_UPLOAD} bytes."
        refused: HttpResponseBase = operation.api.on_exception(
            request, HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
        )
        return refused

    return limited


@router.post("/imports", auth=WRITE, response={202: ImportOut})
@decorate_view(_limited)
def start(request: ApiRequest, file: File[UploadedFile], fields: Form[ImportFields]) -> Status[ImportOut]:
    """Take a file of conversations, which are brought in in the background. Sending it again changes nothing."""
    work = start_import(
        project=request.auth.project, user=None, file=file, now=timezone.now(), told_format=fields.file_format or ""
    )
    return Status(202, _import_out(work, after=0))


@router.get("/imports/{import_id}", auth=READ, response=ImportOut)
def get(request: ApiRequest, import_id: str, query: Query[ImportQuery]) -> ImportOut:
    """Get how far an import came, and the conversations of which nothing was stored."""
    return _import_out(find_import(request, import_id), after=query.after)


def _import_out(work: Import, *, after: int) -> ImportOut:
    report = report_of(work, shown=Shown.ERRORS, after=after)
    counts = {str(outcome): count for outcome, count in outcomes_of(work).items()}
    return ImportOut(
        id=work.public_id,
        status=work.status,
        file_name=work.file_name,
        file_format=work.file_format,
        size=work.size,
        read_bytes=work.done_bytes,
        counts=CountsOut(**counts),
        error=work.error,
        created_at=work.created_at,
        finished_at=work.finished_at,
        failed=[
            FailedOut(
                place=row.place,
                title=row.title,
                outcome=ImportOutcome(row.outcome),
                detail=row.detail,
                session_id=row.session.public_id if row.session else None,
            )
            for row in report.rows
        ],
        next_after=report.next_after,
    )
