"""The profiles of a project: applied to the draft of a conversation, renamed, deleted."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from sessions_app.domain.errors import ConvowebError
from sessions_app.models import Profile, Project, Session
from sessions_app.models.connections import one_state
from sessions_app.queries.profiles import ProfileRow, profile_rows
from sessions_app.queries.settings_controls import address
from sessions_app.services.profiles import rename_profile
from sessions_app.services.prompts import effective_settings
from sessions_app.services.settings import project_settings
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_pages import session_of


@login_required
@require_safe
@one_state()
def profiles(request: HtmxRequest, slug: str) -> HttpResponse:
    """List the profiles beside the project's defaults, or beside a session's settings, to be applied to its draft."""
    project = project_for(request.user, slug)
    session = _session(request, project)
    beside = effective_settings(session=session) if session else project_settings(project=project)
    rows = profile_rows(project=project, beside=beside)
    context: dict[str, Any] = {
        **page_context(request.user, project, area="settings"),
        "conversation": session,
        "rows": [(row, _apply_url(project, session, row)) for row in rows],
        "list_url": _list_url(project, session),
    }
    return render_page(request, "versions/profiles.html", "drawer", context)


@login_required
@require_POST
def rename(request: HttpRequest, slug: str, profile_pk: int) -> HttpResponse:
    """Give a profile another name."""
    project = project_for(request.user, slug)
    profile = get_object_or_404(Profile, project=project, pk=profile_pk)
    try:
        renamed = rename_profile(profile=profile, name=request.POST.get("name", ""))
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, f"The profile is called {renamed.name} now.")
    return HttpResponseRedirect(_list_url(project, _session(request, project)))


@login_required
@require_POST
def delete(request: HttpRequest, slug: str, profile_pk: int) -> HttpResponse:
    """Delete a profile, which changes no settings anywhere."""
    project = project_for(request.user, slug)
    profile = get_object_or_404(Profile, project=project, pk=profile_pk)
    profile.delete()
    messages.success(request, f"Profile {profile.name} deleted. Settings to which it was applied stay as they are.")
    return HttpResponseRedirect(_list_url(project, _session(request, project)))


def _session(request: HttpRequest, project: Project) -> Session | None:
    """Return the session whose draft the profiles are for, None if the address or form names none."""
    session_id = request.POST.get("session") or request.GET.get("session")
    return session_of(project, session_id) if session_id else None


def _list_url(project: Project, session: Session | None) -> str:
    url = reverse("profiles", args=[project.slug])
    return f"{url}?{urlencode({'session': session.public_id})}" if session else url


def _apply_url(project: Project, session: Session | None, row: ProfileRow) -> str:
    if session is None:
        return ""
    return reverse("tune", args=[project.slug, session.public_id]) + address(row.texts, {})
