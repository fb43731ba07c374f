"""Replays: what settings would have done over a whole conversation."""

from django.utils import timezone
from ninja import Body, Router

from sessions_app.api.access import READ, ApiRequest
from sessions_app.api.lookups import find_session
from sessions_app.api.profiles import with_profile
from sessions_app.api.replay_schemas import ReplayIn, ReplayOut, TwoReplaysOut, replay_out
from sessions_app.domain.errors import at
from sessions_app.services.replays import replay_session

router = Router(tags=["prompts"])


@router.post("/sessions/{session_id}/replay", auth=READ, response=ReplayOut | TwoReplaysOut)
def replay(
    request: ApiRequest,
    session_id: str,
    payload: ReplayIn = Body(ReplayIn()),  # noqa: B008 (how ninja marks a body)
) -> ReplayOut | TwoReplaysOut:
    """Replay a session turn by turn, under one or two settings. Nothing is stored."""
    session = find_session(request, session_id)
    checked = {}
    for pointer, settings in payload.named().items():
        with at(pointer):
            checked[pointer] = with_profile(request, settings)
    first, *second = map(replay_out, replay_session(session=session, settings=checked, now=timezone.now()))
    return TwoReplaysOut(a=first, b=second[0]) if second else first
