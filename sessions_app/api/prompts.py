"""Prompts: what to send to the model next."""

from django.utils import timezone
from ninja import Body, Query, Router

from sessions_app.api.access import READ, ApiRequest
from sessions_app.api.comparison_schemas import ComparisonIn, ComparisonOut, comparison_out
from sessions_app.api.lookups import find_session
from sessions_app.api.profiles import PROFILE, with_profile
from sessions_app.api.prompt_schemas import PromptIn, PromptOut, PromptParameters, prompt_out
from sessions_app.api.setting_schemas import SettingParameters
from sessions_app.domain.base_messages import Base
from sessions_app.domain.errors import at
from sessions_app.domain.setting_values import setting_from_text
from sessions_app.services.comparisons import compare_prompts
from sessions_app.services.prompts import session_prompt

router = Router(tags=["prompts"])


@router.post("/sessions/{session_id}/prompt", auth=READ, response=PromptOut, by_alias=True)
def build(
    request: ApiRequest,
    session_id: str,
    payload: PromptIn = Body(PromptIn()),  # noqa: B008 (how ninja marks a body)
) -> PromptOut:
    """Build the prompt to send next. Nothing is stored."""
    session = find_session(request, session_id)
    with at("/settings"):
        overrides = with_profile(request, payload.settings)
    prompt = session_prompt(
        session=session,
        overrides=overrides,
        query=payload.query,
        context=payload.context,
        tools=payload.tools,
        instructions=payload.instructions,
        base=None if payload.base is None else Base(payload.base.messages, payload.base.index),
        shorten=payload.shorten,
        at=payload.at,
    )
    return prompt_out(prompt)


@router.get("/sessions/{session_id}/prompt", auth=READ, response=PromptOut, by_alias=True)
def show(
    request: ApiRequest, session_id: str, settings: Query[SettingParameters], asked: Query[PromptParameters]
) -> PromptOut:
    """Build the context for a question to come, or the prompt of a turn, with settings as query parameters."""
    session = find_session(request, session_id)
    given = settings.model_dump(exclude_none=True)
    named = {} if asked.profile is None else {PROFILE: asked.profile}
    overrides = with_profile(request, named | {name: setting_from_text(name, text) for name, text in given.items()})
    return prompt_out(session_prompt(session=session, overrides=overrides, shorten=asked.shorten, at=asked.at))


@router.post("/sessions/{session_id}/prompt/compare", auth=READ, response=ComparisonOut, by_alias=True)
def compare(request: ApiRequest, session_id: str, payload: ComparisonIn) -> ComparisonOut:
    """Build the prompt under two settings, and say in what they differ. Nothing is stored."""
    session = find_session(request, session_id)
    with at("/a"):
        a = with_profile(request, payload.a)
    with at("/b"):
        b = with_profile(request, payload.b)
    compared = compare_prompts(session=session, a=a, b=b, query=payload.query, at=payload.at, now=timezone.now())
    return comparison_out(compared)
