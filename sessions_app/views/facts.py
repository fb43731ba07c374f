"""Following a fact: where the prompts of a session had some words, turn by turn, and what brings them back."""

from collections.abc import Sequence, Set
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
from sessions_app.queries.bands import Span
from sessions_app.queries.fact_pages import fact_stream, unfolded
from sessions_app.queries.fact_ways import IntervalRow, interval_rows, way_rows
from sessions_app.queries.session_pages import crumbs_of
from sessions_app.services.prompts import effective_settings
from sessions_app.services.settings import project_settings
from sessions_app.services.ways_back import FollowedFact, follow_fact
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page
from sessions_app.views.session_pages import plan_or_refusal, session_of, tree_context
from sessions_app.views.session_reading import number_of, span_of

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
    at, span = number_of(request.GET.get("at")), span_of(request.GET, conversation.last_position)
    context: dict[str, Any] = {"project": project, "conversation": conversation, "phrase": phrase}
    context |= _addresses(conversation, phrase, at)
    if phrase and span and request.htmx and not request.htmx.boosted:
        prompt, _ = plan_or_refusal(conversation)
        context["stream"] = unfolded(session=conversation, phrase=phrase, span=span, prompt=prompt)
        return render_page(request, PAGE, "items", context)
    if phrase is not None:
        try:
            context |= _followed(conversation, phrase, at, span, project)
        except FactsAreBusy as refusal:
            context["busy"] = refusal
    context |= page_context(request.user, project, area="sessions") | tree_context(project, conversation)
    context["crumbs"] = crumbs_of(conversation)
    response = render_page(request, PAGE, "page", context, status=429 if "busy" in context else 200)
    if "busy" in context:
        response["Retry-After"] = str(BUSY_SECONDS)
    return response


def _addresses(conversation: Session, phrase: Phrase | None, at: int | None) -> dict[str, Any]:
    """Return where the page leads with its words, and with the turn that was asked for, if there is one."""
    asked = at if at and at <= conversation.last_position + 1 else None
    words = {"words": phrase.words} if phrase else {}
    past = {"at": asked} if asked and asked <= conversation.last_position else {}
    tune = reverse("tune", args=[conversation.project.slug, conversation.public_id])
    return {
        "asked_at": asked,
        "past_at": past.get("at"),
        "then_url": reverse("then", args=[conversation.project.slug, conversation.public_id]),
        "tune_url": f"{tune}?{urlencode(words | past)}" if words or past else tune,
        "words_query": urlencode(words),
        "here_query": urlencode(words | ({"at": asked} if asked else {})),
    }


def _followed(
    conversation: Session, phrase: Phrase, at: int | None, span: Span | None, project: Project
) -> dict[str, Any]:
    found = follow_fact(session=conversation, phrase=phrase, at=at)
    following = found.following
    intervals, hits = following.intervals, following.hits
    words = told(intervals, hits[0].position if hits else None)
    is_missing = any(each.is_forgotten for each in intervals) or following.is_missing_next
    prompt, _ = plan_or_refusal(conversation)
    apart = {} if is_missing else _apart(conversation, phrase, {hit.position for hit in hits})
    rows = interval_rows(following, found.turn)
    return {
        "following": following,
        "said": hits,
        "headline": _headline(following, rows, words, found.turn),
        "is_missing": is_missing,
        "is_also": not is_missing and _is_also(conversation, found, has_apart=bool(apart.get("apart"))),
        "counts": _counts(following),
        "intervals": rows,
        "is_summarized_away": following.is_summarized_away_at(found.turn),
        "is_missing_there": following.is_forgotten_at(found.turn),
        "stream": fact_stream(
            session=conversation,
            phrase=phrase,
            hits=hits,
            told=list(zip(intervals, words, strict=True)),
            prompt=prompt,
            opened=span,
        ),
        "tighter": _tighter(conversation),
        "focus": found.turn,
        "ways": way_rows(
            conversation, found.ways, found.turn, phrase.words, may_edit=project.may_edit, now=timezone.now()
        ),
        "elsewhere": found.elsewhere,
        "is_said": following.is_said,
        **apart,
    }


def _headline(following: Following, rows: Sequence[IntervalRow], words: Sequence[str], turn: int | None) -> str:
    if following.is_missing_next and not any(each.is_forgotten for each in following.intervals):
        return f"Missing in the next prompt: {rows[-1].words}"
    return headline(following.intervals, words, turn)


def _is_also(conversation: Session, found: FollowedFact, *, has_apart: bool) -> bool:
    """Whether what else says it, or most of it, comes before the news that no prompt lacked it.

    It does where no prompt has had it yet, or where only a parent's run may be what was told first.
    """
    following = found.following
    first = following.hits[0].position if following.hits else 0
    is_own = first > (conversation.forked_at or 0)
    if any(each.place in (Place.WORDS, Place.SUMMARY) for each in following.intervals):
        return is_own and any(each.is_above for each in found.elsewhere)
    return bool(found.elsewhere) or has_apart


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
