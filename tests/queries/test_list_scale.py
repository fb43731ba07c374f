"""The list costs as many queries, which read as many rows, for 100,000 sessions as for 1,000, whatever is filtered."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.transcript import RunStatus
from sessions_app.models import MetadataEntry, Run, Session, SessionTag
from sessions_app.models.metadata_entries import index_metadata
from sessions_app.queries.session_filters import SessionFilter, SessionSort, SessionView
from sessions_app.queries.sessions import session_page, sidebar
from tests.factories import NOW, analyze_if_many, make_project

pytestmark = pytest.mark.django_db
FEW, TIMES = 1_000, 100
LIMIT = 25

FILTERS = {
    **{f"all by {sort}": SessionFilter(sort=sort) for sort in SessionSort},
    "roots": SessionFilter(roots_only=True),
    "user": SessionFilter(user_id="u-3"),
    "tag": SessionFilter(tag="t-3"),
    "metadata": SessionFilter(metadata={"channel": "web"}),
    "failed": SessionFilter(status=RunStatus.FAILED),
    "completed": SessionFilter(status=RunStatus.COMPLETED),
    "running": SessionFilter(view=SessionView.RUNNING),
    "model": SessionFilter(model="m-3"),
    "children": SessionFilter(children=True),
    "lost": SessionFilter(lost=True),
    "unseen": SessionFilter(unseen=True),
    "own settings": SessionFilter(own_settings=True),
    "forks": SessionFilter(view=SessionView.FORKS),
    "parent": SessionFilter(parent_id="s-0"),
    "dates": SessionFilter(since=NOW + timedelta(seconds=10), until=NOW + timedelta(seconds=900)),
    "several": SessionFilter(tag="t-3", metadata={"channel": "web"}, since=NOW),
}


def some_sessions(project):
    """Make roots, each 26th session, and forks of the root before them, with a run and a tag each."""
    sessions = [
        Session(
            project=project,
            public_id=f"s-{n}",
            title=f"Title {n * 7919 % FEW}",
            depth=0 if n % 26 == 0 else 1,
            user_id=f"u-{n % 10}",
            metadata={"channel": "web" if n % 2 else "app"},
            settings={"max_runs": 5} if n % 3 == 0 else {},
            last_position=1,
            newest_model=f"m-{n % 10}",
            has_children=n % 26 == 0,
            lost_runs=int(n % 5 == 0),
            unseen_runs=int(n % 4 == 0),
            created_at=NOW + timedelta(seconds=n),
            updated_at=NOW + timedelta(seconds=n * 31 % FEW),
            tree_active_at=NOW + timedelta(seconds=n * 31 % FEW),
        )
        for n in range(FEW)
    ]
    Session.objects.bulk_create(sessions)
    for place, session in enumerate(sessions):
        root = sessions[place - place % 26]
        session.root = root
        if session is not root:
            session.parent, session.forked_at = root, 0
    Session.objects.bulk_update(sessions, ["root", "parent", "forked_at"])
    statuses = {0: "running", 1: "failed", 2: "cancelled"}
    Run.objects.bulk_create(
        Run(
            project=project,
            session=session,
            position=1,
            public_id=f"r-{place}",
            status=statuses.get(place % 20, "completed"),
            model=f"m-{place % 10}",
            tokens_before_o200k=0,
            created_at=NOW,
            touched_at=NOW,
        )
        for place, session in enumerate(sessions)
    )
    index_metadata(sessions)
    SessionTag.objects.bulk_create(
        SessionTag(session=session, name=f"t-{place % 7}") for place, session in enumerate(sessions)
    )


def multiply(small, big):
    """Copy all of a project into another, many times, inside the database."""
    shift = Session.objects.order_by("-pk").first().pk
    run_shift = Run.objects.order_by("-pk").first().pk
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {TIMES})"
    moved = {
        "id": f"id + {shift} * i",
        "project_id": str(big.pk),
        "public_id": "public_id || CASE WHEN i > 1 THEN '-' || i ELSE '' END",
    }
    copy(
        Session, numbers, small, {**moved, "root_id": f"root_id + {shift} * i", "parent_id": f"parent_id + {shift} * i"}
    )
    entry_shift = MetadataEntry.objects.order_by("-pk").first().pk
    copy(
        MetadataEntry,
        numbers,
        small,
        {
            "id": f"id + {entry_shift} * i",
            "project_id": moved["project_id"],
            "session_id": f"session_id + {shift} * i",
        },
    )
    copy(Run, numbers, small, {**moved, "id": f"id + {run_shift} * i", "session_id": f"session_id + {shift} * i"})
    with connection.cursor() as cursor:
        cursor.execute(
            f"{numbers} INSERT INTO sessions_app_sessiontag (session_id, name) "
            f"SELECT session_id + {shift} * i, name FROM sessions_app_sessiontag, n"
        )
    analyze_if_many(FEW * TIMES)


def copy(model, numbers, small, changed):
    columns = [field.column for field in model._meta.concrete_fields]
    chosen = ", ".join(changed.get(column, column) for column in columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f"{numbers} INSERT INTO {model._meta.db_table} ({', '.join(columns)}) "
            f"SELECT {chosen} FROM {model._meta.db_table}, n WHERE project_id = {small.pk}"
        )


def cost_of(project, wanted):
    """Return how many queries a page takes, and how many rows they bring."""
    with CaptureQueriesContext(connection) as captured:
        page = session_page(project=project, wanted=wanted, default_model="gpt-4.1", limit=LIMIT)
    assert page.shown >= LIMIT
    return len(captured), rows_in(captured)


def rows_in(captured):
    rows = 0
    with connection.cursor() as cursor:
        for query in captured.captured_queries:
            cursor.execute(f"SELECT COUNT(*) FROM ({query['sql']}) AS read")
            rows += cursor.fetchone()[0]
    return rows


def test_each_filter_costs_the_same_for_a_thousand_and_a_hundred_thousand_sessions():
    small, big = make_project("small"), make_project("big")
    some_sessions(small)
    multiply(small, big)
    for name, wanted in FILTERS.items():
        few, many = cost_of(small, wanted), cost_of(big, wanted)
        # Which ancestors lead to the rows depends on these: one query more, or a row for each.
        assert abs(many[0] - few[0]) <= 1, name
        assert many[1] <= few[1] + LIMIT, name
    costs = []
    for project in (small, big):
        with CaptureQueriesContext(connection) as captured:
            sidebar(project=project)
        costs.append((len(captured), rows_in(captured)))
    assert costs[0] == costs[1]
