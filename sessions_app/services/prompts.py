"""The built prompt of a session: the one function behind browser, API and tasks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.conf import settings as configuration

from sessions_app.domain.base_messages import Base
from sessions_app.domain.builder import build_prompt, plan_prompt
from sessions_app.domain.errors import NotFound
from sessions_app.domain.memory_settings import LARGEST_INTEGER, EffectiveSettings, OnGap
from sessions_app.domain.plan import FateRange, Prompt, PromptPlan
from sessions_app.domain.run_tokens import are_exact
from sessions_app.domain.setting_values import check_settings, resolve_settings
from sessions_app.domain.settings_versions import VersionsOfTurn
from sessions_app.models import (
    InForce,
    Project,
    ProjectSummarizer,
    Session,
    SessionTranscript,
    lineage_runs,
    settings_at,
)
from sessions_app.models.connections import one_state
from sessions_app.queries.language_models import with_facts

QUESTION_TOKENS = 100


def effective_settings(*, session: Session, overrides: Mapping[str, Any] | None = None) -> EffectiveSettings:
    """Return the values in force for a session's prompt and the layer of each; overrides are checked.

    With them goes what the project says of the model, and how it introduces summaries, so that whoever decides by them
    knows it.
    """
    return _effective(session, session.project.settings, session.settings, overrides)


def settings_of_turn(*, session: Session, at: int, overrides: Mapping[str, Any] | None = None) -> EffectiveSettings:
    """Return the values that were in force when the run of turn `at` was made, wherever in its lineage that was.

    Where no version of then is known, what is saved today takes its place; `versions` say so.
    """
    run = lineage_runs(session).filter(position=at).select_related("session__project").first()
    if run is None:
        return effective_settings(session=session, overrides=overrides)
    project, own = settings_at(session=run.session, moment=run.created_at)
    effective = _effective(
        session,
        project.settings if project else session.project.settings,
        own.settings if own else session.settings,
        overrides,
    )
    return replace(effective, versions=_numbers(project, own))


def _numbers(project: InForce | None, own: InForce | None) -> VersionsOfTurn:
    return VersionsOfTurn(project=project.number if project else None, session=own.number if own else None)


def _effective(
    session: Session, project: Mapping[str, Any], own: Mapping[str, Any], overrides: Mapping[str, Any] | None
) -> EffectiveSettings:
    effective = resolve_settings(
        default_model=configuration.CONVOWEB_MODEL,
        project=project,
        session=own,
        request=check_settings(overrides or {}),
    )
    with_template = replace(effective, summary_template=summary_template_of(session.project))
    return with_facts(with_template, project_id=session.project_id)


def summary_template_of(project: Project) -> str:
    """Return how the project's prompts introduce a summary; empty: by its heading."""
    chosen: ProjectSummarizer | None = getattr(project, "summarizer", None)
    return chosen.summary_template if chosen else ""


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
    as_saved: bool = False,
) -> Prompt:
    """Build the session's next prompt, as it is stored now, or that of the turn `at`; reads only.

    `overrides` are sparse settings for once, over those of the turn, or if it is to be built `as_saved`, over those
    that are saved today; the rest is as `build_prompt` takes it.
    """
    with as_stored(session) as stored:
        if at is None or as_saved:
            settings = effective_settings(session=stored, overrides=overrides)
        else:
            settings = settings_of_turn(session=stored, at=at, overrides=overrides)
        return build_prompt(
            reader=SessionTranscript(stored),
            settings=settings,
            query=query,
            context=context,
            tools=tools,
            instructions=instructions,
            base=base,
            shorten=shorten,
            at=at,
        )


def session_plan(
    *, session: Session, overrides: Mapping[str, Any] | None = None, query: str | None = None
) -> PromptPlan:
    """Decide the session's next prompt, as it is stored now, without what is sent.

    It costs the same whatever is sent, but only where `domain.run_tokens.are_exact`; elsewhere the prompt is built.
    """
    with as_stored(session) as stored:
        settings = effective_settings(session=stored, overrides=overrides)
        return plan_prompt(reader=SessionTranscript(stored), settings=settings, query=query)


def limit_without_loss(*, session: Session) -> int | None:
    """Return a max_input_tokens under which the session's next prompt loses no run, or None if none was found.

    A run is lost also where an extract may stand in for it. Where nobody has asked yet, there is room for a question.

    Each limit is tried, since under a higher one a summary that was cut grows too; it gets at most half of what the
    fixed parts leave, so that room for all runs twice will do. Where trying costs more the more is sent, only limits up
    to twice the present budget are tried.
    """
    plan = _plan_without_extract(session)
    values, tokens = plan.settings.values, plan.tokens
    if values.max_input_tokens is None:
        return None
    counter = plan.settings.model.counter
    highest = LARGEST_INTEGER if are_exact(values, counter) else 2 * plan.budget
    lost = counter.scaled(sum(_stored_tokens(session, fates) for fates in plan.lost))
    question = 0 if tokens.query else QUESTION_TOKENS
    room_twice = tokens.total - tokens.summary - tokens.parent_context + tokens.runs + 2 * lost
    for limit in (tokens.total + lost + question, room_twice + question):
        if limit <= highest and not _plan_without_extract(session, max_input_tokens=limit).lost:
            return limit
    return None


def _plan_without_extract(session: Session, **overrides: int) -> PromptPlan:
    return session_plan(session=session, overrides={"on_gap": OnGap.WARN.value, **overrides})


def _stored_tokens(session: Session, fates: FateRange) -> int:
    with as_stored(session) as stored:
        return SessionTranscript(stored).tokens_between(fates.first, fates.last)


@contextmanager
def as_stored(session: Session) -> Iterator[Session]:
    """Read a session anew, with what belongs to it from the same state of the database."""
    with one_state():
        stored = Session.objects.select_related("project__summarizer").filter(pk=session.pk).first()
        if stored is None:
            raise NotFound("There is no such session.")
        yield stored
