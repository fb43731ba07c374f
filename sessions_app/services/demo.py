"""The demo project: invented conversations with forks, tools, failures, summaries, so that every page has something."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall
from sessions_app.models import Membership, Project, Session
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session
from sessions_app.services.settings import save_project_settings
from sessions_app.services.summaries import Outcome, advance

CONVERSATIONS = Path(__file__).parents[1] / "demo"
SLUG = "demo"
FIRST_CONVERSATION = "Lost bag on a connection, claim 7731"
AGE = timedelta(days=14)
# What was saved on the first days, and why.
SAVED: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("A small model answers within four thousand tokens.", {"max_input_tokens": 4000}),
    ("Bookings below a trip did not know the trip.", {"include_parent_context": True}),
)
MODEL = "gpt-4.1-mini"
# So many turns come in before summarizing is looked at again, so that a ledger grows as it does beside a bot.
TURNS_AT_ONCE = 6


@transaction.atomic
def load_demo(*, owner: User, now: datetime) -> Project:
    """Return the demo project, made on the first call; its conversations end shortly before `now`."""
    project, is_new = Project.objects.get_or_create(slug=SLUG, defaults={"name": "Aldera Air (demo)"})
    Membership.objects.get_or_create(project=project, user=owner)
    if is_new:
        _set_up(project, owner, now)
        sessions: dict[str, Session] = {}
        for path in sorted(CONVERSATIONS.glob("*.json")):
            given = json.loads(path.read_text(encoding="utf-8"))
            sessions[given["id"]] = _load(project, given, sessions.get(given.get("parent")), now)
    return project


def _set_up(project: Project, owner: User, now: datetime) -> None:
    """Give the project an age beyond that of its conversations, and its settings two versions."""
    project.created_at = now - AGE
    project.save(update_fields=["created_at"])
    for days, (note, changes) in enumerate(SAVED):
        saved_at = project.created_at + timedelta(days=days)
        save_project_settings(project=project, changes=changes, now=saved_at, actor=owner.get_username(), note=note)


def _load(project: Project, given: Mapping[str, Any], parent: Session | None, now: datetime) -> Session:
    pace = timedelta(minutes=given["pace"])
    end = now - timedelta(minutes=given["minutes_ago"])
    start = end - pace * len(given["turns"])
    session = create_session(
        project=project,
        now=start,
        public_id=given["id"],
        title=given["title"],
        parent=parent,
        forked_at=given.get("forked_at"),
        instructions=given["instructions"],
        user_id=given["user_id"],
        tags=given["tags"],
        metadata=given.get("metadata"),
        settings=given["settings"],
    )
    turns = [_run(turn, start + pace * number) for number, turn in enumerate(given["turns"], 1)]
    for first in range(0, len(turns), TURNS_AT_ONCE):
        batch = turns[first : first + TURNS_AT_ONCE]
        said_at = start + pace * (first + len(batch))
        append_runs(session=session, runs=batch, now=said_at)
        _summarize(session, said_at)
    session.refresh_from_db()
    return session


def _run(turn: Mapping[str, Any], created_at: datetime) -> NewRun:
    return NewRun(
        tuple(_events(turn)),
        status=RunStatus(turn.get("status", RunStatus.COMPLETED)),
        model=MODEL,
        error=turn.get("error", ""),
        created_at=created_at,
    )


def _events(turn: Mapping[str, Any]) -> Iterator[Event]:
    yield Event(EventKind.MESSAGE, turn["input"], Role.USER)
    calls = turn.get("calls", [])
    if calls:
        yield Event(EventKind.MESSAGE, "", Role.ASSISTANT)
    for number, call in enumerate(calls, 1):
        yield Event(EventKind.TOOL_CALL, tool=_call(call, number), parent=1)
    if "output" in turn:
        yield Event(EventKind.MESSAGE, turn["output"], Role.ASSISTANT)


def _call(call: Mapping[str, Any], number: int) -> ToolCall:
    result = json.dumps(call["result"], ensure_ascii=False) if "result" in call else None
    return ToolCall(
        f"call_{number}",
        call["name"],
        json.dumps(call["arguments"], ensure_ascii=False),
        result,
        error=call.get("error"),
    )


def _summarize(session: Session, now: datetime) -> None:
    while advance(session_pk=session.pk, now=now) is Outcome.ADVANCED:
        pass
