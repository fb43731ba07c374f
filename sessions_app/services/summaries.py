"""Moving a session's summary on: one step at a time, safe against failures, crashes and other workers."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any

from django.db.models import Q

from sessions_app.domain.budget import stored_budget
from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.facts.report import KeptReport, from_stored, kept, to_stored
from sessions_app.domain.language_models import language_model
from sessions_app.domain.memory_settings import EffectiveSettings, MemorySettings
from sessions_app.domain.plan import PromptPlan
from sessions_app.domain.summaries import (
    Standing,
    SummaryRequest,
    accepted_text,
    next_step,
    standing_of,
)
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.domain.transcript import Run as RunValue
from sessions_app.models import (
    ProjectSummarizer,
    Run,
    Session,
    SessionTranscript,
    Summary,
    lineage_of,
    lineage_runs,
)
from sessions_app.services import summarizers, summary_claims
from sessions_app.services.adoption import adopt
from sessions_app.services.project_summarizers import summarizer_of
from sessions_app.services.prompts import effective_settings, session_plan
from sessions_app.services.snapshots import refresh_snapshot
from sessions_app.services.summary_claims import Claim

SWEEP_LIMIT = 2_000


class Outcome(StrEnum):
    """What became of one step."""

    ADVANCED = "advanced"
    NOTHING_DUE = "nothing due"
    BACKING_OFF = "backing off"
    BUSY = "busy"
    FAILED = "failed"
    GONE = "gone"


def due_sessions(*, now: datetime) -> list[int]:
    """Return the keys of sessions whose wish for a summary waits and may be tried now, the oldest wishes first."""
    may_be_tried = Q(next_attempt_at=None) | Q(next_attempt_at__lte=now)
    waiting = Session.objects.exclude(summary_wanted_at=None).filter(may_be_tried, project__deleted_at=None)
    waiting = waiting.order_by("summary_wanted_at", "pk")
    return list(waiting.values_list("pk", flat=True)[:SWEEP_LIMIT])


def advance(*, session_pk: int, now: datetime) -> Outcome:
    """Take the next step of summarizing that is due in a session; the summarizer is called outside a transaction.

    If none is, the figures of the next prompt are stored and the wish rests.
    """
    rows = Session.objects.select_related("project", "summary").filter(project__deleted_at=None)
    session = rows.filter(pk=session_pk).first()
    if session is None:
        return Outcome.GONE
    if session.summary_wanted_at is None:
        # Of many messages for many changes all but the first find nothing to do.
        return Outcome.NOTHING_DUE
    if session.next_attempt_at is not None and session.next_attempt_at > now:
        return Outcome.BACKING_OFF
    effective = effective_settings(session=session)
    settings = effective.values
    rests = summary_claims.rests(session, _newest_entry(session))
    chosen = summarizer_of(session.project)
    batch = summarizers.batch_tokens(chosen=chosen, settings=settings, previous=_text_before(session))
    standing = _standing(session, effective)
    through = None if rests else _due_through(session, settings, standing, batch)
    if through is None:
        # Before the wish rests, so that it stands as long as these figures are not those of the change it came from.
        standing = replace(standing, lost_through=refresh_snapshot(session=session))
        through = None if rests else _due_through(session, settings, standing, batch)
    if through is None:
        return Outcome.NOTHING_DUE if summary_claims.settle(session=session, now=now) else Outcome.BUSY
    if adopt(session=session, finished_through=standing.finished_through, now=now):
        return Outcome.ADVANCED
    held = summary_claims.claim(session=session, through=through, chosen=chosen, now=now)
    return Outcome.BUSY if held is None else _work(held, chosen, settings, now)


def _text_before(session: Session) -> str:
    return session.summary.text if session.summary else ""


def _standing(session: Session, effective: EffectiveSettings) -> Standing:
    return standing_of(
        SessionTranscript(session),
        budget=stored_budget(effective),
        continuing=_continues(session),
        asked_through=session.summarize_through,
    )


def _newest_entry(session: Session) -> Summary | None:
    return session.summaries.order_by("number").only("status", "ended_at").last()


def due_under(*, session: Session, overrides: Mapping[str, Any], plan: PromptPlan | None) -> tuple[int, int] | None:
    """Return the first and the last run that are summarized once these settings are saved, or None if none is.

    `plan` is the next prompt under them, None if there can be none. Runs that the settings in force summarize as well
    do not count. Where runs would be lost, more than these may be summarized, since the summary needs room too; a fork
    may adopt one instead.
    """
    first, through = _all_due(session, overrides, lambda: _lost_in(plan))
    saved = max(first - 1, _all_due(session, {}, lambda: _lost_in(_plan_of(session)))[1])
    return (saved + 1, through) if through > saved else None


def _all_due(session: Session, overrides: Mapping[str, Any], lost_through: Callable[[], int]) -> tuple[int, int]:
    """Return the first run behind the summary in use and the last that is summarized, whatever number of steps."""
    effective = effective_settings(session=session, overrides=overrides)
    settings = effective.values
    standing = standing_of(SessionTranscript(session), budget=stored_budget(effective))
    through = _due_through(session, settings, standing, sys.maxsize)
    if through is None:
        standing = replace(standing, lost_through=lost_through())
        through = _due_through(session, settings, standing, sys.maxsize)
    return standing.covered_through + 1, through or standing.covered_through


def _lost_in(plan: PromptPlan | None) -> int:
    return max((fates.last for fates in plan.gap), default=0) if plan else 0


def _plan_of(session: Session) -> PromptPlan | None:
    try:
        return session_plan(session=session)
    except ConvowebError:
        return None


def _due_through(session: Session, settings: MemorySettings, standing: Standing, batch_tokens: int) -> int | None:
    waiting = _waiting_tokens(session, standing.covered_through + 1, standing.finished_through)
    return next_step(standing=standing, settings=settings, waiting=waiting, batch_tokens=batch_tokens)


def _continues(session: Session) -> bool:
    """Whether the summary in use was made for the wish that still stands."""
    made_at = session.summary.ended_at if session.summary else None
    return made_at is not None and session.summary_wanted_at is not None and made_at > session.summary_wanted_at


def _waiting_tokens(session: Session, first: int, last: int) -> Iterator[int]:
    for stretch in reversed(lineage_of(session)):
        bounds = (max(first, stretch.first), min(last, stretch.last))
        runs = Run.objects.filter(session=stretch.session, position__range=bounds).order_by("position")
        yield from runs.values_list("tokens_o200k", flat=True).iterator(chunk_size=200)


def _work(held: Claim, chosen: ProjectSummarizer, settings: MemorySettings, now: datetime) -> Outcome:
    began = time.monotonic()
    try:
        with summary_claims.renewing(held):
            request = _request(held, settings)
            made = summarizers.summarize(
                session=held.session,
                chosen=chosen,
                request=request,
                is_wanted=partial(summary_claims.is_held, held),
                now=now,
            )
            text = accepted_text(clean_text(made.text), request)
            facts = kept(previous=_facts_before(held), runs=request.runs, text=text)
    except Exception as error:  # noqa: BLE001 (whatever a summarizer raises, the runs stay and it is tried again)
        summary_claims.fail(held=held, error=error, took=_since(began), now=now)
        return Outcome.FAILED
    done = summary_claims.complete(
        held=held,
        made=replace(made, text=text),
        facts=to_stored(facts),
        tokens=STORED_COUNTER.text(text),
        tokens_before=STORED_COUNTER.text(held.previous) + sum(run.tokens for run in request.runs),
        took=_since(began),
        now=now,
    )
    return Outcome.ADVANCED if done else Outcome.BUSY


def _facts_before(held: Claim) -> KeptReport | None:
    head = held.session.summary
    return from_stored(head.facts or None) if head else None


def _since(began: float) -> timedelta:
    return timedelta(seconds=time.monotonic() - began)


def _request(held: Claim, settings: MemorySettings) -> SummaryRequest:
    counter = language_model(settings.model).counter
    return SummaryRequest(
        previous=held.previous,
        runs=_runs(held),
        max_tokens=settings.max_summary_tokens,
        count_tokens=lambda text: counter.scaled(counter.text(text)),
    )


def _runs(held: Claim) -> tuple[RunValue, ...]:
    wanted = range(held.first, held.through + 1)
    rows = lineage_runs(held.session, first=held.first, last=held.through)
    runs = tuple(row.to_value() for row in rows.with_events().order_by("position"))
    if [run.position for run in runs] != list(wanted):
        raise LookupError(f"Not all of the runs {held.first} to {held.through} are there any more.")
    return runs
