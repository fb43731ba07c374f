"""The API keys of a project: the list, a new one, whose text is shown this once, and revoking one."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods, require_safe

from sessions_app.domain.errors import IdTaken
from sessions_app.domain.roles import Right
from sessions_app.member_forms import Expiry, KeyForm
from sessions_app.models import ApiKey, Project, Scope
from sessions_app.services.keys import create_named_key, revoke_api_key
from sessions_app.views.access import needs
from sessions_app.views.projects import page_context, project_for

PAGE = "projects/keys.html"
MOST = 200
SCOPES: Mapping[str, str] = {
    Scope.READ: "Look at all sessions, ask for prompts",
    Scope.WRITE: "Sessions, runs, summaries, imports",
    Scope.ADMIN: "Settings of the project, deleting sessions",
}
LIFETIMES: Mapping[str, str] = {
    Expiry.NEVER: "never",
    Expiry.DAYS_30: "in 30 days",
    Expiry.DAYS_90: "in 90 days",
    Expiry.YEAR: "in a year",
    Expiry.DAY: "after a chosen day",
}


@login_required
@require_safe
def keys(request: HttpRequest, slug: str) -> HttpResponse:
    """List the keys."""
    return _show(request, project_for(request.user, slug), {})


@needs(reading=Right.MANAGE, writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask what a new key is for; then make it, and show its text."""
    project = project_for(request.user, slug)
    if request.method != "POST":
        return _show(request, project, {"form": KeyForm(today=timezone.localdate())})
    now = timezone.now()
    form = KeyForm(request.POST, today=timezone.localdate())
    if form.is_valid():
        try:
            key, text = create_named_key(
                project=project,
                name=form.cleaned_data["name"],
                scopes=form.cleaned_data["scopes"],
                by=request.user,
                expires_at=form.expires_at(now),
                now=now,
                form_number=request.POST.get("form_number", ""),
            )
        except IdTaken as refusal:
            form.add_error("name", refusal.detail)
        else:
            shown = {"created": key, "text": text, "base_url": request.build_absolute_uri("/api/v1")}
            return _show(request, project, shown)
    return _show(request, project, {"form": form}, status=422)


@needs(reading=Right.MANAGE, writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HttpRequest, slug: str, key_pk: int) -> HttpResponse:
    """Ask whether to revoke a key and say what follows; then revoke it."""
    project = project_for(request.user, slug)
    key = get_object_or_404(ApiKey, project=project, pk=key_pk)
    if request.method != "POST" and key.revoked_at is None:
        return _show(request, project, {"revoking": key})
    if request.method == "POST" and revoke_api_key(key=key, now=timezone.now()):
        messages.success(request, f"{key.name} is revoked. Bots that use it are refused from now on.")
    else:
        messages.info(request, f"{key.name} is revoked already.")
    return redirect("keys", slug)


def _show(request: HttpRequest, project: Project, more: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    now = timezone.now()
    found = list(ApiKey.objects.filter(project=project).in_force_first(now)[: MOST + 1])
    context = {
        **page_context(request.user, project, area="settings"),
        "keys": [(key, key.is_idle(now), key.has_expired(now)) for key in found[:MOST]],
        "more_than": MOST if len(found) > MOST else None,
        "scopes": SCOPES,
        "lifetimes": LIFETIMES,
        **more,
    }
    response = render(request, PAGE, context, status=status)
    # Neither going back nor a proxy shows the text of a key again.
    add_never_cache_headers(response)
    return response
