"""Facts: where the prompts of a session had some words, and what brings them back."""

from django.utils import timezone
from ninja import Query, Router

from sessions_app.api.access import READ, ApiRequest
from sessions_app.api.fact_schemas import FactsQuery, FollowedOut, followed_out
from sessions_app.api.lookups import find_session
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.following.phrase import read_phrase
from sessions_app.models.connections import one_state
from sessions_app.services.ways_back import follow_fact

router = Router(tags=["prompts"])


@router.get("/sessions/{session_id}/facts", auth=READ, response=FollowedOut)
def facts(request: ApiRequest, session_id: str, asked: Query[FactsQuery]) -> FollowedOut:
    """Follow words over the turns of a session. Nothing is stored."""
    with one_state():
        session, phrase = find_session(request, session_id), read_phrase(asked.words)
        if phrase is None:
            detail = "Give the words to follow; they must not be blank."
            raise InvalidInput(detail, errors=[FieldError("/words", detail)])
        return followed_out(follow_fact(session=session, phrase=phrase, at=asked.at), now=timezone.now())
