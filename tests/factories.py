"""Makers of what tests need, through the services that the product itself uses."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.contrib.auth import get_user_model
from django.db import connection

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.roles import MemberRole
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Membership, Project, Summary, SummaryStatus
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session

MANY = 1000
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def make_project(slug="p", **columns):
    """Return a new project."""
    return Project.objects.create(slug=slug, name=columns.pop("name", slug.upper()), **columns)


def make_owner(project, name="mira"):
    """Return the user of a name, made if there is none, who owns the project."""
    user = get_user_model().objects.get_or_create(username=name)[0]
    Membership.objects.update_or_create(project=project, user=user, defaults={"role": MemberRole.OWNER})
    return user


def make_session(project=None, public_id="s", *, runs=0, now=NOW, **fields):
    """Return a new session with `runs` short turns; makes a project if none is given."""
    session = create_session(project=project or make_project(), public_id=public_id, now=now, **fields)
    if runs:
        append_turns(session, runs, now=now)
    session.refresh_from_db()
    return session


def append_turns(session, count=1, *, now=NOW):
    """Append turns "question n" / "answer n", n being their lineage position."""
    session.refresh_from_db()
    first = session.last_position + 1
    turns = [simple_turn(f"question {n}", f"answer {n}") for n in range(first, first + count)]
    appended = append_runs(session=session, runs=turns, now=now)
    analyze_if_many(count)
    return appended


def analyze_if_many(count):
    """Let PostgreSQL count new rows that no commit has shown to its housekeeping yet, so that it plans as in use."""
    if count >= MANY and connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def make_open_run(session, text="question", *, status=RunStatus.RUNNING, now=NOW, **fields):
    """Append a run that waits for its answer."""
    turn = replace(simple_turn(text, None), status=status, **fields)
    return append_runs(session=session, runs=[turn], now=now)[0]


def make_summary(session, number, covers, text, *, minute, **columns):
    """Return a new completed summary of a session's first runs, ended half a minute before that minute."""
    return Summary.objects.create(
        session=session,
        number=number,
        status=SummaryStatus.COMPLETED,
        covers_through=covers,
        text=text,
        summarizer="extractive",
        created_at=NOW,
        ended_at=NOW + timedelta(minutes=minute, seconds=-30),
        **columns,
    )
