"""Versions of settings: those of a session and of a project, and going back to one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.identifiers import is_legal_id
from sessions_app.domain.memory_settings import stored_values
from sessions_app.models import Project, Session, SettingsVersion
from sessions_app.models.connections import one_state
from sessions_app.queries.project_defaults import Reach, reach_of
from sessions_app.queries.prompt_figures import needed_parts
from sessions_app.queries.settings_versions import (
    INHERITED,
    SettingChange,
    changes_between,
    version_in_force,
    versions_of,
)
from sessions_app.services.settings import built_in_settings, project_settings
from sessions_app.services.settings_restoring import restore_project_settings, restore_session_settings
from sessions_app.services.summaries import due_under
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_pages import plan_or_refusal, session_of, tree_context
from sessions_app.views.session_reading import number_of
from sessions_app.views.workbench import TABS

PAGE = "versions/page.html"
BACK = "back"
LONGEST_BACK = 1_000


@dataclass(frozen=True, slots=True)
class Kept:
    """Whose settings have versions: a session's, or without one the project's."""

    project: Project
    session: Session | None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The sparse settings in force."""
        return self.session.settings if self.session else self.project.settings

    @property
    def below(self) -> Mapping[str, Any]:
        """What holds where there is no value of its own, if it is the same at all times."""
        return {} if self.session else stored_values(built_in_settings().values)

    def url(self, action: str = "versions") -> str:
        """Return the address of the list, or of going back to one of it."""
        if self.session:
            return reverse(f"session-{action}", args=[self.project.slug, self.session.public_id])
        return reverse(f"project-{action}", args=[self.project.slug])


@dataclass(frozen=True, slots=True)
class RestoreQuestion:
    """What going back to version `to` changes, and for the project whom it reaches.

    Of a session: `refusal` says why no prompt could be built any more, `due` are the runs that would be summarized.
    """

    to: int
    undoes: int | None
    changes: list[SettingChange] = field(default_factory=list)
    reach: Reach | None = None
    refusal: ConvowebError | None = None
    due: tuple[int, int] | None = None

    @property
    def needs(self) -> list[tuple[str, int]]:
        """What needs how many tokens, if that is why no prompt could be built."""
        return needed_parts(self.refusal)


@login_required
@require_safe
@one_state()
def session_versions(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the versions of a session's settings."""
    project = project_for(request.user, slug)
    return _list(request, Kept(project, session_of(project, session_id)))


@login_required
@require_safe
@one_state()
def project_versions(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show the versions of a project's default settings."""
    return _list(request, Kept(project_for(request.user, slug), None))


@login_required
@require_POST
def restore_session(request: HttpRequest, slug: str, session_id: str) -> HttpResponse:
    """Go back to a version of a session's settings."""
    project = project_for(request.user, slug)
    return _restore(request, Kept(project, session_of(project, session_id)))


@login_required
@require_POST
def restore_project(request: HttpRequest, slug: str) -> HttpResponse:
    """Go back to a version of a project's default settings."""
    return _restore(request, Kept(project_for(request.user, slug), None))


def tell_saved(request: HttpRequest, kept: Kept, words: str, *, now: datetime) -> None:
    """Tell that settings were saved in this transaction, how many sessions changed, and how to undo it if one can."""
    row = version_in_force(project=kept.project, session=kept.session)
    is_new = row is not None and row.version.saved_at == now
    can_undo = is_new and row is not None and row.before is not None
    reach = row.reach if row and is_new else None
    words += f"; {reach} session{'' if reach.value == 1 else 's'} changed." if reach is not None else "."
    undo = f"{kept.url('restore')}?to={row.before}&undoes={row.version.number}" if row and can_undo else ""
    messages.success(request, words, extra_tags=undo)


def _list(request: HtmxRequest, kept: Kept) -> HttpResponse:
    before, showing = number_of(request.GET.get("before")), number_of(request.GET.get("version"))
    came_from = _came_from(request, kept, is_page=before is not None)
    context = {
        **page_context(request.user, kept.project, area="sessions" if kept.session else "settings"),
        "conversation": kept.session,
        "versions": versions_of(
            project=kept.project, session=kept.session, below=kept.below, before=before, showing=showing
        ),
        "before": before,
        "showing": showing,
        "came_from": came_from,
        "keeping": f"&{urlencode({BACK: came_from})}" if came_from else "",
        "list_url": kept.url(),
        "session_url": _session_url(request, kept),
        "restore_url": kept.url("restore"),
        "asking": _question(request, kept),
    }
    partial = "next_rows" if before is not None else "drawer"
    if kept.session and not request.htmx:
        context |= tree_context(kept.project, kept.session)
    return render_page(request, PAGE, partial, context)


def _session_url(request: HttpRequest, kept: Kept) -> str:
    """Return the address of the versions of the session from which those of its project are looked at."""
    session_id = request.GET.get("session", "")
    known = is_legal_id(session_id) and not kept.session
    return reverse("session-versions", args=[kept.project.slug, session_id]) if known else ""


def _came_from(request: HtmxRequest, kept: Kept, *, is_page: bool) -> str:
    """Return the address on the workbench from which the versions are looked at, empty if it was none.

    The dialog is opened by it; the page of versions is told of it, or of the session alone.
    """
    opener = (request.htmx.current_url_abs_path or "") if request.htmx and not is_page else ""
    found = _on_workbench(request.GET.get(BACK, ""), kept.project) or _on_workbench(opener, kept.project)
    session_id = request.GET.get("session", "")
    if found or kept.session or not is_legal_id(session_id):
        return found
    return reverse("tune", args=[kept.project.slug, session_id])


def _on_workbench(address: str, project: Project) -> str:
    """Return an address if it is one of this project's workbench, without its query if that is long, else nothing."""
    path = urlsplit(address).path if url_has_allowed_host_and_scheme(address, allowed_hosts=None) else ""
    try:
        found = resolve(path)
    except Resolver404:
        return ""
    is_here = found.url_name in TABS.values() and found.kwargs["slug"] == project.slug
    return (address if len(address) <= LONGEST_BACK else path) if is_here else ""


def _question(request: HttpRequest, kept: Kept) -> RestoreQuestion | None:
    to = number_of(request.GET.get("restore"))
    if to is None or not kept.project.may_edit:
        return None
    version = SettingsVersion.objects.of(kept.project, kept.session).filter(number=to).first()
    if version is None and to:
        return None
    changes = changes_between(kept.settings, version.settings if version else {}, kept.below)
    undoes = number_of(request.GET.get("undoes"))
    if kept.session and changes:
        return RestoreQuestion(to, undoes, changes, None, *_what_follows(kept.session, changes))
    names = [change.name for change in changes]
    return RestoreQuestion(to, undoes, changes, reach_of(project=kept.project, names=names) if names else None)


def _what_follows(
    session: Session, changes: Sequence[SettingChange]
) -> tuple[ConvowebError | None, tuple[int, int] | None]:
    inherited = stored_values(project_settings(project=session.project).values)
    overrides = {each.name: inherited[each.name] if each.new == INHERITED else each.new for each in changes}
    plan, refusal = plan_or_refusal(session, overrides=overrides)
    return refusal, due_under(session=session, overrides=overrides, plan=plan)


def _restore(request: HttpRequest, kept: Kept) -> HttpResponse:
    given = request.GET.dict() | request.POST.dict()
    to, undoes = number_of(given.get("to")), number_of(given.get("undoes"))
    back = given.get("next", "")
    came_from = _on_workbench(given.get(BACK, ""), kept.project)
    list_url = kept.url() + (f"?{urlencode({BACK: came_from})}" if came_from else "")
    if to is None:
        return HttpResponseRedirect(list_url)
    try:
        with transaction.atomic():
            _save(request, kept, to, undoes, note=given.get("note", ""))
    except ConvowebError as refusal:
        messages.error(request, f"Nothing was saved. {refusal.detail}")
    is_ours = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return HttpResponseRedirect(back if is_ours else list_url)


def _save(request: HttpRequest, kept: Kept, to: int, undoes: int | None, *, note: str) -> None:
    now, actor = timezone.now(), request.user.get_username()
    if kept.session:
        restore_session_settings(session=kept.session, to=to, undoes=undoes, note=note, actor=actor, now=now)
    else:
        restore_project_settings(project=kept.project, to=to, undoes=undoes, note=note, actor=actor, now=now)
    whose = "this session" if kept.session else str(kept.project)
    words = f"Back to version {to} of {whose}" if to else f"Back to before the first save of {whose}"
    tell_saved(request, kept, words, now=now)
