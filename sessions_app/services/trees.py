"""The lock under which anything in a tree of sessions changes."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sessions_app.domain.errors import NotFound
from sessions_app.models import Session
from sessions_app.models.sessions import SessionQuerySet


def lock_tree(*, session: Session, now: datetime | None) -> Session:
    """Lock the session's tree by its root's row and return the session as it is stored.

    Taken first by everything that writes into a tree, so that such transactions wait for each other and never in a
    circle. The tree is marked active at `now`; None is for what is no part of its conversations.
    """
    stored = _locked(session, lambda root: root.update(tree_active_at=now)) if now else lock_tree_of(session=session)
    if stored is None:
        raise NotFound("There is no such session.")
    return stored


def lock_tree_of(*, session: Session) -> Session | None:
    """Lock the tree of a session for a change that is none of its people's; None if the session is gone by now.

    Nobody who holds a row below waits for its root, so whoever goes on to other rows of the tree takes this first.
    """
    return _locked(session, lambda root: root.select_for_update().first())


def _locked(session: Session, lock: Callable[[SessionQuerySet], Any]) -> Session | None:
    """Lock the root, then the session; a root deleted in the meantime has left the session in another tree."""
    root_id = session.root_id or session.pk
    while True:
        lock(Session.objects.filter(pk=root_id))
        # One that is in another project by now was deleted, and waits there for what removes it.
        rows = Session.objects.select_for_update().filter(pk=session.pk, project=session.project_id)
        stored = rows.first()
        if stored is None or stored.root_id == root_id:
            return stored
        root_id = stored.root_id or stored.pk
