"""A real session on a real SQLite database that grows from one length to the next."""

import time
from dataclasses import dataclass

from django.utils import timezone

from benchmarks.conversations import Length, turns
from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Project, Session
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session

BATCH = 1000


@dataclass
class GrowingSession:
    """`write_seconds` is what storing one run took, counted over the newest growth."""

    session: Session
    length: Length = Length.SHORT
    write_seconds: float = 0.0

    def grow(self, runs: int) -> Session:
        """Append turns up to a length and return the session as it is stored then."""
        missing = turns(runs, self.length)[self.session.last_position :]
        new_runs = [simple_turn(question, answer) for question, answer in missing]
        start = time.perf_counter()
        for first in range(0, len(new_runs), BATCH):
            append_runs(session=self.session, runs=new_runs[first : first + BATCH], now=timezone.now())
        if new_runs:
            self.write_seconds = (time.perf_counter() - start) / len(new_runs)
        self.session = Session.objects.select_related("project").get(pk=self.session.pk)
        return self.session


def new_session(name: str, length: Length = Length.SHORT) -> GrowingSession:
    """Return an empty session in a project of its own."""
    project = Project.objects.create(slug=name, name=name.title())
    return GrowingSession(create_session(project=project, public_id=name, now=timezone.now()), length)
