import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session
from sessions_app.services.foreseen_defaults import SAMPLE, Foreseen, foreseen_defaults
from sessions_app.services.snapshots import refresh_snapshot
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db
# A turn needs 14 tokens, a prompt 3 more: of nine turns two fit.
TIGHT = {"max_input_tokens": 40, "on_gap": "warn"}


@pytest.fixture
def project():
    return make_project()


def looked_at(project, public_id, runs, **settings):
    session = make_session(project, public_id, runs=runs, settings=settings)
    refresh_snapshot(session=session)
    return session


def test_sessions_that_would_newly_lose_runs_or_have_no_prompt_are_counted(project):
    looked_at(project, "long", 9)
    looked_at(project, "short", 2)
    looked_at(project, "loses-already", 9, max_input_tokens=60, on_gap="warn", offset=9)
    looked_at(project, "keeps", 9, max_input_tokens=4_000, on_gap="stopgap")
    looked_at(project, "no-prompt", 9, autoprune=False)
    make_session(project, "not-looked-at", runs=9)

    assert foreseen_defaults(project=project, changes=TIGHT) == Foreseen(tried=3, losing=1, refused=1)


def test_nothing_is_written_and_no_more_are_tried_than_the_newest(project):
    for number in range(SAMPLE + 3):
        looked_at(project, f"s{number}", 9)
    before = list(Session.objects.order_by("pk").values())
    with CaptureQueriesContext(connection) as queries:
        assert foreseen_defaults(project=project, changes=TIGHT) == Foreseen(SAMPLE, SAMPLE, 0)
    assert all(each["sql"].lstrip("( ").upper().startswith(("SELECT", "SAVEPOINT", "RELEASE")) for each in queries)
    assert list(Session.objects.order_by("pk").values()) == before


def test_sessions_of_other_projects_are_not_tried(project):
    looked_at(make_project("q"), "stranger", 9)
    assert foreseen_defaults(project=project, changes=TIGHT) == Foreseen(0, 0, 0)
