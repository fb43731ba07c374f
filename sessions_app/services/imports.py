"""Bringing conversations of files in: once each, and only what is new of those that grew."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog
from django.db import InterfaceError, OperationalError, transaction

from sessions_app.domain.conversation_files import Conversation, FileFormat
from sessions_app.domain.errors import Conflict, HistoryChanged, InvalidInput, NotFound
from sessions_app.domain.histories import answered_calls, growth
from sessions_app.domain.identifiers import is_legal_id
from sessions_app.domain.json_streams import Found
from sessions_app.domain.open_runs import Continuation
from sessions_app.domain.run_fields import check_new_run
from sessions_app.domain.session_fields import LONGEST
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.domain.transcript import NewRun, RunStatus
from sessions_app.models import ImportOutcome, Project, Run, Session, Summary, SummaryStatus, event_values
from sessions_app.services.run_rows import continue_run
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session
from sessions_app.services.trees import lock_tree

log = structlog.get_logger(__name__)

RUNS_AT_ONCE = 200
ATTEMPTS = 5
NO_PARENT = "Its parent was not imported before it, so it stands by itself."
SKIPPED = (ImportOutcome.CHANGED, ImportOutcome.INVALID)


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one conversation, and how many runs and tool calls came in with it."""

    outcome: ImportOutcome
    title: str = ""
    detail: str = ""
    session: Session | None = None
    new_runs: int = 0
    new_calls: int = 0


@dataclass(frozen=True, slots=True)
class PreparedRow:
    """A row of a file read and weighed, ready to be stored in a short transaction; or the reason why it cannot be."""

    place: int
    conversation: Conversation | None
    title: str
    error: str = ""


def prepare_row(*, file_format: FileFormat, found: Found) -> PreparedRow:
    """Read the conversation of a row; touches no database."""
    title = _title_of(found)
    if found.error:
        return PreparedRow(found.place, None, title, found.error)
    try:
        conversation = file_format.conversation(found.value)
        weighed = replace(conversation, runs=tuple(map(check_new_run, conversation.runs)))
    except InvalidInput as error:
        return PreparedRow(found.place, None, title, error.detail)
    except Exception as error:
        log.exception("row_not_read", place=found.place)
        return PreparedRow(found.place, None, title, _unexpected(error))
    return PreparedRow(found.place, weighed, title)


def import_row(*, project: Project, file_format: FileFormat, row: PreparedRow, now: datetime) -> Imported:
    """Store a prepared row, or say why nothing of it was stored."""
    if row.conversation is None:
        return Imported(ImportOutcome.INVALID, row.title, row.error)
    try:
        return import_conversation(project=project, source=file_format.name, conversation=row.conversation, now=now)
    except HistoryChanged as error:
        known = _known(project, file_format.name, row.conversation)
        return Imported(ImportOutcome.CHANGED, row.title, error.detail, known)
    except InvalidInput as error:
        return Imported(ImportOutcome.INVALID, row.title, error.detail)
    except (OperationalError, InterfaceError):
        raise  # The database is away or busy, which says nothing about the row.
    except Exception as error:
        log.exception("row_not_imported", place=row.place)
        return Imported(ImportOutcome.INVALID, row.title, _unexpected(error))


def import_conversation(*, project: Project, source: str, conversation: Conversation, now: datetime) -> Imported:
    """Create a prepared conversation's session, or give the one it became before what is new; one transaction.

    Title, tags and instructions of a session that is there stay as they are. Raises HistoryChanged, and writes nothing,
    if the stored runs say otherwise than the conversation.
    """
    for _ in range(ATTEMPTS):
        known = _known(project, source, conversation)
        try:
            if known is None:
                return _create(project, source, conversation, now)
            if (extended := _extend(known, conversation, now)) is not None:
                return extended
        except NotFound:
            continue
        except Conflict as conflict:
            if known is not None:
                raise HistoryChanged(conflict.detail) from conflict
    raise HistoryChanged("The stored conversation is being changed by others at this moment; import it again later.")


def _known(project: Project, source: str, conversation: Conversation) -> Session | None:
    return Session.objects.filter(project=project, source=source, source_id=conversation.source_id).first()


def _create(project: Project, source: str, conversation: Conversation, now: datetime) -> Imported:
    wanted, parent_id = conversation.given_id, conversation.parent_source_id
    parent = Session.objects.filter(project=project, source=source, source_id=parent_id).first() if parent_id else None
    is_free = is_legal_id(wanted) and not Session.objects.filter(project=project, public_id=wanted).exists()
    with transaction.atomic():
        session = create_session(
            project=project,
            now=now,
            public_id=wanted if is_free else None,
            title=conversation.title,
            parent=parent,
            instructions=conversation.instructions,
            user_id=conversation.user_id,
            tags=conversation.tags,
            metadata=conversation.metadata,
            source=source,
            source_id=conversation.source_id,
        )
        append_runs(session=session, runs=conversation.runs, now=now)
        began = conversation.created_at or next((run.created_at for run in conversation.runs if run.created_at), None)
        if began is not None:
            Session.objects.filter(pk=session.pk).update(created_at=began)
    imported = _result(ImportOutcome.IMPORTED, session, conversation, conversation.runs)
    if parent_id and parent is None:
        return replace(imported, detail=f"{NO_PARENT} {imported.detail}".strip())
    return imported


def _extend(session: Session, conversation: Conversation, now: datetime) -> Imported | None:
    """Add what is new; None if the session was changed by others meanwhile, so that it has to be compared again."""
    new = growth(stored=_stored_runs(session), count=session.own_run_count, given=conversation.runs)
    if not new:
        return _result(ImportOutcome.UNCHANGED, session, conversation, ())
    with transaction.atomic():
        stored = lock_tree(session=session, now=now)
        if (stored.last_position, stored.updated_at) != (session.last_position, session.updated_at):
            transaction.set_rollback(True)
            return None
        calls = 0 if new.grown is None else _grow_newest(stored, new.grown, now)
        append_runs(session=stored, runs=new.new_runs, now=now)
    extended = _result(ImportOutcome.EXTENDED, session, conversation, new.new_runs)
    return replace(extended, new_calls=extended.new_calls + calls)


def _stored_runs(session: Session) -> Iterator[NewRun]:
    rows = Run.objects.with_events().filter(session=session).order_by("position")
    return (row.to_new_value() for row in rows.iterator(chunk_size=RUNS_AT_ONCE))


def _grow_newest(session: Session, given: NewRun, now: datetime) -> int:
    """Write what the session's newest run has more in the file; return how many tool calls that were."""
    run = Run.objects.with_events().get(session=session, position=session.last_position)
    _check_may_grow(session, run)
    rows = list(run.events.all())
    answered = frozenset(answered_calls(event_values(rows), given.events))
    more = Continuation(given.events, len(rows), answered, ())
    continue_run(run=run, rows=rows, more=more, now=now)
    Run.objects.filter(pk=run.pk).update(extras=given.extras)
    return sum(event.tool is not None for event in more.new)


def _check_may_grow(session: Session, run: Run) -> None:
    """Refuse where others build on the run as it is."""
    summaries = Summary.objects.exclude(status=SummaryStatus.FAILED).filter(session=session)
    reason = ""
    if RunStatus(run.status).is_open:
        reason = "it is still being answered here"
    elif Session.objects.filter(parent=session, forked_at__gte=run.position).exists():
        reason = "a fork shares it as it is"
    elif summaries.filter(covers_through__gte=run.position).exists():
        reason = "a summary covers it as it is"
    if reason:
        raise HistoryChanged(f"Run {run.position} has more messages in the file, but {reason}.")


def _result(outcome: ImportOutcome, session: Session, conversation: Conversation, runs: Sequence[NewRun]) -> Imported:
    notes = list(conversation.notes)
    if session.instructions != conversation.instructions:
        notes.append("The instructions differ from the stored ones, which stay.")
    calls = sum(event.tool is not None for run in runs for event in run.events)
    return Imported(outcome, str(session), " ".join(notes), session, len(runs), calls)


def _unexpected(error: Exception) -> str:
    """Say that one row has met an error of ours, so that it costs a line of the report and not the file."""
    return f"It cannot be imported, which is our mistake and logged: {type(error).__name__}."


def _title_of(found: Found) -> str:
    """Return what a row calls itself, for the report."""
    row = found.value if isinstance(found.value, Mapping) else {}
    names = (row.get(field) for field in ("title", "id"))
    text = next((str(name) for name in names if isinstance(name, str | int) and str(name).strip()), "")
    return clean_text(text)[: LONGEST["title"]]
