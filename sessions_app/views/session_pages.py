"""A session: its runs with their fates, the tree around it, and what its next prompt consists of."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_htmx.http import trigger_client_event

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.identifiers import is_legal_id
from sessions_app.domain.plan import PromptPlan
from sessions_app.models import Project, Session
from sessions_app.models.connections import one_state
from sessions_app.queries.followed_sessions import first_run_of, state_of, with_tail
from sessions_app.queries.prompt_figures import needed_parts, prompt_figures
from sessions_app.queries.run_stream import run_stream
from sessions_app.queries.run_strips import strip_bars
from sessions_app.queries.run_times import position_at
from sessions_app.queries.session_pages import (
    chips_of,
    crumbs_of,
    jumps_of,
    newest_status,
    summary_work,
    tree_rows,
    went_on,
)
from sessions_app.queries.settings_controls import setting_rows
from sessions_app.queries.usage import session_usage
from sessions_app.services.prompts import effective_settings, limit_without_loss, session_plan
from sessions_app.services.settings import project_settings
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_reading import asked_of, plain_reading, position_of, read_address

PAGE = "sessions/session.html"
JUMPS = (
    "write a run, as 42, a time of day, as 16:05, or a day with or without it, as yesterday 16:05 or 2026-11-29 16:05"
)


@login_required
@require_safe
@one_state()
def session(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the session; swaps get the strip over all runs, the runs of a folded line, or one run whole."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    if (asked := request.GET.get("jump", "").strip()) and conversation.last_position:
        jump = position_of(asked, conversation.last_position)
        jump = position_at(session=conversation, text=asked, now=timezone.now()) if jump is None else jump
        if jump:
            return redirect(f"{request.path}?run={jump}{plain_reading(request.GET, conversation).keep}#run-{jump}")
        messages.error(request, f"“{asked[:40]}” is neither a run nor a time; {JUMPS}.")
    return show_session(request, project, conversation, {})


def show_session(
    request: HtmxRequest, project: Project, conversation: Session, more: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render the page of a session, with `more` in its context."""
    prompt, refusal = plan_or_refusal(conversation)
    chips = chips_of(prompt, conversation.last_position)
    reading = read_address(request.GET, conversation, chips)
    with_strip = prompt and "strip" in request.GET
    bars = strip_bars(session=conversation, prompt=prompt, keep=reading.keep) if prompt and with_strip else []
    if request.htmx and "strip" in request.GET:
        return render_page(request, PAGE, "overview", {"bars": bars})
    if request.htmx and "usage" in request.GET:
        usage = session_usage(session=conversation, now=timezone.now())
        return render(request, "sessions/usage.html", {"conversation": conversation, "usage": usage})
    asked = asked_of(reading, part=bool(request.htmx))
    items = run_stream(session=conversation, prompt=prompt, asked=asked, now=timezone.now())
    context: dict[str, Any] = {"project": project, "conversation": conversation, "prompt": prompt, "reading": reading}
    context["bars"] = bars
    if request.htmx:
        return render_page(request, PAGE, "stream", context | {"stream": items})
    context |= _surroundings(request, project, conversation) | {"chips": chips, **more}
    context |= inspector_context(conversation, prompt, refusal)
    if "usage" in request.GET:
        context["usage"] = session_usage(session=conversation, now=timezone.now())
    context |= {"stream": items, "jumps": jumps_of(prompt), "seen": state_of(conversation), "show": reading.show}
    if reading.follows:
        head, tail = with_tail(items)
        context |= {"stream": head, "tail": tail, "tail_first": first_run_of(tail, conversation)}
    return render_page(request, PAGE, "stream", context, status=status)


@login_required
@require_safe
def summary_progress(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Say how summarizing stands; when nothing is running any more the page is told to look at what came of it."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    work = summary_work(conversation)
    if not request.htmx:
        return redirect("session", slug, session_id)
    if work is None or not work.running:
        return trigger_client_event(HttpResponse(), "look")
    context = {"project": project, "conversation": conversation, "work": work}
    return render(request, "sessions/summary_work.html", context)


def session_of(project: Project, session_id: str) -> Session:
    """Return the project's session of this id; another project's does not exist here (404)."""
    if not is_legal_id(session_id):
        raise Http404
    sessions = Session.objects.filter(project=project).select_related("project", "summary")
    return get_object_or_404(sessions, public_id=session_id)


def plan_or_refusal(
    conversation: Session, overrides: Mapping[str, Any] | None = None
) -> tuple[PromptPlan | None, ConvowebError | None]:
    """Return the plan of the session's next prompt, or why none can be built."""
    try:
        return session_plan(session=conversation, overrides=overrides), None
    except ConvowebError as refusal:
        return None, refusal


def tree_context(project: Project, conversation: Session) -> dict[str, Any]:
    """Return what the conversation tree of the sidebar needs, and how the parent of a fork went on."""
    rows, size = tree_rows(conversation, address=lambda node: reverse("session", args=[project.slug, node.public_id]))
    return {"tree": rows, "tree_size": size, "went_on": went_on(conversation, rows)}


def inspector_context(
    conversation: Session, prompt: PromptPlan | None, refusal: ConvowebError | None
) -> dict[str, Any]:
    """Return what changes beside the runs as a conversation goes on: the next prompt, what is being done about it."""
    saved, inherited = effective_settings(session=conversation), project_settings(project=conversation.project)
    newest = newest_status(conversation)
    is_open = newest is not None and newest.is_open
    return {
        "refusal": refusal,
        "figures": prompt_figures(prompt) if prompt else None,
        "enough": limit_without_loss(session=conversation) if prompt and prompt.gap else None,
        "needs": needed_parts(refusal),
        "is_open": is_open,
        "next_turn": conversation.last_position + (not is_open),
        "fork_at": conversation.last_position - is_open,
        "settings": setting_rows(conversation, saved, inherited),
        "work": summary_work(conversation),
        "tags": list(conversation.tags.all()),
    }


def _surroundings(request: HtmxRequest, project: Project, conversation: Session) -> dict[str, Any]:
    return {
        **page_context(request.user, project, area="sessions"),
        **tree_context(project, conversation),
        "crumbs": crumbs_of(conversation),
    }
