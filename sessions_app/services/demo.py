"""The demo project: invented conversations with forks, tools, failures, summaries, so that every page has something.

In some of them the bot forgot what it was told, each for another cause.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from sessions_app.domain.roles import MemberRole
from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, RunStatus, ToolCall
from sessions_app.models import Membership, Project, Session
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session, update_session
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
    ("Long lists of offers push the turns out.", {"tool_result_max_tokens": 120}),
)
MODEL = "gpt-4.1-mini"
# So many turns come in before summarizing is looked at again where it keeps up with the talk; elsewhere it comes late.
TURNS_AT_ONCE = 6


@transaction.atomic
def load_demo(*, owner: User, now: datetime) -> Project:
    """Return the demo project, made on the first call; its conversations end shortly before `now`."""
    project, is_new = Project.objects.get_or_create(slug=SLUG, defaults={"name": "Aldera Air (demo)"})
    Membership.objects.get_or_create(project=project, user=owner, defaults={"role": MemberRole.OWNER})
    if is_new:
        _set_up(project, owner, now)
        sessions: dict[str, Session] = {}
        for path in sorted(CONVERSATIONS.glob("*.json")):
            given = json.loads(path.read_text(encoding="utf-8"))
            sessions[given["id"]] = _load(project, owner, given, sessions.get(given.get("parent")), now)
    return project


def _set_up(project: Project, owner: User, now: datetime) -> None:
    """Give the project an age beyond that of its conversations, and its settings their versions."""
    project.created_at = now - AGE
    project.save(update_fields=["created_at"])
    for days, (note, changes) in enumerate(SAVED):
        saved_at = project.created_at + timedelta(days=days)
        save_project_settings(project=project, changes=changes, now=saved_at, actor=owner.get_username(), note=note)


def _load(project: Project, owner: User, given: Mapping[str, Any], parent: Session | None, now: datetime) -> Session:
    pace, start = timedelta(minutes=given["pace"]), _start(given, now)
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
    for first, last in pairwise(_stops(given)):
        asked = _fingerprint(session, given, first)
        turns = enumerate(given["turns"][first:last], first + 1)
        runs = [_run(turn, start + pace * number, asked if number == first + 1 else "") for number, turn in turns]
        append_runs(session=session, runs=runs, now=start + pace * last)
        _save(session, owner, given, last, start + pace * (last + 0.5))
        if given.get("keeps_up") or last == len(given["turns"]):
            _summarize(session, start + pace * last)
    session.refresh_from_db()
    return session


def _start(given: Mapping[str, Any], now: datetime) -> datetime:
    """Return when a conversation began that ended so many minutes ago, or of which one turn has a time of its own."""
    pace = timedelta(minutes=given["pace"])
    if "minutes_ago" in given:
        return now - timedelta(minutes=given["minutes_ago"]) - pace * len(given["turns"])
    day = timezone.localtime(now) - timedelta(days=given["when"]["days_ago"])
    said_at = time.fromisoformat(given["when"]["time"])
    return day.replace(hour=said_at.hour, minute=said_at.minute, second=0, microsecond=0) - pace * given["when"]["turn"]


def _stops(given: Mapping[str, Any]) -> Sequence[int]:
    """Return the numbers of turns after which more happens than what is said: settings are saved, say."""
    turns = len(given["turns"])
    asked = [given["asked_about"] - 1] if "asked_about" in given else []
    summarized = range(0, turns, TURNS_AT_ONCE) if given.get("keeps_up") else ()
    return sorted({0, turns, *summarized, *asked, *(save["after"] for save in given.get("saved", ()))})


def _fingerprint(session: Session, given: Mapping[str, Any], before: int) -> str:
    """Return that of the prompt with which the bot asks for the turn that somebody complains of, else nothing."""
    if before + 1 != given.get("asked_about"):
        return ""
    return session_prompt(session=session, query=given["turns"][before]["input"]).fingerprint


def _save(session: Session, owner: User, given: Mapping[str, Any], turns: int, now: datetime) -> None:
    for save in given.get("saved", ()):
        if save["after"] == turns:
            changes = {"settings": save["settings"]}
            update_session(session=session, changes=changes, now=now, actor=owner.get_username(), note=save["note"])


def _run(turn: Mapping[str, Any], created_at: datetime, fingerprint: str) -> NewRun:
    return NewRun(
        tuple(_events(turn)),
        status=RunStatus(turn.get("status", RunStatus.COMPLETED)),
        model=MODEL,
        error=turn.get("error", ""),
        prompt_fingerprint=fingerprint,
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
