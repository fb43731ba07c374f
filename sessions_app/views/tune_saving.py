"""Saving a draft of settings, to the session or as the project's default."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from sessions_app.queries.project_defaults import project_changes, reach_of
from sessions_app.queries.settings_controls import address
from sessions_app.services.sessions import update_session
from sessions_app.services.settings import save_project_settings
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.tune import show
from sessions_app.views.workbench import TABS, Bench, bench_of


@login_required
@require_POST
def save(request: HttpRequest, slug: str, session_id: str) -> HttpResponse:
    """Save the draft to the session."""
    bench = bench_of(request, slug, session_id, request.POST)
    refused = _nothing_to_save(request, bench)
    if refused:
        return refused
    changes = {"settings": dict(bench.draft.changes)}
    update_session(session=bench.conversation, changes=changes, now=timezone.now())
    messages.success(request, f"{_settings(bench.draft.count)} saved to this session.")
    return HttpResponseRedirect(_fresh_url(bench, request.POST))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def save_default(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask whether to save the draft as the project's default and say whom it reaches; then save it."""
    texts = request.POST if request.method == "POST" else request.GET
    bench = bench_of(request, slug, session_id, texts)
    refused = _nothing_to_save(request, bench)
    if refused:
        return refused
    changes = project_changes(draft=bench.draft, defaults=bench.inherited)
    if not changes:
        messages.info(request, f"There is nothing to save: these are the defaults of {bench.project} already.")
        return HttpResponseRedirect(bench.url())
    if request.method == "POST":
        new = {change.name: change.new for change in changes}
        save_project_settings(project=bench.project, changes=new, now=timezone.now())
        messages.success(request, f"{_settings(len(changes))} saved as the default of {bench.project}.")
        return HttpResponseRedirect(bench.url())
    names = [change.name for change in changes]
    asking = {
        "changes": changes,
        "reach": reach_of(project=bench.project, names=names),
        "kept_here": [name for name in names if name in bench.conversation.settings],
    }
    return show(request, bench, "prompt", {"asking": asking})


def _nothing_to_save(request: HttpRequest, bench: Bench) -> HttpResponse | None:
    if bench.draft.errors:
        messages.error(request, f"Nothing was saved. {' '.join(bench.draft.errors.values())}")
    elif not bench.draft.changes:
        messages.info(request, "There is nothing to save: the draft does not differ from what is saved.")
    else:
        return None
    return HttpResponseRedirect(bench.url())


def _fresh_url(bench: Bench, texts: QueryDict) -> str:
    page = reverse(TABS.get(texts.get("tab", ""), "tune"), args=[bench.project.slug, bench.conversation.public_id])
    return page + (address({}, {"query": bench.query}) if bench.query else "")


def _settings(count: int) -> str:
    return "1 setting" if count == 1 else f"{count} settings"
