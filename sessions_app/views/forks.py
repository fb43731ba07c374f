"""Forking a session: a question first, since a fork stays, then the fork."""

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from sessions_app.domain.errors import ConvowebError, InvalidInput
from sessions_app.domain.roles import Right
from sessions_app.domain.session_fields import LONGEST
from sessions_app.models import Session
from sessions_app.services.sessions import fork_by_form
from sessions_app.views.access import needs
from sessions_app.views.projects import project_for
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.session_pages import session_of, show_session
from sessions_app.views.session_reading import number_of


@dataclass(frozen=True, slots=True)
class Forking:
    """A fork that is asked for: behind which run, and a title that tells it from its parent."""

    at: int
    title: str


@needs(reading=Right.EDIT)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def fork(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask how the fork shall be called; then fork behind a finished run and open the fork."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    try:
        if request.method != "POST":
            return show_session(request, project, conversation, {"forking": _forking(conversation, request.GET)})
        forking = _forking(conversation, request.POST)
        new = fork_by_form(
            session=conversation,
            at=forking.at,
            now=timezone.now(),
            title=forking.title,
            actor=request.user.get_username(),
            form_number=request.POST.get("form_number", ""),
        )
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
        return redirect("session", slug, session_id)
    messages.success(request, f"This is the fork: it starts behind run {forking.at:,} of {conversation}.")
    return redirect("session", slug, new.public_id)


def _forking(conversation: Session, given: QueryDict) -> Forking:
    at = number_of(given.get("at"))
    if at is None:
        raise InvalidInput(f"Name the run behind which to fork: at must be from 0 to {conversation.last_position}.")
    title = given.get("title", f"{conversation}, from run {at:,}"[: LONGEST["title"]])
    return Forking(at, title.strip())
