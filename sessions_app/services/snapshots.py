"""What a session's next prompt looks like, worked out after each change and stored for lists."""

import hashlib
from typing import Any

from sessions_app.domain.cut_results import count_cut_results
from sessions_app.domain.errors import ConvowebError, NotFound
from sessions_app.domain.memory_settings import settings_hash
from sessions_app.domain.plan import Part, Prompt
from sessions_app.models import Session
from sessions_app.services.prompts import as_stored, effective_settings, session_plan

_COLUMNS = {"unseen_runs": "unseen", "lost_runs": "lost", "cut_results": "cut"}


def refresh_snapshot(*, session: Session) -> int:
    """Store the figures of the session's next prompt, or why it cannot be built; return through which run it loses any.

    With them stands the wish that they fulfil: while another one stands, they are those of an earlier state. They are
    not worked out again while nothing has changed.
    """
    try:
        with as_stored(session) as stored:
            snapshot = _snapshot(stored)
    except NotFound:
        return 0
    if snapshot != stored.prompt_snapshot:
        counted = {column: snapshot.get(name, 0) for column, name in _COLUMNS.items()}
        Session.objects.filter(pk=stored.pk).update(prompt_snapshot=snapshot, **counted)
    return int(snapshot.get("lost_through", 0))


def _snapshot(session: Session) -> dict[str, Any]:
    settings, wish = effective_settings(session=session), session.summary_wanted_at
    state = {
        "position": session.last_position,
        "settings": settings_hash(settings.values),
        "window": settings.model.window,
        "template": hashlib.sha256(settings.summary_template.encode()).hexdigest()[:16],
        "changed": session.updated_at.isoformat(),
        "entry": session.summary_id,
    }
    earlier = session.prompt_snapshot or {}
    # What parents hand down changes without the session.
    is_same = state.items() <= earlier.items() and not settings.values.takes_parents
    # Figures of earlier versions may not have it.
    is_same = is_same and ("cut" in earlier or earlier["error"] is not None)
    return state | (earlier if is_same else _figures(session)) | {"wish": wish and wish.isoformat()}


def _figures(session: Session) -> dict[str, Any]:
    try:
        plan = session_plan(session=session)
    except ConvowebError as refusal:
        return {"error": refusal.detail}
    return {
        "summary": plan.covers_through,
        "total": plan.tokens.total,
        "budget": plan.budget,
        "parts": {part.value: getattr(plan.tokens, part.value) for part in Part},
        "unseen": plan.unseen,
        "lost": sum(fates.count for fates in plan.lost),
        # Where results may be cut, a plan is always a built prompt.
        "cut": count_cut_results(plan) if isinstance(plan, Prompt) else 0,
        "lost_through": plan.gap[-1].last if plan.gap else 0,
        "reserve": plan.reserve,
        "error": None,
    }
