"""How a bot comes to write to a project: a key of its own, the calls, and a wait for its first run."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from sessions_app.domain.errors import IdTaken
from sessions_app.domain.roles import Right
from sessions_app.forms import ArrivalForm
from sessions_app.member_forms import BotKeyForm
from sessions_app.models import Project, Scope
from sessions_app.queries.arrivals import arrival, free_bot_name
from sessions_app.services.keys import create_named_key
from sessions_app.views.access import needs
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page

SCOPES = (Scope.READ, Scope.WRITE)
# Whoever leaves the page open does not ask for ever.
PATIENCE = timedelta(minutes=15)


@needs(writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def connect(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show the calls and what has come since; a POST makes a key, which stands in its answer alone."""
    project = project_for(request.user, slug)
    if request.method == "POST":
        return _made(request, project)
    given = ArrivalForm(request.GET)
    return _page(request, project, since=given.since_given() or timezone.now(), key_id=given.key_given())


def _made(request: HtmxRequest, project: Project) -> HttpResponse:
    now, form = timezone.now(), BotKeyForm(request.POST)
    try:
        if form.is_valid():
            made = create_named_key(
                project=project,
                by=request.user,
                scopes=SCOPES,
                now=now,
                form_number=request.POST.get("form_number", ""),
                **form.cleaned_data,
            )
            return _page(request, project, since=now, key_id=made[0].key_id, secret=made[1])
    except IdTaken as refusal:
        form.add_error("name", refusal.detail)
    return _page(request, project, since=now, form=form, status=422)


def _page(
    request: HtmxRequest, project: Project, *, since: datetime, key_id: str = "", status: int = 200, **shown: Any
) -> HttpResponse:
    come = arrival(project=project, since=since, key_id=key_id)
    context = {"project": project, "since": since, "come": come, "base_url": request.build_absolute_uri("/api/v1")}
    context |= {"asks": timezone.now() - since < PATIENCE, **shown}
    if not request.htmx:
        context |= {"next_name": free_bot_name(project=project)}
        context |= page_context(request.user, project, area="sessions")
    response = render_page(request, "connect/page.html", "wait", context, status=status)
    if come.session and request.htmx:
        trigger_client_event(response, "announce", {"value": f"{come.session} has got a run"})
    return response
