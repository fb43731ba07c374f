"""What a person does with a session's ledger: ask for a summary, stop it, try again, edit, go back, resume.

What can be undone by a press of another button is done at once; what changes which text is in use asks first.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from sessions_app.domain.errors import Conflict, ConvowebError, InvalidInput
from sessions_app.domain.memory_settings import MemorySettings
from sessions_app.domain.roles import Right
from sessions_app.models import Project, Session, Summary, SummaryStatus
from sessions_app.services import ledgers
from sessions_app.services.prompts import effective_settings
from sessions_app.views.access import needs
from sessions_app.views.projects import project_for
from sessions_app.views.rendering import HtmxRequest, address_of_page
from sessions_app.views.session_pages import session_of
from sessions_app.views.summaries import show_ledger


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked in a dialog about an entry, `text` being what stands in its field; `refusal` says why not so."""

    template: str
    entry: Summary
    settings: MemorySettings
    text: str = ""
    refusal: str = ""


@login_required
@require_POST
def summarize_now(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask for a summary of all that may be summarized; a second press finds the same entry."""

    def act(conversation: Session) -> str:
        entry = ledgers.summarize_now(session=conversation, actor=_name(request), now=timezone.now())
        return f"Summary #{entry.number} is asked for."

    return _perform(request, slug, session_id, act)


@login_required
@require_POST
def resume(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """End the rest that a rollback began."""

    def act(conversation: Session) -> str:
        ledgers.resume(session=conversation, now=timezone.now())
        return "Summarizing goes on as the settings say."

    return _perform(request, slug, session_id, act)


@login_required
@require_POST
def retry(request: HtmxRequest, slug: str, session_id: str, number: int) -> HttpResponse:
    """Try an entry that failed or was cancelled again."""

    def act(conversation: Session) -> str:
        entry = _entry(conversation, number)
        again = ledgers.retry(entry=entry, actor=_name(request), now=timezone.now())
        return f"Summary #{number} is tried again as #{again.number}."

    return _perform(request, slug, session_id, act)


@login_required
@require_POST
def cancel(request: HtmxRequest, slug: str, session_id: str, number: int) -> HttpResponse:
    """Stop an entry that waits or runs."""

    def act(conversation: Session) -> str:
        ledgers.cancel(entry=_entry(conversation, number), now=timezone.now())
        return f"Summary #{number} is cancelled; nothing moved."

    return _perform(request, slug, session_id, act)


@needs(reading=Right.EDIT)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HtmxRequest, slug: str, session_id: str, number: int) -> HttpResponse:
    """Ask for another text of the entry in use; then put it in its place, as a new entry."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    entry = _entry(conversation, number)
    text = request.POST.get("text", entry.text).replace("\r\n", "\n")
    if request.method != "POST":
        gone = "" if entry.pk == conversation.summary_id else _not_in_use(entry, conversation)
        return _ask(request, project, conversation, "summaries/edit.html", entry, text=text, refusal=gone)
    try:
        edited = ledgers.edit(entry=entry, text=text, actor=_name(request), now=timezone.now())
    except (Conflict, InvalidInput) as refusal:
        status = 409 if isinstance(refusal, Conflict) else 422
        conversation = session_of(project, session_id)
        detail = refusal.detail
        if entry.pk != conversation.summary_id:
            detail = f"{_not_in_use(entry, conversation)} Your text stands nowhere but here: copy what should stay."
        template = "summaries/edit.html"
        return _ask(request, project, conversation, template, entry, text=text, refusal=detail, status=status)
    messages.success(request, f"Your text is in use, as summary #{edited.number}.")
    return HttpResponseRedirect(_address(project, conversation, edited.number))


@needs(reading=Right.EDIT)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def use(request: HtmxRequest, slug: str, session_id: str, number: int) -> HttpResponse:
    """Ask whether to go back to an entry and say what follows; then put it into use."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    entry = _entry(conversation, number)
    if request.method == "POST":
        _use(request, conversation, entry)
    elif entry.pk == conversation.summary_id:
        messages.info(request, f"Summary #{number} is in use already.")
    elif entry.status != SummaryStatus.COMPLETED:
        messages.error(request, f"Summary #{number} has no text that could come into use.")
    else:
        return _ask(request, project, conversation, "summaries/use.html", entry)
    return HttpResponseRedirect(_address(project, conversation, number))


def _use(request: HtmxRequest, conversation: Session, entry: Summary) -> None:
    try:
        ledgers.roll_back(session=conversation, entry=entry, actor=_name(request), now=timezone.now())
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
    else:
        messages.success(request, f"Summary #{entry.number} is in use; summarizing rests until you resume.")


def _perform(request: HtmxRequest, slug: str, session_id: str, act: Callable[[Session], str]) -> HttpResponse:
    """Do it, say so, and show the ledger as it is then; a refusal is said the same way."""
    project = project_for(request.user, slug)
    level = "success"
    try:
        said = act(session_of(project, session_id))
    except ConvowebError as refusal:
        said, level = refusal.detail, "error"
    if request.htmx:
        query = QueryDict(address_of_page(request.htmx).query)
        response = show_ledger(request, project, session_of(project, session_id), query)
        return trigger_client_event(response, "toast", {"value": said, "level": level})
    messages.add_message(request, messages.ERROR if level == "error" else messages.SUCCESS, said)
    return HttpResponseRedirect(reverse("summary-ledger", args=[slug, session_id]))


def _ask(
    request: HtmxRequest,
    project: Project,
    conversation: Session,
    template: str,
    entry: Summary,
    *,
    text: str = "",
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    settings = effective_settings(session=conversation).values
    asking = Question(template, entry, settings, text, refusal)
    query = QueryDict(urlencode({"entry": entry.number}))
    return show_ledger(request, project, conversation, query, {"asking": asking}, status=status)


def _entry(conversation: Session, number: int) -> Summary:
    return get_object_or_404(conversation.summaries.select_related("session__project"), number=number)


def _not_in_use(entry: Summary, conversation: Session) -> str:
    now = f"; #{conversation.summary.number} is" if conversation.summary else ""
    return f"Summary #{entry.number} is not in use any more{now}. Only the one in use can be edited."


def _address(project: Project, conversation: Session, number: int) -> str:
    page = reverse("summary-ledger", args=[project.slug, conversation.public_id])
    return f"{page}?{urlencode({'entry': number})}"


def _name(request: HtmxRequest) -> str:
    return request.user.get_username()
