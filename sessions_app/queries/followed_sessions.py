"""What a page of a session that goes on asks for again and again: whether anything changed, and the end of its runs."""

from collections.abc import Sequence
from hashlib import blake2s

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from sessions_app.models import Project, Session
from sessions_app.queries.stream_items import Folded, Shown, StreamItem

MOST_FOLLOWED = 200
_STATE = ("last_position", "updated_at", "settings", "summary_id", "next_attempt_at", "rests_since")
_STATE_OF_PROJECT = "project__settings"


def state_of(session: Session) -> str:
    """Return a word that changes whenever anything does that the page of a session shows of its runs."""
    return _word([*(getattr(session, name) for name in _STATE), session.project.settings])


def state_now(*, user: AbstractBaseUser | AnonymousUser, slug: str, session_id: str) -> str | None:
    """Return that word as it is now, by one query; None if there is no such session that the user may see."""
    projects = Project.objects.visible_to(user).filter(slug=slug)
    row = (
        Session.objects.filter(project__in=projects, public_id=session_id)
        .values_list(*_STATE, _STATE_OF_PROJECT)
        .first()
    )
    return None if row is None else _word(list(row))


def with_tail(items: Sequence[StreamItem]) -> tuple[Sequence[StreamItem], Sequence[StreamItem]]:
    """Cut a stream behind its last folded line: what stands before, and the newest runs one by one."""
    folded = [place for place, item in enumerate(items) if isinstance(item, Folded)]
    start = folded[-1] + 1 if folded else 0
    return items[:start], items[start:]


def first_run_of(tail: Sequence[StreamItem], session: Session) -> int:
    """Return the oldest run of a stream's end; of an empty one, the run that is still to come."""
    shown = (item.run.position for item in tail if isinstance(item, Shown))
    return next(shown, session.last_position + 1)


def _word(values: Sequence[object]) -> str:
    return blake2s(repr(values).encode(), digest_size=8).hexdigest()
