"""Exports: a session as a file."""

from typing import Any, Literal

from django.http import StreamingHttpResponse
from ninja import Query, Router

from sessions_app.api.access import READ, ApiRequest
from sessions_app.api.lookups import find_session
from sessions_app.api.schemas import In
from sessions_app.domain.export_formats import EXPORT_FORMATS
from sessions_app.services.downloads import Download

router = Router(tags=["sessions"])

ANSWER: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {
                format_.content_type.partition(";")[0]: {"schema": {"type": "string"}}
                for format_ in EXPORT_FORMATS.values()
            },
        }
    }
}


class ExportQuery(In):
    """As what to export."""

    file_format: Literal[tuple(EXPORT_FORMATS)] = "openai"  # type: ignore[valid-type]


@router.get("/sessions/{session_id}/export", auth=READ, openapi_extra=ANSWER)
def export(request: ApiRequest, session_id: str, query: Query[ExportQuery]) -> StreamingHttpResponse:
    """Export a session with the runs of its whole lineage, as a file."""
    session, file_format = find_session(request, session_id), EXPORT_FORMATS[query.file_format]
    file = Download(session_pks=[session.pk], project=request.auth.project, file_format=file_format)
    return StreamingHttpResponse(file, headers=file.headers)
