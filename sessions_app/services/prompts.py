"""The built prompt of a session: the one function behind browser, API and tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings as configuration

from sessions_app.domain.base_messages import Base
from sessions_app.domain.builder import build_prompt
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.plan import Prompt
from sessions_app.domain.setting_values import check_settings, resolve_settings
from sessions_app.models import Session, SessionTranscript


def effective_settings(*, session: Session, overrides: Mapping[str, Any] | None = None) -> EffectiveSettings:
    """Return the values in force for a session's prompt and the layer of each; overrides are checked."""
    return resolve_settings(
        default_model=configuration.CONVOWEB_MODEL,
        project=session.project.settings,
        session=session.settings,
        request=check_settings(overrides or {}),
    )


def session_prompt(
    *,
    session: Session,
    overrides: Mapping[str, Any] | None = None,
    query: str | None = None,
    context: Sequence[str] = (),
    tools: Sequence[Mapping[str, Any]] = (),
    instructions: str | None = None,
    base: Base | None = None,
    shorten: bool = False,
    at: int | None = None,
) -> Prompt:
    """Build the session's next prompt, or that of the turn `at`; reads only.

    `overrides` are sparse settings for this time; the rest is as `build_prompt` takes it.
    """
    return build_prompt(
        reader=SessionTranscript(session),
        settings=effective_settings(session=session, overrides=overrides),
        query=query,
        context=context,
        tools=tools,
        instructions=instructions,
        base=base,
        shorten=shorten,
        at=at,
    )
