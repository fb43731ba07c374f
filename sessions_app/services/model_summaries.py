"""Summaries that a language model writes: one call for each piece of the runs, each with the text so far."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.conf import settings as configuration

from sessions_app.clients import endpoints
from sessions_app.clients.endpoints import Endpoint
from sessions_app.domain.errors import SummarizerFailed
from sessions_app.domain.language_models import LanguageModel, ModelFacts, language_model
from sessions_app.domain.summaries import Summarized, SummaryRequest, accepted_text
from sessions_app.domain.summarizers.openai import (
    ASSUMED_WINDOW,
    Form,
    ModelAnswer,
    ModelRequest,
    judged,
    model_request,
    pieces_of,
)
from sessions_app.domain.summarizers.templates import BUILT_IN_REQUEST, template_version
from sessions_app.models import ModelOverride, ProjectSummarizer, Session
from sessions_app.services import summarizer_answers


@dataclass(frozen=True, slots=True)
class Paid:
    """A text, and what it cost; `is_kept` says that it is an answer that was paid for before."""

    text: str
    cost_usd: Decimal | None
    is_kept: bool = False


def summarize(
    *,
    session: Session,
    chosen: ProjectSummarizer,
    request: SummaryRequest,
    is_wanted: Callable[[], bool],
    now: datetime,
) -> Summarized:
    """Return what the chosen model makes of a request, or raise SummarizerFailed with what was paid in vain."""
    form = form_of(chosen)
    paid = Paid(request.previous, Decimal(0), is_kept=True)
    for runs in pieces_of(request, form):
        if not is_wanted():
            raise SummarizerFailed("It was stopped before all was asked.", cost_usd=paid.cost_usd)
        call = model_request(request, form, text_so_far=paid.text, runs=runs)
        try:
            answer = _answer(session, chosen, call, request, now)
        except SummarizerFailed as failure:
            failure.cost_usd = _sum(paid.cost_usd, failure.cost_usd)
            raise
        paid = Paid(answer.text, _sum(paid.cost_usd, answer.cost_usd), paid.is_kept and answer.is_kept)
    return Summarized(paid.text, form.model, template_version(form.template), paid.cost_usd, from_cache=paid.is_kept)


def form_of(chosen: ProjectSummarizer) -> Form:
    """Return how the chosen model is asked."""
    model = model_of(chosen)
    window = model.window or ASSUMED_WINDOW
    return Form(chosen.model, window, model.counter, chosen.request_template or BUILT_IN_REQUEST)


def model_of(chosen: ProjectSummarizer) -> LanguageModel:
    """Return the chosen model; what the choice says of it wins over what the project says of it elsewhere."""
    facts = ModelOverride.objects.filter(project=chosen.project_id).facts_of(chosen.model)
    own = ModelFacts(
        chosen.context_window or facts.context_window,
        _first(chosen.input_price, facts.input_price),
        # A price of one's own for what is read says that no other table's holds.
        _first(chosen.input_price, facts.cached_input_price),
        _first(chosen.output_price, facts.output_price),
    )
    return language_model(chosen.model).with_facts(own)


def cost_of(*, chosen: ProjectSummarizer, request: ModelRequest, answer: ModelAnswer, now: datetime) -> Decimal | None:
    """Return what a call cost in USD by the tokens that the endpoint tells or else by ours; None if it is not known."""
    form = form_of(chosen)
    given, made = answer.input_tokens, answer.output_tokens
    given = form.request_tokens(request.text) if given is None else given
    made = form.count(answer.text) if made is None else made
    cached = min(answer.cached_tokens, given)
    return model_of(chosen).prices(now=now).cost(input_tokens=given, cached=cached, output_tokens=made)


def endpoint_of(chosen: ProjectSummarizer) -> Endpoint:
    """Return the endpoint that is chosen, as the operator lists it now."""
    url = configuration.CONVOWEB_ENDPOINTS.get(chosen.endpoint)
    if url is None:
        known = ", ".join(configuration.CONVOWEB_ENDPOINTS) or "none"
        raise SummarizerFailed(f"The operator lists no endpoint {chosen.endpoint!r} (listed: {known}).")
    return Endpoint(chosen.endpoint, url, configuration.CONVOWEB_ENDPOINT_KEYS.get(chosen.endpoint))


def _answer(
    session: Session, chosen: ProjectSummarizer, call: ModelRequest, request: SummaryRequest, now: datetime
) -> Paid:
    """Return an answer that is good enough, kept from before or asked for; a new one is kept at once."""
    endpoint = endpoint_of(chosen)
    request_hash = summarizer_answers.hash_of(url=endpoint.url, request=call)
    kept = summarizer_answers.kept_answer(session=session, request_hash=request_hash)
    if kept is not None:
        return Paid(accepted_text(kept, request), Decimal(0), is_kept=True)
    answer = endpoints.ask(endpoint, call, timeout=chosen.timeout_seconds)
    cost = cost_of(chosen=chosen, request=call, answer=answer, now=now)
    try:
        text = judged(answer, request)
    except SummarizerFailed as failure:
        failure.cost_usd = cost
        raise
    # Before anything else can happen to this worker, so that no other pays again.
    summarizer_answers.keep_answer(session=session, request_hash=request_hash, text=text, now=now)
    return Paid(text, cost)


def _sum(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return None if one is None or other is None else one + other


def _first(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return other if one is None else one
