import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Session
from sessions_app.queries import capped_counts, session_pages
from sessions_app.queries.session_pages import WentOn, crumbs_of, newest_status, tree_rows, went_on
from sessions_app.services.sessions import create_session, fork_session
from tests.factories import NOW, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db


def titles(session):
    session.refresh_from_db()
    rows, _ = tree_rows(session, address=lambda node: node.public_id)
    return [row.title for row in rows]


def test_the_tree_stands_in_preorder_with_forks_by_where_they_start():
    root = make_session(runs=5, title="root")
    late = fork_session(session=root, at=4, now=NOW, title="late")
    fork_session(session=root, at=1, now=NOW, title="early")
    fork_session(session=late, at=2, now=NOW, title="below late")
    assert titles(root) == ["root", "early", "late", "below late"]
    assert titles(late) == titles(root)


def test_a_fork_tells_the_runs_with_which_its_parent_went_on():
    parent = make_session(runs=5, title="Boards")
    fork, at_the_end = (fork_session(session=parent, at=at, now=NOW) for at in (3, 5))
    child = create_session(project=parent.project, now=NOW, parent=parent)
    rows, _ = tree_rows(fork, address=lambda node: f"/{node.public_id}/")
    assert went_on(fork, rows) == WentOn("Boards", f"/{parent.public_id}/", 4, 5)
    assert [went_on(each, rows) for each in (at_the_end, child, parent)] == [None, None, None]


def test_a_large_tree_is_cut_but_never_the_path_to_the_session():
    project = make_project()
    root = make_session(project, "root", title="root")
    parent = root
    for n in range(3):
        parent = create_session(project=project, now=NOW, parent=parent, title=f"deep {n}")
    for n in range(220):
        create_session(project=project, now=NOW, parent=root, title=f"wide {n}")
    rows, size = tree_rows(parent, address=lambda node: node.public_id)
    assert str(size) == "224"
    assert len(rows) <= 203
    assert [row.title for row in rows if row.title.startswith("deep")] == ["deep 0", "deep 1", "deep 2"]


@pytest.fixture
def chain():
    """Twenty sessions one below the other."""
    sessions = [make_session(title="0", instructions="Be brief.")]
    for n in range(1, 20):
        sessions.append(make_session(sessions[0].project, f"s{n}", parent=sessions[-1], title=str(n)))
    return sessions


def test_of_a_deep_path_the_nearest_stand_below_a_gap(chain, monkeypatch):
    monkeypatch.setattr(session_pages, "NODES_SHOWN", 5)
    monkeypatch.setattr(session_pages, "NEAREST_SHOWN", 3)
    with CaptureQueriesContext(connection) as captured:
        rows, size = tree_rows(chain[18], address=lambda node: node.public_id)
    assert [(row.title, row.depth, row.level, row.gap) for row in rows[4:]] == [
        ("4", 4, 5, False),
        ("16", 5, 17, True),
        ("17", 6, 18, False),
        ("18", 7, 19, False),
    ]
    assert str(size) == "20"
    assert len(captured) == 4
    assert not any("instructions" in query["sql"] for query in captured)


def test_a_path_whose_top_is_near_the_root_has_no_gap(chain, monkeypatch):
    monkeypatch.setattr(session_pages, "NODES_SHOWN", 5)
    monkeypatch.setattr(session_pages, "NEAREST_SHOWN", 3)
    for at, expected in ((4, 5), (5, 6), (7, 8), (8, 8)):
        rows, _ = tree_rows(chain[at], address=lambda node: node.public_id)
        assert len(rows) == expected
        assert [row.gap for row in rows].count(True) == (at == 8)


def test_sessions_of_a_tree_are_counted_up_to_ten_thousand(chain, monkeypatch):
    monkeypatch.setattr(session_pages, "NODES_SHOWN", 5)
    monkeypatch.setattr(capped_counts, "COUNTED_AT_MOST", 15)
    _, size = tree_rows(chain[0], address=lambda node: node.public_id)
    assert str(size) == "15+"


def test_a_row_knows_whether_a_run_is_open():
    session = make_session(runs=1)
    make_open_run(session)
    rows, _ = tree_rows(session, address=lambda node: node.public_id)
    assert rows[0].running


def test_the_path_names_the_run_at_which_each_fork_starts():
    root = make_session(runs=5, title="root")
    child = create_session(project=root.project, now=NOW, parent=root, title="child")
    fork = fork_session(session=child, at=0, now=NOW)
    assert [(str(crumb.session), crumb.fork_at) for crumb in crumbs_of(fork)] == [("root", None), ("child", 0)]


def test_of_a_long_path_the_root_and_the_nearest_are_left():
    session = make_session(title="0")
    for n in range(1, 8):
        session = create_session(project=session.project, now=NOW, parent=session, title=str(n))
    assert [str(crumb.session) for crumb in crumbs_of(session)] == ["0", "5", "6"]


def test_the_newest_run_is_the_sessions_own():
    parent = make_session(runs=1)
    fork = fork_session(session=parent, at=1, now=NOW)
    assert newest_status(fork) is None
    make_open_run(fork)
    assert newest_status(Session.objects.get(pk=fork.pk)) is RunStatus.RUNNING
