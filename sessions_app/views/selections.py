"""What is done to sessions that were picked out of the list: a question first, then one answer for all of them."""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from sessions_app.domain.errors import ConvowebError, InvalidInput
from sessions_app.domain.export_formats import export_format
from sessions_app.domain.roles import Right
from sessions_app.forms import ALL, SessionFilterForm
from sessions_app.models import Project
from sessions_app.queries.selections import (
    MOST_SELECTED,
    Selection,
    all_matching,
    picked_sessions,
    selection_of,
)
from sessions_app.services.bulk_deletion import Deleted, delete_sessions
from sessions_app.services.session_deletion import Children
from sessions_app.services.tags import Tagged, add_tag, checked_tag, remove_tag
from sessions_app.views.access import needs
from sessions_app.views.exports import download
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page

SECONDS = 20


@login_required
@require_POST
def selection(request: HtmxRequest, slug: str) -> HttpResponse:
    """Ask what shall be done to the picked sessions, or if the question is answered do it."""
    project = project_for(request.user, slug)
    form = SessionFilterForm(QueryDict(request.POST.get("query", "")))
    back = _list_url(project, form)
    try:
        pks, is_cut = _picked(project, form, request.POST)
        picked = selection_of(pks=pks)
        doing = _DEEDS.get(request.POST.get("do", ""))
        if doing is None:
            raise InvalidInput(f"do must be one of {', '.join(_DEEDS)}.")
        if "sure" in request.POST and (done := doing(request, project, picked)):
            return HttpResponseRedirect(back) if done is picked else _question(request, project, done, form)
        return _question(request, project, picked, form, is_cut=is_cut)
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
        return HttpResponseRedirect(back)


@needs(writing=Right.READ)
@login_required
@require_POST
def export_selection(request: HtmxRequest, slug: str) -> HttpResponseBase:
    """Send the picked sessions as one file."""
    project = project_for(request.user, slug)
    form = SessionFilterForm(QueryDict(request.POST.get("query", "")))
    try:
        file_format = export_format(request.POST.get("file_format", ""))
        pks, is_cut = _picked(project, form, request.POST)
        if is_cut:
            raise InvalidInput(f"One file holds at most {MOST_SELECTED:,} sessions, and more match: narrow the list.")
        return download(pks, project, file_format)
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
        return HttpResponseRedirect(_list_url(project, form))


def _picked(project: Project, form: SessionFilterForm, given: QueryDict) -> tuple[list[int], bool]:
    """Return the keys of what is picked: all that match, or those that are named, by boxes or by a question.

    With them comes whether more match than can be picked at once.
    """
    is_cut = False
    if "all" in given:
        if not form.is_valid():
            raise InvalidInput("The address asks for something that this list does not have.")
        pks, is_cut = all_matching(project=project, wanted=form.wanted())
    else:
        named = [*given.getlist("session"), *given.get("sessions", "").split()]
        pks = picked_sessions(project=project, pks=[int(key) for key in named if _is_key(key)])
    if not pks:
        raise InvalidInput("No session is picked: tick the boxes in front of those that you mean.")
    return pks, is_cut


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _question(
    request: HtmxRequest, project: Project, picked: Selection, form: SessionFilterForm, *, is_cut: bool = False
) -> HttpResponse:
    context = {
        **page_context(request.user, project, area="sessions"),
        "picked": picked,
        "do": request.POST["do"],
        "query": form.query(),
        "is_cut": is_cut,
        "most": MOST_SELECTED,
    }
    return render_page(request, "sessions/selection.html", "question", context)


def _list_url(project: Project, form: SessionFilterForm) -> str:
    return f"{reverse('sessions', args=[project.slug])}?{form.query() or ALL}"


def _tag(request: HtmxRequest, project: Project, picked: Selection) -> Selection:
    name = checked_tag(request.POST.get("tag", ""))
    done = add_tag(project=project, session_pks=picked.pks, name=name)
    messages.success(
        request, f"{_sessions(done.changed)} got the tag {name}.{_rest_of_tagging(done, 'had it already')}"
    )
    return picked


def _untag(request: HtmxRequest, project: Project, picked: Selection) -> Selection:
    name = request.POST.get("tag", "")
    done = remove_tag(project=project, session_pks=picked.pks, name=name)
    messages.success(
        request, f"{_sessions(done.changed)} lost the tag {name}.{_rest_of_tagging(done, 'did not have it')}"
    )
    return picked


def _delete(request: HtmxRequest, project: Project, picked: Selection) -> Selection | None:
    """Delete until the time is up; what is left then is asked about again."""
    wanted = request.POST.get("children", Children.REFUSE)
    if wanted not in tuple(Children):
        raise InvalidInput(f"children must be one of {', '.join(Children)}.")
    end = monotonic() + SECONDS
    done = delete_sessions(
        project=project,
        session_pks=picked.pks,
        children=Children(wanted),
        now=timezone.now(),
        goes_on=lambda: monotonic() < end,
    )
    level = messages.warning if done.kept or done.left else messages.success
    level(request, _told(done))
    return selection_of(pks=done.left) if done.left else picked


_DEEDS: Mapping[str, Callable[[HtmxRequest, Project, Selection], Any]] = {
    "tag": _tag,
    "untag": _untag,
    "delete": _delete,
}


def _told(done: Deleted) -> str:
    parts = [f"{_sessions(done.deleted)} deleted"]
    if done.below:
        parts.append(f"and {done.below:,} below them")
    said = [" ".join(parts) + "."]
    if done.kept:
        said.append(f"{_sessions(done.kept)} stayed: there are children below.")
    if done.left:
        said.append(f"The time was up for {len(done.left):,} more, which are all as they were.")
    return " ".join(said)


def _rest_of_tagging(done: Tagged, unchanged: str) -> str:
    rest = f" {done.unchanged:,} {unchanged}." if done.unchanged else ""
    return rest + (f" {done.full:,} have as many tags as a session may have." if done.full else "")


def _sessions(count: int) -> str:
    return f"{count:,} session{'' if count == 1 else 's'}"
