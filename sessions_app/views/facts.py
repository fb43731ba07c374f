"""Following a fact: where the prompts of a session had some words, turn by turn, and what brings them back."""

from collections.abc import Set
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from sessions_app.domain.errors import FactsAreBusy
from sessions_app.domain.following.blame import TighterSetting, tighter_summaries
from sessions_app.domain.following.followed import Following
from sessions_app.domain.following.phrase import Phrase, read_phrase
from sessions_app.domain.following.sights import Place
from sessions_app.domain.following.telling import headline, told
from sessions_app.models import Project, Session, runs_saying_apart
from sessions_app.models.connections import one_state
from sessions_app.queries.fact_pages import fact_stream
from sessions_app.queries.fact_ways import interval_rows, way_rows
from sessions_app.queries.session_pages import crumbs_of
from sessions_app.services.prompts import effective_settings
from sessions_app.services.settings import project_settings
from sessions_app.services.ways_back import follow_fact
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_pages import plan_or_refusal, session_of, tree_context
from sessions_app.views.session_reading import number_of

PAGE = "facts/page.html"
RUNS_APART = 5
BUSY_SECONDS = 5


@login_required
@require_safe
@one_state()
def facts(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Show where the words of the address were at each turn, or ask for some."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    phrase = read_phrase(request.GET.get("words", ""))
    context: dict[str, Any] = {"project": project, "conversation": conversation, "phrase": phrase}
    if phrase is not None:
        try:
            context |= _followed(conversation, phrase, number_of(request.GET.get("at")), project)
        except FactsAreBusy as refusal:
            context["busy"] = refusal
    context |= page_context(request.user, project, area="sessions") | tree_context(project, conversation)
    context["crumbs"] = crumbs_of(conversation)
    response = render_page(request, PAGE, "page", context, status=429 if "busy" in context else 200)
    if "busy" in context:
        response["Retry-After"] = str(BUSY_SECONDS)
    return response


def _followed(conversation: Session, phrase: Phrase, at: int | None, project: Project) -> dict[str, Any]:
    found = follow_fact(session=conversation, phrase=phrase, at=at)
    following = found.following
    intervals, hits = following.intervals, following.hits
    words = told(intervals, hits[0].position if hits else None)
    is_missing = any(each.is_forgotten for each in intervals) or following.is_missing_next
    prompt, _ = plan_or_refusal(conversation)
    address = reverse("then", args=[project.slug, conversation.public_id])
    return {
        "following": following,
        "said": hits,
        "headline": headline(intervals, words, found.turn),
        "is_missing": is_missing,
        "counts": _counts(following),
        "intervals": interval_rows(following, found.turn),
        "is_summarized_away": following.is_summarized_away_at(found.turn),
        "is_missing_there": following.is_forgotten_at(found.turn),
        "stream": fact_stream(
            session=conversation,
            phrase=phrase,
            hits=hits,
            told=list(zip(intervals, words, strict=True)),
            prompt=prompt,
        ),
        "tighter": _tighter(conversation),
        "focus": found.turn,
        "ways": way_rows(
            conversation, found.ways, found.turn, phrase.words, may_edit=project.may_edit, now=timezone.now()
        ),
        "elsewhere": found.elsewhere,
        "then_url": address,
        "words_query": urlencode({"words": phrase.words}),
        "is_said": following.is_said,
        **({} if is_missing else _apart(conversation, phrase, {hit.position for hit in hits})),
    }


def _tighter(conversation: Session) -> list[TighterSetting]:
    inherited = project_settings(project=conversation.project)
    return list(tighter_summaries(effective_settings(session=conversation), inherited))


def _apart(conversation: Session, phrase: Phrase, in_a_row: Set[int]) -> dict[str, Any]:
    """Return the runs that say most of the words, besides those that say them in a row."""
    apart, all_said = runs_saying_apart(conversation, phrase, most=RUNS_APART + len(in_a_row))
    others = [position for position in apart if position not in in_a_row]
    return {"apart": others[:RUNS_APART], "all_said": all_said}


def _counts(following: Following) -> list[tuple[Place, int]]:
    """Return how many turns had the words where, in the order of places."""
    counts = dict.fromkeys(Place, 0)
    for interval in following.intervals:
        counts[interval.place] += interval.count
    return [(place, count) for place, count in counts.items() if count]
