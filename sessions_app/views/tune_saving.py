"""Saving a draft of settings, to the session or as the project's default; what cannot be undone is asked first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.memory_settings import stored_values
from sessions_app.queries.project_defaults import DefaultChange, Reach, project_changes, reach_of
from sessions_app.queries.prompt_figures import needed_parts
from sessions_app.queries.settings_controls import address
from sessions_app.services.sessions import update_session
from sessions_app.services.settings import built_in_settings, save_project_settings
from sessions_app.services.summaries import due_under
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.session_pages import plan_or_refusal
from sessions_app.views.tune import show
from sessions_app.views.workbench import TABS, Bench, bench_of


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked before a draft is saved; `reach` is whom it reaches, if it is for the whole project.

    Of this session: `refusal` says why no prompt could be built any more, `due` are the runs that would be summarized.
    """

    action: str
    tab: str
    changes: Sequence[DefaultChange]
    refusal: ConvowebError | None
    due: tuple[int, int] | None
    reach: Reach | None = None
    kept_here: Sequence[str] = ()

    @property
    def needs(self) -> list[tuple[str, int]]:
        """What needs how many tokens, if that is why no prompt could be built."""
        return needed_parts(self.refusal)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def save(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Save the draft to the session; if prompts could then not be built, or runs are summarized for it, ask first."""
    texts = _texts(request)
    bench = bench_of(request, slug, session_id, texts)
    refused = _nothing_to_save(request, bench)
    if refused:
        return refused
    question = _session_question(bench, texts)
    is_grave = question.refusal is not None or question.due is not None
    if request.method == "POST" and ("sure" in texts or not is_grave):
        changes = {"settings": dict(bench.draft.changes)}
        update_session(session=bench.conversation, changes=changes, now=timezone.now())
        messages.success(request, f"{_settings(bench.draft.count)} saved to this session.")
        return HttpResponseRedirect(_fresh_url(bench, texts))
    if request.method == "POST":
        return HttpResponseRedirect(bench.url("tune-save", tab=question.tab))
    return show(request, bench, "prompt", {"asking": question})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def save_default(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask whether to save the draft as the project's default and say whom it reaches; then save it."""
    texts = _texts(request)
    bench = bench_of(request, slug, session_id, texts)
    refused = _nothing_to_save(request, bench)
    if refused:
        return refused
    changes = project_changes(draft=bench.draft, defaults=bench.inherited, built_in=built_in_settings())
    if not changes:
        messages.info(request, f"There is nothing to save: these are the defaults of {bench.project} already.")
        return HttpResponseRedirect(bench.url())
    if request.method == "POST" and "sure" not in texts:
        return HttpResponseRedirect(bench.url("tune-default"))
    if request.method == "POST":
        new = {change.name: change.new for change in changes}
        save_project_settings(project=bench.project, changes=new, now=timezone.now())
        messages.success(request, f"{_settings(len(changes))} saved as the default of {bench.project}.")
        return HttpResponseRedirect(bench.url())
    return show(request, bench, "prompt", {"asking": _project_question(bench, changes)})


def _session_question(bench: Bench, texts: QueryDict) -> Question:
    now = stored_values(bench.saved.values)
    changes = [DefaultChange(name, now[name], new) for name, new in bench.draft.overrides.items()]
    return Question(
        action=reverse("tune-save", args=[bench.project.slug, bench.conversation.public_id]),
        tab=texts.get("tab", ""),
        changes=changes,
        **_what_follows(bench, bench.draft.overrides),
    )


def _project_question(bench: Bench, changes: Sequence[DefaultChange]) -> Question:
    names = [change.name for change in changes]
    kept_here = [name for name in names if name in bench.conversation.settings]
    return Question(
        action=reverse("tune-default", args=[bench.project.slug, bench.conversation.public_id]),
        tab="",
        changes=changes,
        reach=reach_of(project=bench.project, names=names),
        kept_here=kept_here,
        **_what_follows(bench, {change.name: change.new for change in changes if change.name not in kept_here}),
    )


def _what_follows(bench: Bench, overrides: Mapping[str, Any]) -> dict[str, Any]:
    _, refusal = plan_or_refusal(bench.conversation, overrides=overrides)
    return {"refusal": refusal, "due": due_under(session=bench.conversation, overrides=overrides)}


def _texts(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


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
    return page + (address({}, bench.carried) if bench.carried else "")


def _settings(count: int) -> str:
    return "1 setting" if count == 1 else f"{count} settings"
