"""The workbench: settings as a draft in the address, the prompt they give, and why each run is in it or not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import replace_url

from sessions_app import tasks
from sessions_app.domain.errors import ConvowebError, InvalidSettings
from sessions_app.domain.memory_settings import EffectiveSettings, stored_values
from sessions_app.domain.plan import Fate, Prompt
from sessions_app.domain.settings_draft import Draft, read_draft
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Project, Session
from sessions_app.queries.bands import WINDOW
from sessions_app.queries.project_defaults import project_changes, reach_of
from sessions_app.queries.prompt_figures import needed_parts
from sessions_app.queries.prompt_views import prompt_view
from sessions_app.queries.session_pages import newest_status
from sessions_app.queries.settings_controls import address, control_groups, inherit_all
from sessions_app.queries.why_rows import CHANGED, WhyAsked, WhyTable, why_table
from sessions_app.services.prompts import effective_settings, session_prompt
from sessions_app.services.sessions import update_session
from sessions_app.services.settings import project_settings, save_project_settings
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_pages import session_of, span_of, tree_context

PAGE = "tune/bench.html"
CHIP_WORDS: Mapping[str, str] = {Fate.KEPT: "In the prompt", Fate.SUMMARIZED: "In the summary"}
TABS = {"prompt": "tune", "why": "tune-why"}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two settings that are compared: its next prompt, or why there is none."""

    key: str
    label: str
    prompt: Prompt | None
    refusal: ConvowebError | None

    @property
    def lost(self) -> bool:
        """Whether runs are lost."""
        return self.prompt is not None and any(fates.fate is Fate.LOST for fates in self.prompt.fates)

    @property
    def needs(self) -> list[tuple[str, int]]:
        """What needs how many tokens, if that is why there is no prompt."""
        return needed_parts(self.refusal)

    @property
    def message_count(self) -> int:
        """How many messages are sent."""
        return len(self.prompt.messages or ("text",)) if self.prompt else 0


@dataclass(frozen=True, slots=True)
class WhyChip:
    """A filter of the Why table: a fate under B, or CHANGED; `url` switches it."""

    key: str
    word: str
    count: int
    on: bool
    url: str


@dataclass(frozen=True, slots=True)
class Bench:
    """A conversation on the workbench, with its saved settings and the draft."""

    project: Project
    conversation: Session
    saved: EffectiveSettings
    inherited: EffectiveSettings
    draft: Draft
    query: str

    def url(self, name: str = "tune", **carried: str) -> str:
        """Return the address of a tab with this draft and query."""
        page = reverse(name, args=[self.project.slug, self.conversation.public_id])
        return page + address(self.draft.texts, {"query": self.query, **carried})


@login_required
@require_safe
def tune(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the prompt that the draft gives."""
    bench = _bench(request, slug, session_id, request.GET)
    return _answer(request, bench, "prompt", {})


@login_required
@require_safe
def why(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show each run's fate under the saved settings and the draft, and why."""
    bench = _bench(request, slug, session_id, request.GET)
    return _answer(request, bench, "why", {})


@login_required
@require_POST
def save(request: HttpRequest, slug: str, session_id: str) -> HttpResponse:
    """Save the draft to the session."""
    bench = _bench(request, slug, session_id, request.POST)
    refused = _nothing_to_save(request, bench)
    if refused:
        return refused
    changes = {"settings": dict(bench.draft.changes)}
    update_session(session=bench.conversation, changes=changes, now=timezone.now())
    transaction.on_commit(lambda: tasks.poke(bench.conversation.pk), robust=True)
    messages.success(request, f"{_settings(bench.draft.count)} saved to this session.")
    return HttpResponseRedirect(_fresh_url(bench, request.POST))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def save_default(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask whether to save the draft as the project's default and say whom it reaches; then save it."""
    texts = request.POST if request.method == "POST" else request.GET
    bench = _bench(request, slug, session_id, texts)
    refused = _nothing_to_save(request, bench)
    if refused:
        return refused
    changes = project_changes(draft=bench.draft, defaults=bench.inherited)
    if not changes:
        messages.info(request, f"There is nothing to save: these are the defaults of {bench.project} already.")
        return HttpResponseRedirect(bench.url())
    if request.method == "POST":
        save_project_settings(project=bench.project, changes={change.name: change.new for change in changes})
        transaction.on_commit(lambda: tasks.poke_project(bench.project.pk), robust=True)
        messages.success(request, f"{_settings(len(changes))} saved as the default of {bench.project}.")
        return HttpResponseRedirect(bench.url())
    names = [change.name for change in changes]
    asking = {
        "changes": changes,
        "reach": reach_of(project=bench.project, names=names),
        "kept_here": [name for name in names if name in bench.conversation.settings],
    }
    return _answer(request, bench, "prompt", {"asking": asking})


def _bench(request: HttpRequest, slug: str, session_id: str, texts: QueryDict) -> Bench:
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    saved, inherited = effective_settings(session=conversation), project_settings(project=project)
    given = {name: values[-1] for name, values in texts.lists() if values}
    draft = read_draft(given, saved=saved, inherited=inherited, seen=_seen(texts.get("seen", "")))
    return Bench(project, conversation, saved, inherited, draft, clean_text(texts.get("query", "").strip()))


def _seen(text: str) -> Mapping[str, Any]:
    """Return the saved values that a form was made from."""
    try:
        seen = json.loads(text or "{}")
    except ValueError:
        return {}
    return seen if isinstance(seen, dict) else {}


def _answer(request: HtmxRequest, bench: Bench, tab: str, more: Mapping[str, Any]) -> HttpResponse:
    """Render a tab; a form sent without htmx is led to the short address, swaps tell theirs to the browser."""
    if not request.htmx and "seen" in request.GET and not more:
        return HttpResponseRedirect(bench.url(TABS[tab], **_asked_besides(request, tab)))
    context = _compared(bench) | {"project": bench.project, "conversation": bench.conversation, "tab": tab}
    context |= _prompt_tab(request, bench, context) if tab == "prompt" else _why_tab(request, bench, context)
    if request.htmx and "from" in request.GET:
        return render_page(request, PAGE, "rows", context)
    partial = "result" if request.htmx.target == "result" else "bench"
    context |= _controls(bench, tab, context["carried"]) | {"oob": bool(request.htmx) and partial == "result"}
    if request.htmx:
        return replace_url(render_page(request, PAGE, partial, context), bench.url(TABS[tab], **context["carried"]))
    context |= page_context(request.user, bench.project, area="sessions")
    return render_page(request, PAGE, partial, context | tree_context(bench.project, bench.conversation) | more)


def _compared(bench: Bench) -> dict[str, Any]:
    a = _side("a", "Saved", bench, {})
    if bench.draft.errors:
        b = Side("b", "Draft", None, InvalidSettings(" ".join(bench.draft.errors.values())))
    elif bench.draft.changes:
        b = _side("b", "Draft", bench, bench.draft.overrides)
    else:
        b = Side("b", "Draft", a.prompt, a.refusal)
    difference = f"{b.prompt.tokens.total - a.prompt.tokens.total:+,}" if a.prompt and b.prompt else ""
    return {"sides": (a, b), "difference": difference}


def _side(key: str, label: str, bench: Bench, overrides: Mapping[str, Any]) -> Side:
    try:
        prompt = session_prompt(session=bench.conversation, overrides=overrides, query=bench.query or None)
    except ConvowebError as refusal:
        return Side(key, label, None, refusal)
    return Side(key, label, prompt, None)


def _asked_besides(request: HttpRequest, tab: str) -> dict[str, str]:
    """Return what the address asks for besides settings and query."""
    if tab == "prompt":
        return {"side": "a" if request.GET.get("side") == "a" else ""}
    only = request.GET.get("only", "")
    return {"only": only if only in {*Fate, CHANGED} else ""}


def _prompt_tab(request: HtmxRequest, bench: Bench, context: Mapping[str, Any]) -> dict[str, Any]:
    carried = _asked_besides(request, "prompt")
    a, b = context["sides"]
    shown: Side = a if carried["side"] else b
    span = span_of(request.GET, bench.conversation.last_position) if request.htmx else None
    view = prompt_view(session=bench.conversation, prompt=shown.prompt, within=span) if shown.prompt else None
    return {"shown": shown, "view": view, "carried": carried, "more_url": bench.url(**carried)}


def _why_tab(request: HtmxRequest, bench: Bench, context: Mapping[str, Any]) -> dict[str, Any]:
    carried = _asked_besides(request, "why")
    a, b = context["sides"]
    found: dict[str, Any] = {"shown": b, "carried": carried, "more_url": bench.url("tune-why", **carried)}
    if b.prompt is None:
        return found
    span = span_of(request.GET, bench.conversation.last_position)
    asked = WhyAsked(only=carried["only"], opened=span and span.newest(WINDOW), within=span if request.htmx else None)
    table = why_table(session=bench.conversation, a=a.prompt, b=b.prompt, asked=asked)
    return found | {"table": table, "chips": _chips(bench, table, carried["only"])}


def _chips(bench: Bench, table: WhyTable, only: str) -> list[WhyChip]:
    counts: list[tuple[str, int]] = [*table.counts.items(), (CHANGED, table.changed)]
    return [
        WhyChip(
            key=key,
            word=CHIP_WORDS.get(key, key.capitalize()),
            count=count,
            on=key == only,
            url=bench.url("tune-why", only="" if key == only else key),
        )
        for key, count in counts
    ]


def _controls(bench: Bench, tab: str, carried: Mapping[str, str]) -> dict[str, Any]:
    besides = {"query": bench.query, **carried}
    status = newest_status(bench.conversation)
    return {
        "draft": bench.draft,
        "query": bench.query,
        "is_open": status is not None and status.is_open,
        "groups": control_groups(session=bench.conversation, draft=bench.draft, saved=bench.saved, carried=besides),
        "inherit_all": inherit_all(bench.saved, bench.inherited, besides),
        "seen": json.dumps(stored_values(bench.saved.values)),
        "tab_url": reverse(TABS[tab], args=[bench.project.slug, bench.conversation.public_id]),
        "why_url": bench.url("tune-why"),
        "side_url": {"a": bench.url(side="a"), "b": bench.url()},
    }


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
