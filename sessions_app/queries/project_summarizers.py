"""What the page of a project's summarizer offers: names of models, and sessions to show templates on."""

from collections.abc import Sequence

from sessions_app.domain.identifiers import is_legal_id
from sessions_app.models import Project, Session
from sessions_app.queries.language_models import known_models

SAMPLES = 20
SUGGESTIONS = 40


def suggestions(*, project: Project, words: str) -> list[str]:
    """Return names of models that contain the words."""
    return [model.name for model in known_models(project=project, words=words, after="", count=SUGGESTIONS)]


def samples(*, project: Project, public_id: str | None) -> tuple[Session | None, Sequence[Session]]:
    """Return the session that is asked for and those to choose from: the ones that changed last and have runs.

    Without an id the newest is taken; an empty id, or one that is no session's, takes none.
    """
    with_runs = Session.objects.filter(project=project, last_position__gt=0).order_by("-updated_at", "-pk")
    newest = list(with_runs[:SAMPLES])
    if public_id is None:
        return (newest[0] if newest else None), newest
    wanted = with_runs.filter(public_id=public_id).first() if is_legal_id(public_id) else None
    return wanted, newest if wanted is None or wanted in newest else [wanted, *newest]
