"""Views of the list of sessions: saved, renamed, deleted."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from sessions_app.domain.errors import ConvowebError, InvalidInput
from sessions_app.domain.roles import Right
from sessions_app.forms import ALL, SessionFilterForm
from sessions_app.models import DefaultView, Project, SavedView
from sessions_app.services.saved_views import open_list_with, rename_view, save_new_view
from sessions_app.views.access import needs
from sessions_app.views.projects import project_for


@login_required
@require_POST
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the filter and the order of the list under a name."""
    project = project_for(request.user, slug)
    form = SessionFilterForm(QueryDict(request.POST.get("query", "")))
    try:
        if not form.is_valid():
            raise InvalidInput("The address asks for something that this list does not have.")
        view = save_new_view(
            project=project,
            name=request.POST.get("name", ""),
            query=form.given(),
            actor=request.user.get_username(),
            now=timezone.now(),
        )
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, f"The view {view} stands in the sidebar now, for everybody in the project.")
    return _list(project, form.query())


@login_required
@require_POST
def rename(request: HttpRequest, slug: str, view_pk: int) -> HttpResponse:
    """Give a view another name."""
    project = project_for(request.user, slug)
    view = get_object_or_404(SavedView, project=project, pk=view_pk)
    try:
        messages.success(
            request, f"The view is called {rename_view(view=view, name=request.POST.get('name', ''))} now."
        )
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
    return _list(project, view.query_string)


@login_required
@require_POST
def delete(request: HttpRequest, slug: str, view_pk: int) -> HttpResponse:
    """Delete a view, which changes no session."""
    project = project_for(request.user, slug)
    view = get_object_or_404(SavedView, project=project, pk=view_pk)
    view.delete()
    messages.success(request, f"The view {view} is gone; the sessions in it stay as they are.")
    return _list(project, view.query_string)


@needs(writing=Right.READ)
@login_required
@require_POST
def default(request: HttpRequest, slug: str, view_pk: int) -> HttpResponse:
    """Let the list open with a view for whoever asks, or with all sessions again."""
    project = project_for(request.user, slug)
    view = get_object_or_404(SavedView, project=project, pk=view_pk)
    if "off" in request.POST:
        DefaultView.objects.filter(view=view, user=request.user.pk).delete()
        messages.success(request, "The list opens with all sessions again.")
    else:
        open_list_with(view=view, user=cast("User", request.user))
        messages.success(request, f"The list of {project} opens with {view} now, for you.")
    return _list(project, view.query_string)


def _list(project: Project, query: str) -> HttpResponse:
    return HttpResponseRedirect(f"{reverse('sessions', args=[project.slug])}?{query or ALL}")
