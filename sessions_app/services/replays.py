"""What other settings would have done over a session's whole conversation."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sessions_app.domain.errors import settings_at
from sessions_app.domain.memory_settings import EffectiveSettings
from sessions_app.domain.replays.effort import milliseconds
from sessions_app.domain.replays.replay import check_replayable, replay
from sessions_app.domain.replays.replayed import Replay
from sessions_app.models import Session, SessionRecording
from sessions_app.services.prompts import as_stored, effective_settings
from sessions_app.services.summarizers import BATCH_TOKENS


def replay_session(*, session: Session, settings: Mapping[str, Mapping[str, Any]], now: datetime) -> Sequence[Replay]:
    """Replay a session, from one state, under each of the sparse settings over those that are saved.

    They are named by the pointers to them, such as "/a", which stand in refusals.
    """
    with as_stored(session) as stored:
        effective = [_replayable(stored, pointer, overrides) for pointer, overrides in settings.items()]
        return replay(SessionRecording(stored), effective, batch_tokens=BATCH_TOKENS, now=now)


def replay_milliseconds(*, session: Session, overrides: Mapping[str, Any]) -> float:
    """Return about how long replaying a session under sparse settings takes, or raise why they cannot be replayed."""
    effective = effective_settings(session=session, overrides=overrides)
    return milliseconds(effective, turns=session.last_position, tokens=session.lineage_tokens)


def _replayable(session: Session, pointer: str, overrides: Mapping[str, Any]) -> EffectiveSettings:
    with settings_at(pointer):
        effective = effective_settings(session=session, overrides=overrides)
        check_replayable(effective)
    return effective
