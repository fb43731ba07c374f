"""Deleting sessions that others stand under or share runs with."""

import pytest
from django.db import connection

from sessions_app.domain.errors import NotFound, SessionHasChildren
from sessions_app.models import (
    Event,
    IdempotentAnswer,
    ImportedConversation,
    Run,
    Session,
    SessionTag,
    Summary,
    lineage_runs,
)
from sessions_app.services.keys import create_api_key
from sessions_app.services.session_deletion import Children, delete_session
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session
from tests.sums import assert_sums

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def texts(session):
    """The questions of a session's lineage, in order."""
    session.refresh_from_db()
    runs = lineage_runs(session).order_by("position")
    return [run.events.get(index=0).text for run in runs]


def check_books(session):
    """Positions are gapless along the lineage and every sum is what it says."""
    session.refresh_from_db()
    assert_sums(session)
    assert session.root.depth == 0
    assert session.depth == (session.parent.depth + 1 if session.parent else 0)
    assert session.root == (session.parent.root if session.parent else session)


def test_it_deletes_a_session_without_children_and_nothing_else(project):
    gone = make_session(project, "gone", runs=2, tags=["t"])
    make_open_run(gone)
    stays = make_session(project, "stays", runs=1)

    delete_session(session=gone, now=NOW)

    assert list(Session.objects.all()) == [stays]
    assert (Run.objects.count(), Event.objects.count(), SessionTag.objects.count()) == (1, 2, 0)


def test_it_is_gone_the_second_time(project):
    session = make_session(project)
    delete_session(session=session, now=NOW)

    with pytest.raises(NotFound):
        delete_session(session=session, now=NOW)


def test_it_refuses_when_there_are_children(project):
    parent = make_session(project, "p", runs=1)
    make_session(project, "c", parent=parent)

    with pytest.raises(SessionHasChildren):
        delete_session(session=parent, now=NOW)
    assert Session.objects.count() == 2


def test_it_deletes_everything_below(project):
    top = make_session(project, "top")
    gone = make_session(project, "gone", parent=top, runs=2)
    child = make_session(project, "child", parent=gone, forked_at=1, runs=1)
    make_session(project, "grandchild", parent=child, runs=1)

    delete_session(session=gone, now=NOW, children=Children.DELETE)

    assert list(Session.objects.all()) == [top]
    assert (Run.objects.count(), Event.objects.count()) == (0, 0)


def test_its_summaries_go_with_it(project):
    session = make_session(project, runs=3)
    fields = {"session": session, "created_at": NOW, "summarizer": "extractive", "status": "completed"}
    first = Summary.objects.create(number=1, covers_through=1, **fields)
    session.summary = Summary.objects.create(number=2, covers_through=2, predecessor=first, **fields)
    session.save()

    delete_session(session=session, now=NOW)

    assert Summary.objects.count() == 0


def test_children_of_a_deleted_root_become_roots(project):
    gone = make_session(project, "gone", runs=2)
    child = make_session(project, "child", parent=gone, runs=2)
    grandchild = make_session(project, "grandchild", parent=child, runs=1)
    other = make_session(project, "other", parent=gone, runs=1)

    delete_session(session=gone, now=NOW, children=Children.REPARENT)

    assert set(Session.objects.roots()) == {child, other}
    for session in (child, grandchild, other):
        check_books(session)


def test_children_move_to_the_parent_of_a_deleted_session(project):
    top = make_session(project, "top", runs=2)
    gone = make_session(project, "gone", parent=top, runs=2)
    child = make_session(project, "child", parent=gone, runs=2)
    grandchild = make_session(project, "grandchild", parent=child, runs=1)

    delete_session(session=gone, now=NOW, children=Children.REPARENT)

    child.refresh_from_db()
    assert (child.parent, child.forked_at) == (top, None)
    for session in (top, child, grandchild):
        check_books(session)


def test_forks_keep_what_they_shared(project):
    gone = make_session(project, "gone", runs=4)
    ids = list(gone.runs.order_by("position").values_list("public_id", flat=True))
    first = make_session(project, "first", parent=gone, forked_at=2, runs=1)
    second = make_session(project, "second", parent=gone, forked_at=3, runs=1)
    below = make_session(project, "below", parent=second, forked_at=1, runs=1)
    before = {session: texts(session) for session in (first, second, below)}

    delete_session(session=gone, now=NOW, children=Children.REPARENT)

    for session, expected in before.items():
        assert texts(session) == expected
        check_books(session)
    assert list(first.runs.order_by("position").values_list("public_id", flat=True))[:2] == ids[:2]
    assert not second.runs.filter(public_id__in=ids).exists()
    assert (first.forked_at, second.forked_at, below.forked_at, below.parent) == (None, None, 1, second)


def test_nothing_behind_what_the_forks_shared_remains(project):
    gone = make_session(project, "gone", runs=4)
    make_session(project, "fork", parent=gone, forked_at=2)

    delete_session(session=gone, now=NOW, children=Children.REPARENT)

    assert not Event.objects.filter(text__in=["question 3", "answer 3", "question 4", "answer 4"]).exists()
    assert Run.objects.count() == 2


def test_forks_of_a_fork_go_on_as_forks_of_its_parent(project):
    top = make_session(project, "top", runs=4)
    gone = make_session(project, "gone", parent=top, forked_at=2, runs=3)
    above = make_session(project, "above", parent=gone, forked_at=1, runs=1)
    inside = make_session(project, "inside", parent=gone, forked_at=4, runs=1)
    plain = make_session(project, "plain", parent=gone, runs=1)
    before = {session: texts(session) for session in (top, above, inside, plain)}

    delete_session(session=gone, now=NOW, children=Children.REPARENT)

    for session, expected in before.items():
        assert texts(session) == expected
        check_books(session)
    assert [(s.parent, s.forked_at) for s in (above, inside, plain)] == [(top, 1), (top, 2), (top, None)]


def test_copies_keep_calls_under_their_messages_times_and_metadata(project):
    gone = make_session(project, "gone", runs=1)
    original = gone.runs.get()
    Run.objects.update(metadata={"stars": 1})
    asked, said = original.events.order_by("index")
    Event.objects.create(run=original, index=2, kind="tool_call", parent=said, call_id="c", created_at=NOW)
    make_session(project, "first", parent=gone, forked_at=1)
    second = make_session(project, "second", parent=gone, forked_at=1)

    delete_session(session=gone, now=NOW, children=Children.REPARENT)

    copy = second.runs.get()
    assert (copy.created_at, copy.metadata) == (original.created_at, {"stars": 1})
    events = list(copy.events.order_by("index"))
    assert events[2].parent == events[1]
    assert {event.pk for event in events}.isdisjoint({asked.pk, said.pk})


def test_reports_of_imports_and_kept_answers_forget_its_text(project):
    session = make_session(project, title="Secret")
    source = project.imports.create(file_name="f", file_format="openai", size=1, created_at=NOW)
    ImportedConversation.objects.create(
        source_import=source, place=1, title="Secret", outcome="imported", session=session, detail="Secret"
    )
    key = project.api_keys.create(name="k", key_id="k", secret_hash="x")
    IdempotentAnswer.objects.create(
        api_key=key, session=session, scope="POST /", key="1", body_hash="", status=201, body="Secret", created_at=NOW
    )

    delete_session(session=session, now=NOW)

    assert list(ImportedConversation.objects.values_list("title", "detail", "session")) == [("", "", None)]
    assert IdempotentAnswer.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_no_row_points_to_a_session_that_is_gone():
    project = make_project()
    gone = make_session(project, "gone", runs=3)
    for name in ("a", "b"):
        make_session(project, name, parent=gone, forked_at=2, runs=1)

    delete_session(session=gone, now=NOW, children=Children.REPARENT)
    append_turns(Session.objects.get(public_id="a"))

    connection.check_constraints()
    assert Session.objects.filter(parent=None).count() == 2


def test_answers_that_may_repeat_its_text_go_with_it_also_where_its_children_stay(project):
    gone = make_session(project, "gone", runs=1)
    child = make_session(project, "child", parent=gone)
    grandchild = make_session(project, "grandchild", parent=child)
    other = make_session(project, "other")
    key, _ = create_api_key(project=project, name="bot", scopes=["read"])
    for session in (gone, child, grandchild, other):
        IdempotentAnswer.objects.create(
            api_key=key, session=session, scope="s", key=session.public_id, status=201, body="SECRET", created_at=NOW
        )

    delete_session(session=gone, now=NOW, children=Children.REPARENT)

    assert [answer.key for answer in IdempotentAnswer.objects.all()] == ["other"]
