"""A session's page as it goes on: what changed since it was asked for, and tool calls that are opened."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from sessions_app.domain.identifiers import is_legal_id
from sessions_app.domain.transcript import EventKind
from sessions_app.models import Event, lineage_runs_at
from sessions_app.models.connections import one_state
from sessions_app.queries.bands import Span
from sessions_app.queries.followed_sessions import MOST_FOLLOWED, state_now, state_of
from sessions_app.queries.run_cards import call_view
from sessions_app.queries.run_stream import StreamAsked, run_stream
from sessions_app.queries.session_pages import chips_of, jumps_of
from sessions_app.views.projects import project_for
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.session_pages import inspector_context, plan_or_refusal, session_of
from sessions_app.views.session_reading import number_of, plain_reading


@login_required
@require_safe
def follow(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Answer that nothing changed (204), by one query; else with the newest runs and what the next prompt needs now."""
    state = state_now(user=request.user, slug=slug, session_id=session_id) if is_legal_id(session_id) else None
    if state is None:
        raise Http404
    if not request.htmx:
        return redirect("session", slug, session_id)
    return HttpResponse(status=204) if state == request.GET.get("seen") else _changed(request, slug, session_id)


@one_state()
def _changed(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    prompt, refusal = plan_or_refusal(conversation)
    first, before = number_of(request.GET.get("first")), number_of(request.GET.get("last"))
    context = {
        "project": project,
        "conversation": conversation,
        "prompt": prompt,
        "reading": plain_reading(request.GET, conversation),
        "seen": state_of(conversation),
        "tail_first": first,
        "tools": not before,
        "chips": chips_of(prompt, conversation.last_position),
        "jumps": jumps_of(prompt),
        "show": request.GET.get("show", ""),
        **inspector_context(conversation, prompt, refusal),
    }
    if first:
        span = Span(first, conversation.last_position)
        asked = StreamAsked(opened=span.newest(MOST_FOLLOWED), within=span, to_end=True)
        context["tail"] = run_stream(session=conversation, prompt=prompt, asked=asked, now=timezone.now())
    response = render(request, "sessions/followed.html", context)
    is_same = before == conversation.last_position and ("open" in request.GET) == context["is_open"]
    return response if is_same else trigger_client_event(response, "runs-came")


@login_required
@require_safe
def call(request: HtmxRequest, slug: str, session_id: str, event_pk: int) -> HttpResponse:
    """Show what a tool call was given and gave; without a swap, its run."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    calls = Event.objects.filter(kind=EventKind.TOOL_CALL, run__project=project).select_related("run")
    event = get_object_or_404(calls, pk=event_pk)
    if not lineage_runs_at(conversation, [event.run.position]).filter(pk=event.run_id).exists():
        raise Http404
    reading = plain_reading(request.GET, conversation)
    if not request.htmx:
        position = event.run.position
        return redirect(f"{reading.page}?run={position}&whole={position}#run-{position}")
    return render(request, "sessions/tool_io.html", {"call": call_view(event, whole=True), "reading": reading})
