"""What runs were asked."""

from collections.abc import Sequence

from django.db.models.functions import Left

from sessions_app.domain.transcript import EventKind, Role
from sessions_app.models import Event, Session, lineage_runs_at

INPUT_SHOWN = 200


def run_inputs(session: Session, positions: Sequence[int]) -> dict[int, str]:
    """Return the beginning of each run's first user message, by position."""
    places = dict(lineage_runs_at(session, positions).values_list("pk", "position"))
    said = Event.objects.filter(run__in=places, kind=EventKind.MESSAGE, role=Role.USER).order_by("-index")
    starts = said.annotate(start=Left("text", INPUT_SHOWN)).values_list("run", "start")
    return {places[run]: start for run, start in starts}
