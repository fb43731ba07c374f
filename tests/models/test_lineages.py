"""What a lineage consists of, and what finding that out costs."""

import pytest
from django.db import connection

from sessions_app.domain.transcript import RunStatus
from sessions_app.models import (
    Project,
    Run,
    Session,
    SessionTranscript,
    ancestors_of,
    lineage_of,
    lineage_runs,
    lineage_runs_at,
)
from tests.models.lineages import NOW, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return Project.objects.create(slug="p", name="P")


def test_all_ancestors_come_by_one_query_without_their_long_texts(project, django_assert_num_queries):
    session = make_session(project, "0", runs=1)
    for n in range(1, 31):
        session = make_session(project, str(n), parent=session, forked_at=n % 2, runs=1)
    session = Session.objects.get(pk=session.pk)
    with django_assert_num_queries(1):
        above = ancestors_of(session)
        assert [(str(each), each.forked_at, each.first_position) for each in above] == [
            (str(n), n % 2 if n else None, n % 2 + 1 if n else 1) for n in range(29, -1, -1)
        ]
    assert all({"instructions", "metadata", "settings"} <= each.get_deferred_fields() for each in above)
    with django_assert_num_queries(1):
        assert [str(each) for each in ancestors_of(session, at_most=2)] == ["29", "28"]


def test_a_root_is_not_asked_for_ancestors(project, django_assert_num_queries):
    root = make_session(project, "a", runs=1)
    with django_assert_num_queries(0):
        assert ancestors_of(root) == []
        assert len(lineage_of(root)) == 1


def test_a_parent_that_was_deleted_meanwhile_is_missed_and_not_guessed(project):
    fork = make_session(project, "f", parent=make_session(project, "p", runs=2), forked_at=2, runs=1)
    Session.objects.filter(pk=fork.pk).update(parent=None, forked_at=None)
    Run.objects.filter(session__public_id="p").delete()
    Session.objects.get(public_id="p").delete()
    assert ancestors_of(fork) == []
    with pytest.raises(Session.DoesNotExist):
        lineage_of(fork)


def test_a_lineage_of_more_than_a_thousand_forks_is_read(project):
    sessions = [make_session(project, "0", runs=1)]
    rows = [{"public_id": f"f{n}", "forked_at": n, "last_position": n + 1} for n in range(1, 1_101)]
    for row in rows:
        times = {"created_at": NOW, "updated_at": NOW, "tree_active_at": NOW}
        sessions.append(Session.objects.create(project=project, parent=sessions[-1], **row, **times))
    Run.objects.bulk_create(
        Run(
            project=project,
            session=session,
            position=n,
            tokens_o200k=10,
            status=RunStatus.COMPLETED,
            tokens_before_o200k=10 * n,
            created_at=NOW,
            touched_at=NOW,
        )
        for n, session in enumerate(sessions[1:], 2)
    )
    assert lineage_runs(sessions[-1]).count() == 1_101
    assert len(SessionTranscript(sessions[-1]).newest_before(1_102, not_below=1, tokens=10**6)) == 1_101


def test_runs_at_positions_are_found_one_by_one(project):
    parent = make_session(project, "p", runs=4)
    fork = make_session(project, "f", parent=parent, forked_at=3, runs=2)
    found = lineage_runs_at(fork, [1, 3, 4, 5, 9])
    assert sorted(found.values_list("session__public_id", "position")) == [("f", 4), ("f", 5), ("p", 1), ("p", 3)]
    assert list(lineage_runs_at(fork, [9])) == []
    if connection.vendor == "sqlite":
        assert "position>?" not in found.explain()
