"""Deleting many sessions, each wholly or not at all, until the time is up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sessions_app.domain.errors import NotFound, SessionHasChildren
from sessions_app.models import Project, Session
from sessions_app.services.session_deletion import Children, delete_session


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many of the sessions were deleted, with others `below` them; how many were `kept`, since they have children.

    `left` are the keys of those that there was no time for.
    """

    deleted: int
    below: int
    kept: int
    left: Sequence[int]


def delete_sessions(
    *,
    project: Project,
    session_pks: Sequence[int],
    children: Children,
    now: datetime,
    goes_on: Callable[[], bool],
) -> Deleted:
    """Delete sessions of a project, the deepest first, so that none is kept for children that are to go as well.

    `goes_on` is asked before each. What others have deleted meanwhile is in none of the counts.
    """
    rows = Session.objects.filter(project=project, pk__in=session_pks).order_by("-depth", "pk")
    waiting = list(rows.only("pk", "root", "project"))
    deleted = below = kept = done = 0
    for session in waiting:
        if not goes_on():
            break
        done += 1
        try:
            below += delete_session(session=session, now=now, children=children) - 1
            deleted += 1
        except SessionHasChildren:
            kept += 1
        except NotFound:
            continue
    return Deleted(deleted, below, kept, left=[session.pk for session in waiting[done:]])
