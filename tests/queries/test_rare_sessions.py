"""What few sessions match is found without going through the others, however many these are."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session
from sessions_app.models.metadata_entries import index_metadata
from sessions_app.queries.session_filters import SessionFilter, SessionSort
from sessions_app.queries.session_listing import Wanted, listed_sessions
from sessions_app.queries.sessions import session_page
from tests.factories import NOW, analyze_if_many, make_project

pytestmark = pytest.mark.django_db
RARE = 30
COMMON = {"newest_model": "m", "metadata": {"channel": "web"}}
UNUSUAL = {
    "newest_model": "rare",
    "metadata": {"channel": "voice", "level": 7},
    "settings": {"max_runs": 5},
    "has_children": True,
    "cut_results": 2,
}
FILTERS = {
    "own settings": SessionFilter(own_settings=True),
    "own settings by runs": SessionFilter(own_settings=True, sort=SessionSort.RUNS),
    "model": SessionFilter(model="rare"),
    "text": SessionFilter(metadata={"channel": "voice"}),
    "number": SessionFilter(metadata={"level": "7"}),
    "both": SessionFilter(metadata={"channel": "voice", "level": "7"}),
    "no such text": SessionFilter(metadata={"channel": "fax"}),
    "cut results": SessionFilter(cut=True),
    "children": SessionFilter(children=True),
    "children with own settings": SessionFilter(children=True, own_settings=True),
}


def sessions_of(slug, count):
    """Make sessions of which those that were active first are unlike the others."""
    project = make_project(slug)
    made = Session.objects.bulk_create(
        Session(
            project=project,
            public_id=f"s-{n}",
            created_at=NOW,
            updated_at=NOW + timedelta(seconds=n),
            tree_active_at=NOW,
            **(UNUSUAL if n < RARE else COMMON),
        )
        for n in range(count)
    )
    index_metadata(made)
    analyze_if_many(count)
    return project


def work_of(read):
    """Return how much a database does: SQLite the steps of its programs, PostgreSQL the rows that it looks at."""
    if connection.vendor == "sqlite":
        steps = []
        connection.connection.set_progress_handler(lambda: steps.append(1), 50)
        try:
            read()
        finally:
            connection.connection.set_progress_handler(None, 0)
        return len(steps)
    with CaptureQueriesContext(connection) as captured:
        read()
    with connection.cursor() as database:
        return sum(rows_of(database, query["sql"]) for query in captured.captured_queries)


def rows_of(database, query):
    database.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}")
    answer = database.fetchone()[0]
    waiting, rows = [(answer if isinstance(answer, list) else json.loads(answer))[0]["Plan"]], 0
    while waiting:
        node = waiting.pop()
        rows += node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        waiting += node.get("Plans", [])
    return rows


def test_a_filter_that_few_sessions_match_costs_the_same_among_ten_times_as_many():
    few, many = sessions_of("few", 1_000), sessions_of("many", 10_000)
    for name, wanted in FILTERS.items():
        work = [
            work_of(lambda: session_page(project=project, wanted=wanted, default_model="m", limit=25))  # noqa: B023
            for project in (few, many)
        ]
        assert work[1] <= work[0] * 1.5 + 20, (name, work)


def test_so_does_the_list_of_the_api():
    few, many = sessions_of("few", 1_000), sessions_of("many", 10_000)
    for wanted in (
        Wanted(own_settings=True),
        Wanted(model="rare"),
        Wanted(metadata={"level": "7"}),
        Wanted(children=True),
    ):
        work = [
            work_of(lambda: list(listed_sessions(project=project, wanted=wanted).order_by("-updated_at", "-pk")[:25]))  # noqa: B023
            for project in (few, many)
        ]
        assert work[1] <= work[0] * 1.5 + 20, (wanted, work)


def test_what_many_sessions_have_is_found_by_walking_from_the_newest():
    project = sessions_of("many", 10_100)

    page = session_page(project=project, wanted=SessionFilter(metadata={"channel": "web"}), default_model="m", limit=2)

    assert str(page.total) == "10,000+"
    assert [tree.root_id for tree in page.trees] == ["s-10099", "s-10098"]
