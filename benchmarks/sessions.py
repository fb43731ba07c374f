"""A real session on a real SQLite database that grows from one length to the next."""

import time
from dataclasses import dataclass

from django.utils import timezone

from benchmarks.conversations import turns
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Project, Session
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session

BATCH = 1000


@dataclass
class GrowingSession:
    """`write_seconds` is what storing one run took, counted over the newest growth."""

    session: Session
    write_seconds: float = 0.0

    def grow(self, length: int) -> Session:
        """Append turns up to a length and return the session as it is stored then."""
        missing = turns(length)[self.session.last_position :]
        runs = [simple_turn(question, answer) for question, answer in missing]
        start = time.perf_counter()
        for first in range(0, len(runs), BATCH):
            append_runs(session=self.session, runs=runs[first : first + BATCH], now=timezone.now())
        if runs:
            self.write_seconds = (time.perf_counter() - start) / len(runs)
        self.session = Session.objects.select_related("project").get(pk=self.session.pk)
        return self.session


def new_session(name: str) -> GrowingSession:
    """Return an empty session in a project of its own."""
    project = Project.objects.create(slug=name, name=name.title())
    return GrowingSession(create_session(project=project, public_id=name, now=timezone.now()))
