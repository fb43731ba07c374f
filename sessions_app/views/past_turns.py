"""What the model saw then: the prompt of a past turn, beside what the settings of today and a draft would have sent."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from sessions_app.domain.errors import ConvowebError, InvalidInput, InvalidSettings
from sessions_app.domain.memory_settings import stored_values
from sessions_app.models.connections import one_state
from sessions_app.queries.api_calls import prompt_call, sent_json
from sessions_app.queries.fact_ways import way_rows
from sessions_app.queries.past_turns import PastTurn, past_turn, ranges_of, settings_of_then, unseen_runs
from sessions_app.queries.prompt_views import prompt_view
from sessions_app.queries.seen_in_part import seen_in_part
from sessions_app.services.prompts import session_prompt
from sessions_app.services.ways_back import said_elsewhere, ways_at
from sessions_app.views.followed_words import seen_words
from sessions_app.views.projects import page_context
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_pages import tree_context
from sessions_app.views.session_reading import span_of
from sessions_app.views.sides import Side
from sessions_app.views.workbench import Bench, bench_of

PAGE = "turns/then.html"


@login_required
@require_safe
@one_state()
def then(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show the prompt of a turn as it was, and in what others would differ; swaps get runs of a folded line."""
    bench = bench_of(request, slug, session_id, request.GET)
    newest = bench.conversation.last_position
    if not 1 <= (bench.past_turn or 0) <= newest:
        return _to_newest(request, bench)
    sides = _sides(bench)
    shown = sides[0]
    turn = past_turn(
        session=bench.conversation, at=bench.past_turn or 0, prompt=shown.prompt, asked=bool(bench.asked.query)
    )
    context = {
        "project": bench.project,
        "conversation": bench.conversation,
        "turn": turn,
        "shown": shown,
        "rows": sides,
        "more_url": _url(bench),
        "why_url": bench.url("tune-why"),
        "left_out": (),
    }
    context |= _prompt(request, bench, shown) | _words(bench, shown)
    if request.htmx and not request.htmx.boosted and "from" in request.GET:
        return render_page(request, "tune/prompt.html", "rows", context)
    context |= _beside(bench, sides, "a" if request.GET.get("with") == "a" else "b") | _links(bench, turn)
    context |= page_context(request.user, bench.project, area="sessions")
    return render_page(request, PAGE, "page", context | tree_context(bench.project, bench.conversation))


def _to_newest(request: HtmxRequest, bench: Bench) -> HttpResponse:
    """Lead to the newest turn, and say so if another was asked for; without runs, to the session."""
    newest, asked = bench.conversation.last_position, bench.asked.text("at")
    if not newest:
        messages.info(request, "There is no turn yet: this session has no runs.")
        return redirect("session", bench.project.slug, bench.conversation.public_id)
    if asked:
        messages.warning(request, f"at is a turn from 1 to {newest:,}; {asked[:20]} was given. This is the newest one.")
    return HttpResponseRedirect(_url(bench, at=str(newest)))


def _sides(bench: Bench) -> list[Side]:
    """Build the prompt of the turn with the settings of then, with those of today, and with the draft if there is."""
    before = _side(bench, "then", "Then", as_saved=False)
    if bench.then is None or stored_values(bench.then.values) == stored_values(bench.saved.values):
        today = replace(before, key="a", label="Today")
    else:
        today = _side(bench, "a", "Today", as_saved=True)
    if not bench.draft.count:
        return [before, today]
    if bench.draft.errors:
        refused = InvalidSettings(" ".join(bench.draft.errors.values()))
        return [before, today, Side("b", "Draft", None, refused)]
    return [before, today, _side(bench, "b", "Draft", as_saved=True, overrides=bench.draft.overrides)]


def _side(bench: Bench, key: str, label: str, *, as_saved: bool, overrides: Mapping[str, Any] | None = None) -> Side:
    if bench.asked.errors:
        return Side(key, label, None, InvalidInput(" ".join(bench.asked.errors.values())))
    try:
        prompt = session_prompt(
            session=bench.conversation, overrides=overrides, as_saved=as_saved, **bench.asked.arguments
        )
    except ConvowebError as refusal:
        return Side(key, label, None, refusal)
    return Side(key, label, prompt, None)


def _prompt(request: HtmxRequest, bench: Bench, shown: Side) -> dict[str, Any]:
    if shown.sent is None:
        return {}
    span = span_of(request.GET, bench.conversation.last_position)
    path = f"/api/v1/sessions/{quote(bench.conversation.public_id)}/prompt"
    return {
        "view": prompt_view(session=bench.conversation, prompt=shown.sent, within=span),
        "warnings": shown.warnings,
        "call": prompt_call(url=request.build_absolute_uri(path), settings={}, asked=bench.asked),
        "sent_json": sent_json(shown.sent, bench.asked),
        "unseen": unseen_runs(shown.sent),
        "in_part": seen_in_part(session=bench.conversation, prompt=shown.sent),
    }


def _words(bench: Bench, shown: Side) -> dict[str, Any]:
    """Return where the prompt has the words that the address gives, if it gives any."""
    phrase = bench.phrase
    if phrase is None or shown.sent is None or bench.past_turn is None:
        return {}
    conversation, turn = bench.conversation, bench.past_turn
    seen = seen_words(session=conversation, phrase=phrase, turn=turn, prompt=shown.sent)
    found: dict[str, Any] = {"phrase": phrase, "interval": seen.interval, "cause": seen.cause}
    found["sight_words"] = seen.words
    if not seen.is_there:
        found["elsewhere"] = said_elsewhere(session=conversation, phrase=phrase)
    if not seen.interval.is_forgotten:
        return found
    ways = ways_at(session=conversation, phrase=phrase, turn=turn)
    rows = way_rows(conversation, ways, turn, phrase.words, may_edit=bench.project.may_edit, now=timezone.now())
    return found | {"ways": rows, "focus": turn}


def _beside(bench: Bench, sides: list[Side], key: str) -> dict[str, Any]:
    """Return in what the turn would differ under the last of the sides, or under the one that is asked for."""
    before, other = sides[0], next((side for side in sides[1:] if side.key == key), sides[-1])
    return {
        "other": other,
        "ranges": ranges_of(before.prompt, other.prompt) if before.prompt and other.prompt else None,
        "settings": settings_of_then(bench.a, bench.saved, bench.draft.overrides),
        "with_url": {side.key: _url(bench, **{"with": side.key}) for side in sides[1:]},
        "draft": bench.draft,
        "versions": bench.then.versions if bench.then else None,
    }


def _links(bench: Bench, turn: PastTurn | None) -> dict[str, Any]:
    steps = {"before": -1, "after": +1}
    return {
        "step_url": {
            name: _url(bench, at=str(turn.position + step))
            for name, step in steps.items()
            if turn and 1 <= turn.position + step <= turn.newest
        },
        "tune_url": bench.url("tune"),
        "compare_url": bench.url("tune-compare"),
        "replay_url": bench.url("tune-replay"),
    }


def _url(bench: Bench, **besides: str) -> str:
    return bench.url("then", **besides)
