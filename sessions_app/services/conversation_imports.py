"""Bringing one conversation in: created once, and later given only what is new of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from sessions_app.domain.conversation_files import Conversation
from sessions_app.domain.errors import Conflict, HistoryChanged, NotFound
from sessions_app.domain.histories import answered_calls, growth
from sessions_app.domain.identifiers import is_legal_id
from sessions_app.domain.open_runs import Continuation
from sessions_app.domain.transcript import NewRun, RunStatus
from sessions_app.models import ImportOutcome, Project, Run, Session, Summary, SummaryStatus, event_values
from sessions_app.services.run_rows import continue_run
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session
from sessions_app.services.trees import lock_tree

RUNS_AT_ONCE = 200
ATTEMPTS = 5
NO_PARENT = "Its parent was not imported before it, so it stands by itself."
CHANGED_MEANWHILE = "The stored conversation is being changed by others at this moment; import it again later."


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one conversation, and how many runs and tool calls came in with it."""

    outcome: ImportOutcome
    title: str = ""
    detail: str = ""
    session: Session | None = None
    new_runs: int = 0
    new_calls: int = 0


def import_conversation(*, project: Project, source: str, conversation: Conversation, now: datetime) -> Imported:
    """Create a prepared conversation's session, or give the one it became before what is new; one transaction.

    Title, tags and instructions of a session that is there stay as they are. Raises HistoryChanged, and writes nothing,
    if the stored runs say otherwise than the conversation.
    """
    for _ in range(ATTEMPTS):
        known = known_session(project, source, conversation)
        try:
            if known is None:
                return create(project, source, conversation, now)
            if (extended := extend(known, conversation, now)) is not None:
                return extended
        except NotFound:
            continue
        except Conflict as conflict:
            if known is not None:
                raise HistoryChanged(conflict.detail) from conflict
    raise HistoryChanged(CHANGED_MEANWHILE)


def known_session(project: Project, source: str, conversation: Conversation) -> Session | None:
    """Return the session that a conversation became before."""
    return Session.objects.filter(project=project, source=source, source_id=conversation.source_id).first()


def create(project: Project, source: str, conversation: Conversation, now: datetime) -> Imported:
    """Create a conversation's session with its runs."""
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
    imported = result_of(ImportOutcome.IMPORTED, session, conversation, conversation.runs)
    if parent_id and parent is None:
        return replace(imported, detail=f"{NO_PARENT} {imported.detail}".strip())
    return imported


def extend(session: Session, conversation: Conversation, now: datetime) -> Imported | None:
    """Add what is new; None if the session was changed by others meanwhile, so that it has to be compared again."""
    new = growth(stored=_stored_runs(session), count=session.own_run_count, given=conversation.runs)
    if not new:
        return result_of(ImportOutcome.UNCHANGED, session, conversation, ())
    with transaction.atomic():
        stored = lock_tree(session=session, now=now)
        if (stored.last_position, stored.updated_at) != (session.last_position, session.updated_at):
            transaction.set_rollback(True)
            return None
        calls = 0 if new.grown is None else _grow_newest(stored, new.grown, now)
        append_runs(session=stored, runs=new.new_runs, now=now)
    extended = result_of(ImportOutcome.EXTENDED, session, conversation, new.new_runs)
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


def result_of(outcome: ImportOutcome, session: Session, conversation: Conversation, runs: Sequence[NewRun]) -> Imported:
    """Say what became of a conversation whose given runs are new."""
    notes = list(conversation.notes)
    if session.instructions != conversation.instructions:
        notes.append("The instructions differ from the stored ones, which stay.")
    calls = sum(event.tool is not None for run in runs for event in run.events)
    return Imported(outcome, str(session), " ".join(notes), session, len(runs), calls)
