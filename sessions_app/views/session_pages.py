"""A session: its runs with their fates, the tree around it, and what its next prompt consists of."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.identifiers import is_legal_id
from sessions_app.domain.plan import PromptPlan
from sessions_app.models import Project, Session
from sessions_app.models.connections import one_state
from sessions_app.queries.bands import WINDOW, Span
from sessions_app.queries.prompt_figures import needed_parts, prompt_figures
from sessions_app.queries.run_stream import StreamAsked, run_stream
from sessions_app.queries.run_strips import strip_bars
from sessions_app.queries.session_pages import Chip, chips_of, crumbs_of, newest_status, summary_work, tree_rows
from sessions_app.queries.settings_controls import setting_rows
from sessions_app.services.prompts import effective_settings, limit_without_loss, session_plan
from sessions_app.services.settings import project_settings
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page

PAGE = "sessions/session.html"


@login_required
@require_safe
@one_state()
def session(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the session; swaps get the strip over all runs, the runs of a folded line, or one run whole."""
    project = project_for(request.user, slug)
    return show_session(request, project, session_of(project, session_id), {})


def show_session(
    request: HtmxRequest, project: Project, conversation: Session, more: Mapping[str, Any]
) -> HttpResponse:
    """Render the page of a session, with `more` in its context."""
    prompt, refusal = plan_or_refusal(conversation)
    bars = strip_bars(session=conversation, prompt=prompt) if prompt and "strip" in request.GET else []
    if request.htmx and "strip" in request.GET:
        return render_page(request, PAGE, "overview", {"bars": bars})
    chips = chips_of(prompt, conversation.last_position)
    shown = _shown_chip(request.GET, chips)
    asked = _asked(request, shown, conversation.last_position)
    context = {
        "project": project,
        "conversation": conversation,
        "prompt": prompt,
        "shown": shown,
        "bars": bars,
        "stream": run_stream(session=conversation, prompt=prompt, asked=asked),
    }
    if not request.htmx:
        context |= _surroundings(request, project, conversation, prompt, refusal) | {"chips": chips, **more}
    return render_page(request, PAGE, "stream", context)


@login_required
@require_safe
def summary_progress(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Say how summarizing stands; when nothing is running any more the page is shown anew."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    work = summary_work(conversation)
    if not request.htmx:
        return redirect("session", slug, session_id)
    if work is None or not work.running:
        return HttpResponseClientRefresh()
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


def span_of(query: QueryDict, last_position: int) -> Span | None:
    """Return the span of positions that an address asks for; what is no span is ignored."""
    first, last = _position(query.get("from"), last_position), _position(query.get("to"), last_position)
    return Span(first, last) if first and last and first <= last else None


def tree_context(project: Project, conversation: Session) -> dict[str, Any]:
    """Return what the conversation tree of the sidebar needs."""
    rows, size = tree_rows(conversation, address=lambda node: reverse("session", args=[project.slug, node.public_id]))
    return {"tree": rows, "tree_size": size}


def _position(text: str | None, last_position: int) -> int | None:
    number = number_of(text)
    return None if number is None else min(number, last_position)


def number_of(text: str | None) -> int | None:
    """Return the whole number that a field of an address or a form gives, or None."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 10 else None


def _shown_chip(query: QueryDict, chips: list[Chip]) -> Chip | None:
    return next((chip for chip in chips if chip.key == query.get("show", "")), chips[0] if chips else None)


def _asked(request: HtmxRequest, shown: Chip | None, last_position: int) -> StreamAsked:
    span = span_of(request.GET, last_position)
    whole = _position(request.GET.get("whole"), last_position)
    return StreamAsked(
        only=shown.fates if shown else None,
        opened=span.newest(WINDOW) if span else None,
        within=span if request.htmx else None,
        whole=[whole] if whole else [],
    )


def _surroundings(
    request: HtmxRequest,
    project: Project,
    conversation: Session,
    prompt: PromptPlan | None,
    refusal: ConvowebError | None,
) -> dict[str, Any]:
    saved, inherited = effective_settings(session=conversation), project_settings(project=project)
    newest = newest_status(conversation)
    is_open = newest is not None and newest.is_open
    return {
        **page_context(request.user, project, area="sessions"),
        **tree_context(project, conversation),
        "crumbs": crumbs_of(conversation),
        "refusal": refusal,
        "figures": prompt_figures(prompt) if prompt else None,
        "enough": limit_without_loss(session=conversation) if prompt and prompt.gap else None,
        "needs": needed_parts(refusal),
        "is_open": is_open,
        "next_turn": conversation.last_position + (not is_open),
        "fork_at": conversation.last_position - is_open,
        "settings": setting_rows(saved, inherited),
        "work": summary_work(conversation),
    }
