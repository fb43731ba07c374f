"""The prompt that saved or drafted settings give, and why each run is in it or not."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods
from django_htmx.http import replace_url, trigger_client_event

from sessions_app.domain.memory_settings import stored_values
from sessions_app.domain.plan import Fate
from sessions_app.domain.roles import Right
from sessions_app.models.connections import one_state
from sessions_app.queries.api_calls import ApiCall, prompt_call, sent_json
from sessions_app.queries.past_turns import past_turn
from sessions_app.queries.prompt_views import prompt_view
from sessions_app.queries.request_inputs import field_errors
from sessions_app.queries.session_pages import newest_status
from sessions_app.queries.settings_controls import control_groups, inherit_all
from sessions_app.queries.settings_versions import is_saved_for_project
from sessions_app.queries.why_rows import CHANGED
from sessions_app.services.settings import built_in_settings
from sessions_app.views.access import needs
from sessions_app.views.drafts import login_required_keeping_drafts
from sessions_app.views.followed_words import seen_in_sides
from sessions_app.views.projects import page_context
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_pages import tree_context
from sessions_app.views.session_reading import span_of
from sessions_app.views.sides import Side
from sessions_app.views.tune_compare import EVERYTHING, compare_tab
from sessions_app.views.tune_replay import GO, replay_asked, replay_tab
from sessions_app.views.tune_why import why_tab
from sessions_app.views.workbench import TABS, THEN, Bench, bench_of, compared, texts_of

PAGE = "tune/bench.html"


@needs(writing=Right.READ)
@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
@one_state()
def tune(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the prompt that the draft gives."""
    bench = bench_of(request, slug, session_id, texts_of(request))
    return show(request, bench, "prompt", {})


@needs(writing=Right.READ)
@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
@one_state()
def why(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show each run's fate under the saved settings and the draft, and why."""
    bench = bench_of(request, slug, session_id, texts_of(request))
    return show(request, bench, "why", {})


@needs(writing=Right.READ)
@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
@one_state()
def compare(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the prompts under the saved settings and the draft side by side."""
    bench = bench_of(request, slug, session_id, texts_of(request))
    return show(request, bench, "compare", {})


@needs(writing=Right.READ)
@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
@one_state()
def replay(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show what would have happened over the whole conversation under the saved settings and the draft."""
    bench = bench_of(request, slug, session_id, texts_of(request))
    return show(request, bench, "replay", {})


def show(request: HtmxRequest, bench: Bench, tab: str, more: dict[str, Any]) -> HttpResponse:
    """Render a tab; a form sent without htmx is led to the short address, swaps tell theirs to the browser.

    What is too long for an address is answered at once.
    """
    carried = _asked_besides(bench, tab)
    if request.method == "POST" and not request.htmx and not bench.left_out:
        return HttpResponseRedirect(bench.url(TABS[tab], **carried).removesuffix("?"))
    context = compared(bench, built=_built(carried, tab, bench)) | {
        "phrase": bench.phrase,
        "project": bench.project,
        "conversation": bench.conversation,
        "tab": tab,
        "choice": bench.choice,
        "in_place": THEN if bench.then else "Saved",
        "carried": carried,
        "left_out": bench.left_out,
        "long_fields": ", ".join(f"#asked [name={name}]" for name in bench.left_out),
    }
    context |= _TABS[tab](request, bench, context)
    context |= _seen(bench, context)
    if request.htmx and "from" in bench.texts and tab in UNFOLDING:
        return render_page(request, f"tune/{tab}.html", "rows", context)
    partial = "result" if request.htmx.target == "result" else "bench"
    context |= _controls(bench, tab, context) | _request_inputs(bench, tab, context)
    context["oob"] = bool(request.htmx) and partial == "result"
    context["around"] = bool(request.htmx) and partial == "bench" and not request.htmx.history_restore_request
    if request.htmx:
        address = bench.url(TABS[tab], **context["carried"]).removesuffix("?")
        swapped = replace_url(render_page(request, PAGE, partial, context), address)
        return trigger_client_event(swapped, "announce", {"value": context["sides"][1].sentence})
    context |= page_context(request.user, bench.project, area="sessions")
    context["opens_project"] = is_saved_for_project(project=bench.project, session=bench.conversation)
    page = render_page(request, PAGE, partial, context | tree_context(bench.project, bench.conversation) | more)
    # Going back behind saving shows what is saved now, not what was.
    add_never_cache_headers(page)
    return page


def _built(carried: Mapping[str, str], tab: str, bench: Bench) -> str:
    """Return the sides whose texts are shown, or looked at for followed words."""
    if bench.phrase:
        return "ab"
    return {"prompt": carried.get("side") or "b", "compare": "ab"}.get(tab, "")


def _seen(bench: Bench, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the prompt that is shown has the followed words, and whether the saved settings lack them."""
    if bench.phrase is None:
        return {}
    status = newest_status(bench.conversation)
    turn = bench.past_turn or bench.conversation.last_position + (0 if status and status.is_open else 1)
    a, b = seen_in_sides(session=bench.conversation, phrase=bench.phrase, turn=turn, sides=context["sides"])
    shown = a if context["shown"].key == "a" else b
    return {"words_seen": shown, "is_back": shown is b and bool(a and b and b.is_there and not a.is_there)}


def _asked_besides(bench: Bench, tab: str) -> dict[str, str]:
    """Return what the address asks for besides settings and request."""
    texts = bench.texts
    if tab == "replay":
        return replay_asked(texts, bench.conversation.last_position)
    allowed: Mapping[str, Mapping[str, Collection[str]]] = {
        "prompt": {"side": ["a"]},
        "why": {"only": [*Fate, CHANGED]},
        "compare": {"show": [EVERYTHING]},
    }
    return {name: texts.get(name, "") if texts.get(name) in values else "" for name, values in allowed[tab].items()}


def _prompt_tab(request: HtmxRequest, bench: Bench, context: Mapping[str, Any]) -> dict[str, Any]:
    carried = context["carried"]
    a, b = context["sides"]
    shown: Side = a if carried["side"] else b
    found = {"shown": shown, "more_url": bench.url(**carried)}
    if shown.sent is None:
        return found
    span = span_of(bench.texts, bench.conversation.last_position)
    return found | {
        "view": prompt_view(session=bench.conversation, prompt=shown.sent, within=span),
        # The controls show what is drafted, so that what is saved has its warnings here.
        "warnings": shown.warnings if shown.prompt is not b.prompt else shown.other_warnings,
        "call": _call(request, bench, shown.key),
        "sent_json": sent_json(shown.sent, bench.asked_by(shown.key)),
    }


def _call(request: HttpRequest, bench: Bench, key: str) -> ApiCall:
    path = f"/api/v1/sessions/{quote(bench.conversation.public_id)}/prompt"
    url = request.build_absolute_uri(path)
    return prompt_call(url=url, settings=bench.requested(key), asked=bench.asked_by(key))


_TABS: Mapping[str, Callable[[HtmxRequest, Bench, Mapping[str, Any]], dict[str, Any]]] = {
    "prompt": _prompt_tab,
    "why": why_tab,
    "compare": lambda _, bench, context: compare_tab(bench, context),
    "replay": lambda _, bench, context: replay_tab(bench, context),
}
UNFOLDING = frozenset({"prompt", "why"})


def _controls(bench: Bench, tab: str, context: Mapping[str, Any]) -> dict[str, Any]:
    # A changed draft asks anew for a long replay.
    besides = {**bench.carried, **context["carried"], GO: ""}
    _, b = context["sides"]
    groups = control_groups(
        project=bench.project,
        session=bench.conversation,
        draft=bench.draft,
        saved=bench.saved,
        built_in=built_in_settings(),
        carried=besides,
        warnings={**field_errors(bench.asked, [b.refusal]), **b.setting_warnings},
    )
    return {
        "draft": bench.draft,
        "groups": groups,
        "warned": sum(
            bool(control.warning and not control.no_effect) for group in groups for control in group.controls
        ),
        "inherit_all": inherit_all(bench.saved, bench.inherited, besides),
        "seen": json.dumps(stored_values(bench.saved.values)),
        "tab_url": bench.page(TABS[tab]),
        "tab_urls": {name: bench.url(TABS[name]) for name in TABS},
        "why_url": bench.url("tune-why"),
        "side_url": {"a": bench.url(side="a"), "b": bench.url()},
    }


def _is_of_then(bench: Bench, shown: Side) -> bool:
    return not bench.requested(shown.key)


def _request_inputs(bench: Bench, tab: str, context: Mapping[str, Any]) -> dict[str, Any]:
    asked, conversation = bench.asked, bench.conversation
    errors = field_errors(asked, [side.refusal for side in context["sides"]])
    shown: Side = context["shown"]
    status = newest_status(conversation)
    turn = bench.past_turn and past_turn(
        session=conversation, at=bench.past_turn, prompt=shown.prompt, asked=bool(bench.asked_by(shown.key).query)
    )
    steps = {"before": -1, "after": +1} if turn else {}
    return {
        "asked": asked,
        "errors": errors,
        "has_bad_field": any(name in asked.texts for name in errors),
        "asked_pairs": [(name, text) for name, texts in asked.texts.items() for text in texts],
        "carried_request": bench.carried,
        "tools_json": json.dumps(asked.arguments.get("tools"), indent=2, ensure_ascii=False),
        "query": asked.query,
        "is_open": status is not None and status.is_open,
        "needs_block": len(bench.texts.getlist("context")) == len(asked.context),
        "turn": turn,
        "versions": bench.then.versions if bench.then and _is_of_then(bench, shown) else None,
        "turn_url": {
            name: bench.url(TABS[tab], at=str(turn.position + step), **context["carried"])
            for name, step in steps.items()
            if turn and 1 <= turn.position + step <= turn.newest
        },
        "now_url": bench.url(TABS[tab], at="", **context["carried"]),
    }
