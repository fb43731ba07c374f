"""Rows of sessions: how the summary of each stands, without the text of any."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session
from sessions_app.queries.session_listing import with_answer_columns
from sessions_app.queries.session_rows import SummaryState, session_rows, with_row_columns
from tests.factories import NOW, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    """Its newest summary failed, an earlier one is in use, and nothing waits."""
    session = make_session(runs=4)
    in_use = session.summaries.create(number=1, status="completed", covers_through=2, text="Long.", created_at=NOW)
    session.summaries.create(number=2, status="failed", covers_through=3, error="down", created_at=NOW)
    Session.objects.filter(pk=session.pk).update(summary=in_use, summary_wanted_at=None)
    return session


@pytest.mark.parametrize(
    ("columns", "state"),
    [
        ({"next_attempt_at": NOW}, SummaryState.FAILED),
        ({"rests_since": NOW}, SummaryState.RESTING),
        ({"summary_wanted_at": NOW}, SummaryState.BEHIND),
        ({}, SummaryState.FRESH),
    ],
)
def test_a_failure_is_one_as_long_as_it_is_tried_again(session, columns, state):
    if columns:
        Session.objects.update(**columns)
    (row,) = session_rows(
        with_row_columns(Session.objects.all()), project=session.project, default_model="gpt-4.1-mini"
    )
    assert row.summary is state


@pytest.mark.parametrize("columns_of", [with_row_columns, with_answer_columns])
def test_no_list_reads_the_text_of_a_summary_or_its_facts(session, columns_of):
    with CaptureQueriesContext(connection) as queries:
        (row,) = columns_of(Session.objects.all())
        assert row.summary.covers_through == 2
    sql = " ".join(each["sql"] for each in queries)
    assert '"sessions_app_summary"."text"' not in sql
    assert '"sessions_app_summary"."facts"' not in sql
