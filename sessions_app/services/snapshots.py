"""What a session's next prompt looks like, worked out after each change and stored for lists."""

from typing import Any

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.memory_settings import settings_hash
from sessions_app.domain.plan import Fate, Part, Prompt
from sessions_app.models import Session
from sessions_app.services.prompts import effective_settings, session_prompt


def refresh_snapshot(*, session: Session) -> None:
    """Store the measures of the session's next prompt, or why it cannot be built.

    With them stands the wish that they fulfil: while another one stands, they are those of an earlier state.
    """
    values, wish = effective_settings(session=session).values, session.summary_wanted_at
    snapshot: dict[str, Any] = {
        "position": session.last_position,
        "settings": settings_hash(values),
        "wish": wish and wish.isoformat(),
    }
    try:
        snapshot |= _measures(session_prompt(session=session))
    except ConvowebError as refusal:
        snapshot |= {"error": refusal.detail}
    Session.objects.filter(pk=session.pk).update(prompt_snapshot=snapshot)


def _measures(prompt: Prompt) -> dict[str, Any]:
    return {
        "summary": prompt.covers_through,
        "total": prompt.tokens.total,
        "budget": prompt.budget,
        "parts": {part.value: getattr(prompt.tokens, part.value) for part in Part},
        "unseen": prompt.unseen,
        "lost": sum(fates.count for fates in prompt.fates if fates.fate is Fate.LOST),
        "reserve": _reserve(prompt),
        "error": None,
    }


def _reserve(prompt: Prompt) -> int:
    """Return the tokens kept free for the answer if the model's window is what limits the prompt, else 0."""
    values = prompt.settings.values
    limit = values.max_input_tokens
    window_binds = limit is None or (prompt.window is not None and prompt.window - values.reserve_output_tokens < limit)
    return values.reserve_output_tokens if window_binds else 0
