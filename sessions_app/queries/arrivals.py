"""What came in since somebody began to wait for their bot."""

from dataclasses import dataclass
from datetime import datetime
from itertools import count

from django.db.models import Exists, F, OuterRef

from sessions_app.models import ApiKey, Project, Run, Session


@dataclass(frozen=True, slots=True)
class Arrival:
    """How far a bot has come since then: a session was created, or a session got a run; None where not yet."""

    key: ApiKey | None
    created: Session | None = None
    session: Session | None = None


def arrival(*, project: Project, since: datetime, key_id: str) -> Arrival:
    """Return what came to the project after `since`, and the key of that id, at a cost that does not grow."""
    key = ApiKey.objects.filter(project=project, key_id=key_id).first() if key_id else None
    changed = Session.objects.filter(project=project, updated_at__gt=since).order_by("-updated_at", "-pk")
    newest_run = Run.objects.filter(session=OuterRef("pk"), position=F("session__last_position"), touched_at__gt=since)
    session = changed.filter(Exists(newest_run)).first()
    created = None if session else changed.filter(created_at__gt=since).first()
    return Arrival(key, created, session)


def free_bot_name(*, project: Project) -> str:
    """Return a name that no key in force has."""
    taken = set(project.api_keys.filter(revoked_at=None, name__startswith="bot-").values_list("name", flat=True))
    return next(name for number in count(1) if (name := f"bot-{number}") not in taken)
