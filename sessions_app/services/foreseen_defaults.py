"""What new defaults of a project would do to its sessions, tried on the newest of them before they are saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.errors import ConvowebError
from sessions_app.models import Project, Session
from sessions_app.services.prompts import session_plan

SAMPLE = 20
"""So many sessions are tried at most: each costs what deciding its next prompt costs."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Of the `tried` newest sessions that would change, how many newly lose runs, and how many have no prompt any more.

    Sessions whose next prompt loses runs, or cannot be built, as it is do not count as new.
    """

    tried: int
    losing: int
    refused: int


def foreseen_defaults(*, project: Project, changes: Mapping[str, Any]) -> Foreseen:
    """Decide the next prompts of the newest sessions that inherit any of the changed settings; writes nothing."""
    inheriting = Session.objects.filter(project=project, prompt_snapshot__isnull=False)
    inheriting = inheriting.exclude(settings__has_keys=list(changes)).order_by("-updated_at", "-id")
    found = [_lost(session, changes) for session in inheriting[:SAMPLE]]
    return Foreseen(len(found), sum(bool(lost) for lost in found), sum(lost is None for lost in found))


def _lost(session: Session, changes: Mapping[str, Any]) -> int | None:
    """Return how many runs are newly lost, None if there is newly no prompt."""
    snapshot = session.prompt_snapshot or {}
    if snapshot.get("error") is not None or session.lost_runs:
        return 0
    inherited = {name: value for name, value in changes.items() if name not in session.settings}
    try:
        return sum(fates.count for fates in session_plan(session=session, overrides=inherited).lost)
    except ConvowebError:
        return None
