import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session
from sessions_app.queries import tree_listing
from sessions_app.queries.tree_listing import tree_around
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain(monkeypatch):
    """Seven sessions one below the other, c0 to c6, and beside c1 two more; five are listed at most."""
    monkeypatch.setattr(tree_listing, "MOST_NODES", 5)
    project = make_project()
    sessions = [make_session(project, "c0", instructions="Be brief.")]
    for n in range(1, 7):
        sessions.append(make_session(project, f"c{n}", parent=sessions[-1], instructions="Be brief."))
    for name in ("x", "y"):
        make_session(project, name, parent=sessions[0])
    return sessions


def listed(session):
    nodes, truncated = tree_around(session)
    assert truncated
    return [node.public_id for node in nodes]


def test_the_path_to_the_root_is_listed_first_and_then_what_is_near_the_root(chain):
    assert listed(chain[3]) == ["c0", "c1", "x", "c2", "c3"]
    assert listed(chain[4]) == ["c0", "c1", "c2", "c3", "c4"]


def test_every_listed_session_stands_under_one_that_is_listed(chain):
    for session in chain[:5]:
        nodes, _ = tree_around(session)
        assert len(nodes) == 5
        assert {node.parent_id for node in nodes} - {None} <= {node.pk for node in nodes}


def test_of_a_path_that_is_too_long_the_nearest_are_listed(chain):
    assert listed(chain[6]) == ["c2", "c3", "c4", "c5", "c6"]


def test_it_takes_three_queries_and_reads_no_instructions(chain):
    session = Session.objects.get(public_id="c5")
    with CaptureQueriesContext(connection) as captured:
        nodes, _ = tree_around(session)
        assert [node.parent.public_id if node.parent else None for node in nodes][1:] == ["c1", "c2", "c3", "c4"]
        assert [(node.depth, node.own_run_count, node.lineage_tokens) for node in nodes][-1] == (5, 0, 0)
    assert len(captured) == 3
    assert not any("instructions" in query["sql"] for query in captured)
