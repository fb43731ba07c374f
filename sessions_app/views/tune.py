"""The prompt that saved or drafted settings give, and why each run is in it or not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url, trigger_client_event

from sessions_app.domain.memory_settings import stored_values
from sessions_app.domain.plan import Fate
from sessions_app.models.connections import one_state
from sessions_app.queries.api_calls import ApiCall, prompt_call
from sessions_app.queries.bands import WINDOW
from sessions_app.queries.prompt_views import prompt_view
from sessions_app.queries.session_pages import newest_status
from sessions_app.queries.settings_controls import control_groups, inherit_all
from sessions_app.queries.why_rows import CHANGED, WhyAsked, WhyTable, why_table
from sessions_app.services.settings import built_in_settings
from sessions_app.views.projects import page_context
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_pages import span_of, tree_context
from sessions_app.views.workbench import TABS, Bench, Side, bench_of, compared

PAGE = "tune/bench.html"
CHIP_WORDS: Mapping[str, str] = {Fate.KEPT: "In the prompt", Fate.SUMMARIZED: "In the summary"}


@dataclass(frozen=True, slots=True)
class WhyChip:
    """A filter of the Why table: a fate under B, or CHANGED; `url` switches it."""

    key: str
    word: str
    count: int
    on: bool
    url: str


@login_required
@require_safe
@one_state()
def tune(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the prompt that the draft gives."""
    bench = bench_of(request, slug, session_id, request.GET)
    return show(request, bench, "prompt", {})


@login_required
@require_safe
@one_state()
def why(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show each run's fate under the saved settings and the draft, and why."""
    bench = bench_of(request, slug, session_id, request.GET)
    return show(request, bench, "why", {})


def show(request: HtmxRequest, bench: Bench, tab: str, more: dict[str, Any]) -> HttpResponse:
    """Render a tab; a form sent without htmx is led to the short address, swaps tell theirs to the browser."""
    if not request.htmx and "seen" in request.GET and not more:
        return HttpResponseRedirect(bench.url(TABS[tab], **_asked_besides(request, tab)))
    context = compared(bench, built=_built(request, tab)) | {
        "project": bench.project,
        "conversation": bench.conversation,
        "tab": tab,
    }
    context |= _prompt_tab(request, bench, context) if tab == "prompt" else _why_tab(request, bench, context)
    if request.htmx and "from" in request.GET:
        return render_page(request, f"tune/{tab}.html", "rows", context)
    partial = "result" if request.htmx.target == "result" else "bench"
    context |= _controls(bench, tab, context["carried"]) | {"oob": bool(request.htmx) and partial == "result"}
    if request.htmx:
        address = bench.url(TABS[tab], **context["carried"]).removesuffix("?")
        swapped = replace_url(render_page(request, PAGE, partial, context), address)
        return trigger_client_event(swapped, "announce", {"value": context["sides"][1].sentence})
    context |= page_context(request.user, bench.project, area="sessions")
    page = render_page(request, PAGE, partial, context | tree_context(bench.project, bench.conversation) | more)
    # Going back behind saving shows what is saved now, not what was.
    add_never_cache_headers(page)
    return page


def _built(request: HttpRequest, tab: str) -> str:
    """Return the side whose texts are shown; Why shows none."""
    return "" if tab == "why" else _asked_besides(request, tab)["side"] or "b"


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
    span = span_of(request.GET, bench.conversation.last_position)
    view = prompt_view(session=bench.conversation, prompt=shown.sent, within=span) if shown.sent else None
    found = {"shown": shown, "view": view, "carried": carried, "more_url": bench.url(**carried)}
    return found | {"call": _call(request, bench, {} if carried["side"] else bench.draft.overrides)}


def _call(request: HttpRequest, bench: Bench, settings: Mapping[str, Any]) -> ApiCall:
    path = f"/api/v1/sessions/{quote(bench.conversation.public_id)}/prompt"
    return prompt_call(url=request.build_absolute_uri(path), settings=settings, query=bench.query)


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
        "groups": control_groups(
            session=bench.conversation,
            draft=bench.draft,
            saved=bench.saved,
            built_in=built_in_settings(),
            carried=besides,
        ),
        "inherit_all": inherit_all(bench.saved, bench.inherited, besides),
        "seen": json.dumps(stored_values(bench.saved.values)),
        "tab_url": reverse(TABS[tab], args=[bench.project.slug, bench.conversation.public_id]),
        "why_url": bench.url("tune-why"),
        "side_url": {"a": bench.url(side="a"), "b": bench.url()},
    }
