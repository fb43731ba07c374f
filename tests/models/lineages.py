"""Sessions that are forks and children of each other, with runs in them, row by row."""

from datetime import UTC, datetime

from sessions_app.domain.transcript import EventKind, Role, RunStatus
from sessions_app.models import Event, Run, Session, lineage_runs

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def make_session(project, name, *, parent=None, forked_at=None, runs=0, tokens=10):
    shared = parent_tokens(parent, forked_at)
    session = Session.objects.create(
        project=project,
        public_id=name,
        parent=parent,
        depth=parent.depth + 1 if parent else 0,
        forked_at=forked_at,
        last_position=forked_at or 0,
        shared_tokens_o200k=shared,
        created_at=NOW,
        updated_at=NOW,
        tree_active_at=NOW,
    )
    for _ in range(runs):
        add_run(session, tokens=tokens)
    return session


def parent_tokens(parent, forked_at):
    if not forked_at:
        return 0
    run = lineage_runs(parent).get(position=forked_at)
    return run.tokens_before_o200k + run.tokens_o200k


def add_run(session, *, tokens=10, status=RunStatus.COMPLETED, other_kinds=""):
    run = Run.objects.create(
        project=session.project,
        session=session,
        position=session.last_position + 1,
        status=status,
        other_kinds=other_kinds,
        tokens_o200k=tokens,
        tokens_before_o200k=session.lineage_tokens,
        created_at=NOW,
        touched_at=NOW,
    )
    Event.objects.create(
        run=run,
        index=0,
        kind=EventKind.MESSAGE,
        role=Role.USER,
        text=f"{session.public_id} {run.position}",
        tokens_o200k=tokens,
        created_at=NOW,
    )
    session.last_position += 1
    session.tokens_o200k += tokens
    session.save()
    return run
