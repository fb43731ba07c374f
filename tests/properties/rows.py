"""Conversations in the database: parents, forks of forks that share runs, and what a parent goes on to say."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from sessions_app.domain.transcript import NewRun, RunStatus
from sessions_app.models import Project, Session, SessionTranscript, Summary
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session
from tests.factories import NOW, make_project
from tests.properties.engine import Engine, engine_over, event_value, in_memory

_numbers = count(1)
# Position 0 is nobody's: what a fork may never see.
AFTERWARDS = NewRun(
    (
        event_value(
            {"kind": "message", "role": "user", "text": "q0n1z Later.", "content": None, "call": None, "parent": None}
        ),
    )
)


def forks_from_rows(conversation: Mapping[str, Any]) -> Engine:
    """Return the engine over rows for a fork, over memory for any other conversation."""
    return from_rows(conversation) if conversation["shared"] is not None else engine_over(in_memory(conversation))


def from_rows(conversation: Mapping[str, Any]) -> Engine:
    """Return the engine over rows; a fork shares its first runs with its parent, which is a fork itself."""
    parent = _parents(make_project(f"p{next(_numbers)}"), conversation)
    runs, shared = list(map(_new_run, conversation["runs"])), conversation["shared"]
    session, own, holders = parent, runs, []
    if shared is not None:
        between = _forked_behind(parent, runs[:shared]) if shared % 2 else _forked_within(parent, runs[:shared])
        session, own = _child(between, forked_at=shared, instructions=conversation["instructions"]), runs[shared:]
        holders = [parent, between]
    append_runs(session=session, runs=own, now=NOW)
    # A past turn that is shared has the summaries of whoever holds its run.
    for each in (*holders, session):
        _summarize(each, conversation["summaries"])
    return engine_over(SessionTranscript(Session.objects.get(pk=session.pk)))


def _forked_within(root: Session, shared: Sequence[NewRun]) -> Session:
    """Return a fork that holds the second half of the shared runs itself."""
    half = len(shared) // 2
    append_runs(session=root, runs=[*shared[:half], AFTERWARDS], now=NOW)
    between = _child(root, forked_at=half)
    append_runs(session=between, runs=[*shared[half:], AFTERWARDS], now=NOW)
    return between


def _forked_behind(root: Session, shared: Sequence[NewRun]) -> Session:
    """Return a fork that shares more with the root than is shared with it."""
    append_runs(session=root, runs=[*shared, AFTERWARDS, AFTERWARDS], now=NOW)
    between = _child(root, forked_at=len(shared) + 1)
    append_runs(session=between, runs=[AFTERWARDS], now=NOW)
    return between


def _child(parent: Session, **fields: Any) -> Session:
    return create_session(project=parent.project, now=NOW, parent=parent, **fields)


def _new_run(run: Mapping[str, Any]) -> NewRun:
    return NewRun(tuple(map(event_value, run["events"])), RunStatus(run["status"]), error=run["error"])


def _parents(project: Project, conversation: Mapping[str, Any]) -> Session:
    """Store the parents, root first, and under them the session itself, or what it is a fork of."""
    parent = None
    for each in conversation["parents"]:
        parent = create_session(project=project, now=NOW, parent=parent, title=each["title"])
        append_runs(session=parent, runs=[AFTERWARDS], now=NOW)
        _summarize(parent, [{"number": 1, "covers_through": 1, "text": each["text"]}])
    return create_session(project=project, now=NOW, parent=parent, instructions=conversation["instructions"])


def _summarize(session: Session, entries: Sequence[Mapping[str, Any]]) -> None:
    """Store the chain of entries in use."""
    newest = None
    for each in entries:
        newest = Summary.objects.create(
            session=session, status="completed", predecessor=newest, created_at=NOW, ended_at=NOW, **each
        )
    Session.objects.filter(pk=session.pk).update(summary=newest)
