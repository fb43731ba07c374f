"""What a session's next prompt looks like, worked out after each change and stored for lists."""

from typing import Any

from sessions_app.domain.errors import ConvowebError, NotFound
from sessions_app.domain.memory_settings import settings_hash
from sessions_app.domain.plan import Part, PromptPlan
from sessions_app.models import Session
from sessions_app.services.prompts import as_stored, effective_settings, session_plan


def refresh_snapshot(*, session: Session) -> int:
    """Store the figures of the session's next prompt, or why it cannot be built, unless they are of its present state.

    With them stands the wish that they fulfil: while another one stands, they are those of an earlier state.
    Return the newest run that this prompt loses, 0 if it loses none.
    """
    try:
        with as_stored(session) as stored:
            snapshot = _snapshot(stored)
    except NotFound:
        return 0
    if snapshot != stored.prompt_snapshot:
        Session.objects.filter(pk=stored.pk).update(prompt_snapshot=snapshot)
    return int(snapshot.get("lost_through", 0))


def _snapshot(session: Session) -> dict[str, Any]:
    values = effective_settings(session=session).values
    state = {
        "position": session.last_position,
        "settings": settings_hash(values),
        "changed": session.updated_at.isoformat(),
        "entry": session.summary_id,
        "wish": session.summary_wanted_at and session.summary_wanted_at.isoformat(),
    }
    earlier = session.prompt_snapshot or {}
    # What parents hand down changes without the session.
    if state.items() <= earlier.items() and not values.include_parent_context:
        return earlier
    try:
        return state | _figures(session_plan(session=session))
    except ConvowebError as refusal:
        return state | {"error": refusal.detail}


def _figures(plan: PromptPlan) -> dict[str, Any]:
    return {
        "summary": plan.covers_through,
        "total": plan.tokens.total,
        "budget": plan.budget,
        "parts": {part.value: getattr(plan.tokens, part.value) for part in Part},
        "unseen": plan.unseen,
        "lost": sum(fates.count for fates in plan.lost),
        "lost_through": plan.lost[-1].last if plan.lost else 0,
        "reserve": plan.reserve,
        "error": None,
    }
