"""Summaries: the ledger of a session, and the sessions of a project that need somebody to look at theirs."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_htmx.http import reswap, retarget, trigger_client_event

from sessions_app.models import Project, Session
from sessions_app.models.connections import one_state
from sessions_app.queries.next_summaries import next_summary, obstacle
from sessions_app.queries.prompt_figures import prompt_figures
from sessions_app.queries.summary_attention import Attention, attention_page
from sessions_app.queries.summary_ledgers import ledger_of, status_of, unfinished_row
from sessions_app.queries.summary_steps import step_of
from sessions_app.services.prompts import effective_settings
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, address_of_page, render_page
from sessions_app.views.session_pages import plan_or_refusal, session_of, tree_context
from sessions_app.views.session_reading import number_of

LEDGER = "summaries/ledger.html"
PROJECT = "summaries/project.html"
AWAITED = "next"
PATIENCE = timedelta(minutes=2)


@login_required
@require_safe
@one_state()
def ledger(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the ledger of a session; swaps get all of it, or the row of the entry that goes on as long as it does."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    if request.htmx and "poll" in request.GET:
        return _progress(request, project, conversation)
    return show_ledger(request, project, conversation, request.GET)


def show_ledger(
    request: HtmxRequest,
    project: Project,
    conversation: Session,
    query: QueryDict,
    more: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the ledger as an address asks for it, with `more` in its context."""
    coming = next_summary(conversation, effective_settings(session=conversation))
    prompt, _ = plan_or_refusal(conversation)
    working = unfinished_row(conversation)
    context = {
        **page_context(request.user, project, area="summaries"),
        **tree_context(project, conversation),
        "conversation": conversation,
        "ledger": ledger_of(conversation, before=number_of(query.get("before"))),
        "step": step_of(conversation, number=number_of(query.get("entry")), all_facts="facts" in query),
        "before": number_of(query.get("before")),
        "coming": coming,
        "working": working,
        "awaited": working is None and _is_awaited(conversation),
        "attempt": _attempt(conversation),
        "obstacle": obstacle(coming, working.entry if working else None),
        "prompt": prompt,
        "figures": prompt_figures(prompt) if prompt else None,
        **(more or {}),
    }
    return render_page(request, LEDGER, "swap", context, status=status)


@login_required
@require_safe
@one_state()
def project_summaries(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show the sessions whose summaries fail, rest, or are being made; swaps get the next rows."""
    project = project_for(request.user, slug)
    asked = request.GET.get("show", "")
    page = attention_page(
        project=project,
        shown=Attention(asked) if asked in set(Attention) else None,
        after=number_of(request.GET.get("after")),
    )
    context = page_context(request.user, project, area="summaries") | {"page": page}
    return render_page(request, PROJECT, "next_rows", context)


def _progress(request: HtmxRequest, project: Project, conversation: Session) -> HttpResponse:
    """Answer with the row of the entry that is asked about, or if it does not go on as it did with the whole ledger."""
    asked = request.GET["poll"]
    working = unfinished_row(conversation)
    waits = asked == AWAITED and _is_awaited(conversation)
    if working is None and (waits or asked == _attempt(conversation)):
        return HttpResponse(status=204)
    if working is not None and working.progress == asked:
        return render(request, f"{LEDGER}#working", {"project": project, "conversation": conversation, "row": working})
    response = show_ledger(request, project, conversation, QueryDict(address_of_page(request.htmx).query))
    number = number_of(asked.partition("-")[0])
    if number is not None:
        trigger_client_event(response, "announce", {"value": f"Summary {number}: {status_of(conversation, number)}"})
    return retarget(reswap(response, "outerHTML"), "#ledger")


def _attempt(conversation: Session) -> str:
    """Name the failed attempt that stands, by when the next is due, in an address; empty if none does."""
    due = conversation.next_attempt_at
    return f"after-{due:%Y%m%dT%H%M%S%f}" if due else ""


def _is_awaited(conversation: Session) -> bool:
    """Whether a worker should come by soon: a step may follow the one that has ended."""
    wish, now = conversation.summary_wanted_at, timezone.now()
    return wish is not None and conversation.next_attempt_at is None and now - wish < PATIENCE
