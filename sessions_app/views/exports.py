"""Sessions as files to download."""

from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from sessions_app.domain.conversation_files import ExportFormat
from sessions_app.domain.errors import ExportIsBusy, InvalidInput
from sessions_app.domain.export_formats import export_format
from sessions_app.domain.export_formats.openai import OPENAI
from sessions_app.models import Project
from sessions_app.services.downloads import Download
from sessions_app.views.projects import project_for
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.session_pages import session_of


@login_required
@require_safe
def export(request: HtmxRequest, slug: str, session_id: str) -> HttpResponseBase:
    """Send a session with the runs of its whole lineage."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    try:
        file_format = export_format(request.GET.get("file_format", OPENAI.name))
        return download([conversation.pk], project, file_format)
    except (InvalidInput, ExportIsBusy) as refusal:
        messages.error(request, refusal.detail)
        return redirect("session", slug, session_id)


def download(session_pks: Sequence[int], project: Project, file_format: ExportFormat) -> StreamingHttpResponse:
    """Answer with sessions as a file; raises what `Download` does."""
    file = Download(session_pks=session_pks, project=project, file_format=file_format)
    return StreamingHttpResponse(file, headers=file.headers)
