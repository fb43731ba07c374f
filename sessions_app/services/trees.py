"""The lock under which anything in a tree of sessions changes."""

from datetime import datetime

from sessions_app.domain.errors import NotFound
from sessions_app.models import Session


def lock_tree(*, session: Session, now: datetime) -> Session:
    """Lock the session's tree by its root's row, mark it active at `now`, and return the session as it is stored.

    Taken first by everything that writes into a tree, so that such transactions wait for each other and never in a
    circle. The root may have been deleted in the meantime; then the session stands in another tree.
    """
    root_id = session.root_id or session.pk
    while True:
        Session.objects.filter(pk=root_id).update(tree_active_at=now)
        stored = Session.objects.select_for_update().filter(pk=session.pk).first()
        if stored is None:
            raise NotFound("There is no such session.")
        if stored.root_id == root_id:
            return stored
        root_id = stored.root_id or stored.pk


def lock_tree_of(*, session: Session) -> None:
    """Lock the tree of a session that may be gone by now, for a change that is none of its people's.

    Nobody who holds a row below waits for its root, so whoever goes on to other rows of the tree takes this first.
    """
    Session.objects.select_for_update().filter(pk=session.root_id or session.pk).first()
