"""The wish that what follows from a session be worked out anew: its summary, and the figures of its next prompt.

It is written by the transaction of whatever may alter these, and stays until they are worked out, so that a sweeper
finds it; a message on commit only hurries the work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q

from sessions_app import clients
from sessions_app.clients import Work
from sessions_app.domain.memory_settings import Strategy
from sessions_app.models import Project, Session
from sessions_app.models.sessions import SessionQuerySet
from sessions_app.services.trees import lock_tree

_many: ContextVar[bool] = ContextVar("many", default=False)


def lock_for_change(*, session: Session, now: datetime, active: bool = True) -> Session:
    """Lock a session's tree for a change of the session, wish for what follows from it, return what is stored.

    `active` says whether the change belongs to its conversation, and not only to how that is kept or looked at.
    """
    stored = lock_tree(session=session, now=now if active else None)
    stored.summary_wanted_at = now
    if active:
        stored.updated_at = now
    stored.save(update_fields=["updated_at", "summary_wanted_at"])
    hurry(Work.SUMMARIZE, stored.pk)
    return stored


def hurry(work: Work, *ids: int) -> None:
    """Ask for work as soon as the transaction has committed that wrote the wish for it."""
    if not _many.get():
        transaction.on_commit(partial(clients.publish, work, *ids), robust=True)


def wish_for_all(*, sessions: SessionQuerySet, now: datetime) -> None:
    """Wish for what follows from a change elsewhere: of the project, or of a parent."""
    # Locked in this order, which is that of everybody who locks a root before what stands below it.
    ordered = sessions.order_by("pk").select_for_update().values("pk")
    if Session.objects.filter(pk__in=ordered).update(summary_wanted_at=now):
        hurry(Work.SWEEP)


def wish_for_hearers(*, session: Session, now: datetime) -> None:
    """Wish for the sessions below whose prompts may carry the session's title and summary."""
    below, project = Session.objects.in_tree_of(session).filter(depth__gt=session.depth), session.project
    hearing = _has(project, "include_parent_context", value=True)
    hearing |= _has(project, "strategy", value=Strategy.HIERARCHICAL.value)
    wish_for_all(sessions=below.filter(hearing), now=now)


def _has(project: Project, setting: str, *, value: Any) -> Q:
    """Return the condition of the project's sessions in which a setting has another value than the built-in one."""
    own = Q(**{f"settings__{setting}": value})
    return own | ~Q(settings__has_key=setting) if project.settings.get(setting) == value else own


@contextmanager
def many_wishes() -> Iterator[None]:
    """Hurry what is wished for inside the block by one sweep at its end; a message for each would be too many."""
    token = _many.set(True)
    try:
        yield
    finally:
        _many.reset(token)
        clients.publish(Work.SWEEP)
