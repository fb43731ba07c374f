"""Importing files: the upload, and the report of what became of each conversation."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats import FILE_FORMATS
from sessions_app.forms import ImportForm, ReportForm
from sessions_app.models import Import, Project
from sessions_app.queries.imports import earlier_imports, format_label, progress_of, report_of, rows_of
from sessions_app.services.import_files import cancel_import, start_imports
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.uploads import is_too_large

UPLOAD = "imports/upload.html"
REPORT = "imports/report.html"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show how files come in, or take one and lead to its report."""
    project = project_for(request.user, slug)
    if request.method != "POST":
        return render_page(request, UPLOAD, "newest", _context(request, project))
    try:
        works = _start(request, project)
    except InvalidInput as refusal:
        context = _context(request, project) | {"refusal": refusal.detail, "told": request.POST.get("file_format", "")}
        return render_page(request, UPLOAD, "drop", context, status=422)
    address = reverse("import-report", args=[slug, works[0].pk]) if len(works) == 1 else reverse("import", args=[slug])
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


@login_required
@require_safe
def report(request: HtmxRequest, slug: str, import_pk: int) -> HttpResponse:
    """Show an import's progress and report; swaps get both while it runs, or the next rows."""
    project = project_for(request.user, slug)
    work = get_object_or_404(Import.objects.filter(project=project), pk=import_pk)
    asked = ReportForm(request.GET)
    if not asked.is_valid():
        return redirect("import-report", slug, import_pk)
    shown, after = asked.cleaned_data["show"], asked.cleaned_data["after"] or 0
    context = _context(request, project) | {
        "work": work,
        "format_label": format_label(work),
        "progress": progress_of(work),
        "report": report_of(work, shown=shown, after=after),
    }
    return render_page(request, REPORT, "next_rows" if after else "work", context)


@login_required
@require_POST
def cancel(request: HtmxRequest, slug: str, import_pk: int) -> HttpResponse:
    """End an import; what it brought in stays."""
    project = project_for(request.user, slug)
    work = get_object_or_404(Import.objects.filter(project=project), pk=import_pk)
    if not cancel_import(work=work):
        messages.info(request, f"The import of {work.file_name} had ended already.")
    return redirect("import-report", slug, import_pk)


def _start(request: HtmxRequest, project: Project) -> list[Import]:
    if is_too_large(request):
        raise InvalidInput(f"The file is larger than {_limit()}, or several are together.")
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        raise InvalidInput(str(next(iter(form.errors.values()))[0]))
    return start_imports(
        project=project,
        user=request.user,
        files=form.cleaned_data["file"],
        told_format=form.cleaned_data["file_format"],
        now=timezone.now(),
    )


def _context(request: HtmxRequest, project: Project) -> dict[str, Any]:
    earlier = list(earlier_imports(project))
    running = next((work for work in earlier if work.finished_at is None), None)
    return page_context(request.user, project, area="import") | {
        "earlier": earlier,
        "newest": rows_of(earlier),
        "running": running,
        "formats": FILE_FORMATS.values(),
        "limit": _limit(),
    }


def _limit() -> str:
    return filesizeformat(settings.CONVOWEB_MAX_UPLOAD).replace(".0", "")
