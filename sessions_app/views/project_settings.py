"""A project as a whole: making one, what it is called, its default settings, deleting it."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods
from django_htmx.http import replace_url

from sessions_app.domain.errors import Conflict, IdTaken, InvalidInput
from sessions_app.domain.roles import Right
from sessions_app.member_forms import ProjectForm
from sessions_app.models import ApiKey, Membership, Project
from sessions_app.services.projects import create_project, delete_project, rename_project
from sessions_app.views.access import needs
from sessions_app.views.default_drafts import (
    defaults_context,
    drafted_defaults,
    save_as_default,
    told_why_not_saved,
)
from sessions_app.views.drafts import login_required_keeping_drafts
from sessions_app.views.projects import may_create_projects, page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page

PAGE = "projects/general.html"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Ask what a new project is called; then make it, owned by whoever asked."""
    if not isinstance(request.user, User) or not may_create_projects(request.user):
        raise PermissionDenied("Projects are made by staff and by owners of a project.")
    form = ProjectForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            project = create_project(**form.cleaned_data, owner=request.user)
        except (IdTaken, InvalidInput) as refusal:
            _add_errors(form, refusal)
        else:
            messages.success(request, f"{project} is there. Connect a bot, or import conversations.")
            return redirect("sessions", project.slug)
    context = {"projects": Project.objects.visible_to(request.user), "form": form}
    return render(request, "projects/new.html", context, status=422 if form.is_bound else 200)


@needs(writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def general(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show what a project is called and what it holds; or save another name."""
    project = project_for(request.user, slug)
    form = _form(project, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            saved = rename_project(project=project, **form.cleaned_data, by=request.user)
        except (IdTaken, InvalidInput) as refusal:
            _add_errors(form, refusal)
        else:
            messages.success(request, "Saved.")
            return redirect("project-settings", saved.slug)
    return _show(request, project, {"form": form}, status=422 if form.is_bound else 200)


@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
def defaults(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show a draft of the default settings; a form sent without htmx is led to its address."""
    project = project_for(request.user, slug)
    if request.method == "POST" and not request.htmx:
        return HttpResponseRedirect(f"{drafted_defaults(project, request.POST).url()}#defaults")
    return _show(request, project, {})


@needs(reading=Right.EDIT)
@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
def save_defaults(request: HtmxRequest, slug: str) -> HttpResponse:
    """Ask whether to save the draft as the project's default and say whom it reaches; then save it."""
    project = project_for(request.user, slug)
    texts = request.POST if request.method == "POST" else request.GET
    drafted = drafted_defaults(project, texts)
    if not told_why_not_saved(request, drafted.draft):
        if request.method != "POST":
            return _show(request, project, {"saving": drafted.question(), "back_url": drafted.url()})
        if "sure" not in texts:
            return HttpResponseRedirect(drafted.url("project-defaults-save"))
        save_as_default(request, project, drafted.changes, note=texts.get("note", ""))
        return HttpResponseRedirect(f"{drafted.page()}#defaults")
    return HttpResponseRedirect(drafted.url())


@needs(reading=Right.MANAGE, writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HtmxRequest, slug: str) -> HttpResponse:
    """Ask for the slug, typed; then delete the project with all in it."""
    project = project_for(request.user, slug)
    if request.method != "POST":
        return _show(request, project, {"deleting": True})
    if request.POST.get("slug", "").strip() != project.slug:
        return _show(request, project, {"deleting": True, "refusal": f"Type {project.slug} to delete it."}, status=422)
    try:
        delete_project(project=project, by=request.user, now=timezone.now())
    except Conflict as refusal:
        return _show(request, project, {"deleting": True, "refusal": refusal.detail}, status=409)
    messages.success(request, f"{project} is deleted.")
    return redirect("home")


def _form(project: Project, data: QueryDict | None = None) -> ProjectForm:
    return ProjectForm(data, initial={"name": project.name, "slug": project.slug})


def _add_errors(form: ProjectForm, refusal: IdTaken | InvalidInput) -> None:
    for error in refusal.errors:
        form.add_error(error.pointer.removeprefix("/"), error.detail)


def _show(request: HtmxRequest, project: Project, more: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    texts = request.POST if request.htmx and request.method == "POST" else request.GET
    drafted = drafted_defaults(project, texts if project.may_edit else QueryDict())
    context = {
        **page_context(request.user, project, area="settings"),
        "form": _form(project),
        "keys": ApiKey.objects.filter(project=project).in_force(timezone.now()).count(),
        "members": Membership.objects.filter(project=project).count(),
        **defaults_context(drafted),
        "oob": request.method == "POST",
        **more,
    }
    partial = "drafted" if request.method == "POST" else "defaults"
    page = render_page(request, PAGE, partial, context, status=status)
    return replace_url(page, drafted.url()) if request.htmx else page
