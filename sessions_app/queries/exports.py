"""Sessions as the text of a file, read while it is written out: memory does not grow with what is exported."""

from collections.abc import Iterator, Sequence
from functools import partial

from sessions_app.domain.conversation_files import ExportFormat, StoredConversation, file_name
from sessions_app.domain.transcript import NewRun
from sessions_app.models import Project, Session
from sessions_app.models.connections import one_state
from sessions_app.models.lineages import Stretch, lineage_of

_SESSIONS_AT_ONCE = 200
_RUNS_AT_ONCE = 100


def exported(*, session_pks: Sequence[int], file_format: ExportFormat) -> Iterator[str]:
    """Yield the text of sessions in this order, from one state of the database; deleted ones are left out."""
    with one_state():
        for start in range(0, len(session_pks), _SESSIONS_AT_ONCE):
            some = session_pks[start : start + _SESSIONS_AT_ONCE]
            rows = Session.objects.filter(pk__in=some).prefetch_related("tags").in_bulk()
            for pk in some:
                if pk in rows:
                    yield from file_format.write(_conversation(rows[pk]))


def export_name(sessions: Sequence[Session], project: Project, file_format: ExportFormat) -> str:
    """Return the name of the file: that of the one session, else of the project and how many there are."""
    words = str(sessions[0]) if len(sessions) == 1 else f"{project.slug} {len(sessions)} sessions"
    return file_name(words, suffix=file_format.suffix)


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
