"""Sessions as the text of a file, read while it is written out: memory does not grow with what is exported."""

from collections.abc import Generator, Iterator, Sequence
from functools import partial

from django.db.models import Sum

from sessions_app.domain.conversation_files import ExportFormat, StoredConversation, file_name
from sessions_app.domain.transcript import NewRun
from sessions_app.models import Project, Session
from sessions_app.models.connections import one_state
from sessions_app.models.lineages import Stretch, lineage_of

_SESSIONS_AT_ONCE = 200
_RUNS_AT_ONCE = 100


def exported(*, session_pks: Sequence[int], file_format: ExportFormat) -> Generator[str, None, None]:
    """Yield the text of sessions in this order, from one state of the database; deleted ones are left out."""
    with one_state():
        for start in range(0, len(session_pks), _SESSIONS_AT_ONCE):
            some = session_pks[start : start + _SESSIONS_AT_ONCE]
            rows = Session.objects.filter(pk__in=some).prefetch_related("tags").in_bulk()
            for pk in some:
                if pk in rows:
                    yield from file_format.write(_conversation(rows[pk]))


def run_count(session_pks: Sequence[int]) -> int:
    """Return how many runs the lineages of sessions have together."""
    some = (session_pks[start : start + _SESSIONS_AT_ONCE] for start in range(0, len(session_pks), _SESSIONS_AT_ONCE))
    rows = (Session.objects.filter(pk__in=pks).aggregate(runs=Sum("last_position")) for pks in some)
    return sum(row["runs"] or 0 for row in rows)


def export_name(session_pks: Sequence[int], project: Project, file_format: ExportFormat) -> str:
    """Return the name of the file: that of the one session, else of the project and how many there are."""
    only = (
        Session.objects.only("title", "public_id").filter(pk=session_pks[0]).first() if len(session_pks) == 1 else None
    )
    return file_name(str(only or f"{project.slug} {len(session_pks)} sessions"), suffix=file_format.suffix)


def _conversation(session: Session) -> StoredConversation:
    return StoredConversation(
        session_id=session.public_id,
        runs=partial(_runs, lineage_of(session)),
        instructions=session.instructions,
        title=session.title,
        user_id=session.user_id,
        tags=tuple(tag.name for tag in session.tags.all()),
        metadata=session.metadata,
    )


def _runs(stretches: Sequence[Stretch]) -> Iterator[NewRun]:
    for stretch in reversed(stretches):
        rows = stretch.runs.with_events().order_by("position")
        yield from (row.to_new_value() for row in rows.iterator(chunk_size=_RUNS_AT_ONCE))
