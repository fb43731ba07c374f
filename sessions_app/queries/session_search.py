"""The sessions that somebody wants to jump to."""

from collections.abc import Sequence

from sessions_app.domain.search_words import read_query
from sessions_app.models import Project, Session
from sessions_app.models.search_index import sessions_called, sessions_with
from sessions_app.models.sessions import SessionQuerySet

FOUND_AT_ONCE = 6


def sessions_to_jump_to(*, project: Project, words: str) -> Sequence[Session]:
    """Return a few sessions: those called so, then those in which it was said; without words those active last."""
    if not words:
        return _newest(Session.objects.filter(project=project), FOUND_AT_ONCE)
    sought = read_query(words)
    called = _newest(sessions_called(sought, project_pk=project.pk), FOUND_AT_ONCE)
    others = sessions_with(sought, project_pk=project.pk).exclude(pk__in=[session.pk for session in called])
    return [*called, *_newest(others, FOUND_AT_ONCE - len(called))]


def _newest(sessions: SessionQuerySet, count: int) -> list[Session]:
    rows = sessions.order_by("-updated_at", "-id").only("public_id", "title", "last_position")
    return list(rows[:count]) if count else []
