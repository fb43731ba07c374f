"""What other settings would have done over a session's whole conversation.

Short replays are computed at once. Of long ones a process computes one at a time, so that it goes on answering others.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from threading import Semaphore
from typing import Any

from sessions_app.domain.errors import ReplayIsBusy, settings_at
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.replays.effort import milliseconds
from sessions_app.domain.replays.replay import check_replayable, replay
from sessions_app.domain.replays.replayed import Replay
from sessions_app.models import Session, SessionRecording
from sessions_app.services.kept_replays import KeptReplays
from sessions_app.services.one_at_a_time import one_at_a_time
from sessions_app.services.prompts import as_stored, effective_settings
from sessions_app.services.summarizers import BATCH_TOKENS

LIVE = 1_500
"""Milliseconds of computing up to which replays are short."""
_LONG_ONES = Semaphore(1)
_KEPT = KeptReplays()
_BUSY = "Another long replay is being computed; the server does one at a time. Try again in a moment."


def replay_session(*, session: Session, settings: Mapping[str, Mapping[str, Any]], now: datetime) -> Sequence[Replay]:
    """Replay a session, from one state, under each of the sparse settings over those that are saved.

    They are named by the pointers to them, such as "/a", which stand in refusals. Raises ReplayIsBusy where it is long
    and another long one is being computed.
    """
    with as_stored(session) as stored:
        effective = [_replayable(stored, pointer, overrides) for pointer, overrides in settings.items()]
        if sum(_milliseconds(stored, each) for each in effective) <= LIVE:
            return _replayed(stored, effective, now)
        return _long_replays(stored, effective, now)


def replay_milliseconds(*, session: Session, overrides: Mapping[str, Any]) -> float:
    """Return about how long replaying a session under sparse settings takes, or raise why they cannot be replayed."""
    return _milliseconds(session, effective_settings(session=session, overrides=overrides))


def _milliseconds(session: Session, effective: EffectiveSettings) -> float:
    return milliseconds(effective, turns=session.last_position, tokens=session.lineage_tokens)


def _long_replays(session: Session, effective: Sequence[EffectiveSettings], now: datetime) -> Sequence[Replay]:
    keys = [_all_it_depends_on(session, each, now) for each in effective]
    found = {key: replay for key in keys if (replay := _KEPT.find(key)) is not None}
    missing = {key: each for key, each in zip(keys, effective, strict=True) if key not in found}
    if missing:
        with one_at_a_time(_LONG_ONES, ReplayIsBusy(_BUSY)):
            found |= zip(missing, _replayed(session, list(missing.values()), now), strict=True)
        for key in missing:
            _KEPT.keep(key, found[key])
    return [found[key] for key in keys]


def _all_it_depends_on(session: Session, effective: EffectiveSettings, now: datetime) -> str:
    """Name what a replay depends on: finished runs never change, and prices are those of a day."""
    values = effective.values
    parents = SessionRecording(session).parent_contexts(values.parent_depth) if values.takes_parents else []
    runs = (session.last_position, session.lineage_tokens, session.updated_at)
    facts = (values, effective.facts, effective.summary_template, parents, now.date())
    return repr((session.pk, session.public_id, session.instructions, runs, facts))


def _replayed(session: Session, effective: Sequence[EffectiveSettings], now: datetime) -> Sequence[Replay]:
    return replay(SessionRecording(session), effective, batch_tokens=BATCH_TOKENS, now=now)


def _replayable(session: Session, pointer: str, overrides: Mapping[str, Any]) -> EffectiveSettings:
    with settings_at(pointer):
        effective = effective_settings(session=session, overrides=overrides)
        check_replayable(effective)
    return effective
