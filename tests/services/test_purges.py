"""Deletions that are too large for one request: out of sight at once, removed some rows a transaction."""

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import OperationalError, connection

from sessions_app import tasks
from sessions_app.clients import Work
from sessions_app.domain.errors import NotFound
from sessions_app.domain.roles import MemberRole
from sessions_app.models import Event, Membership, Project, Run, Session, SettingsVersion, Summary
from sessions_app.models.search_index import TABLE
from sessions_app.queries.session_filters import SessionFilter, matching_sessions
from sessions_app.queries.session_listing import Wanted, listed_sessions
from sessions_app.services import purges, session_deletion, summaries
from sessions_app.services.keys import create_api_key, key_of
from sessions_app.services.projects import create_project, delete_project
from sessions_app.services.runs import append_runs
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.summaries import Outcome
from tests.factories import NOW, append_turns, make_project, make_session, simple_turn

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def little_at_once(monkeypatch):
    """Let two runs be many."""
    for module in (purges, session_deletion):
        monkeypatch.setattr(module, "RUNS_AT_ONCE", 2)
        monkeypatch.setattr(module, "SESSIONS_AT_ONCE", 2)
    monkeypatch.setattr(purges, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr(purges, "STEPS_AT_ONCE", 1)


@pytest.fixture
def project():
    return make_project()


def texts_indexed():
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {TABLE}")
        return cursor.fetchone()[0]


def counts():
    """How many rows there are of what hangs on sessions, and in the index."""
    return [model.objects.count() for model in (Session, Run, Event, Summary)] + [texts_indexed()]


def purge_all(published):
    """Do what was asked for, as a worker does."""
    for work, ids in published:
        if work is Work.PURGE:
            tasks.purge(*ids)


def test_a_large_tree_is_out_of_its_project_at_once_and_then_removed(project, published):
    kept = make_session(project, "kept", runs=1)
    before = counts()
    top = make_session(project, "top", runs=4)
    make_session(project, "child", parent=top, runs=3)
    fork = make_session(project, "fork", parent=top, forked_at=2)
    append_turns(fork, 3)

    assert delete_session(session=top, now=NOW, children=Children.DELETE) == 3

    assert list(Session.objects.filter(project=project)) == [kept]
    assert list(Run.objects.filter(project=project)) == list(kept.runs.all())
    assert list(Project.objects.all()) == [project]
    assert Run.objects.count() == 11
    tasks.purge(Project.doomed.get().pk)
    assert counts() == before
    assert not Project.doomed.exists()


def test_nothing_that_names_its_project_is_left_there(project):
    top = make_session(project, "top", runs=3, metadata={"channel": "web"}, settings={"max_runs": 5})
    assert SettingsVersion.objects.filter(project=project, session=top).exists()

    delete_session(session=top, now=NOW)

    for model in apps.get_app_config("sessions_app").get_models():
        named = {field.name for field in model._meta.fields} & {"project", "session"}
        if len(named) == 2:
            assert not model._base_manager.filter(project=project, session=top).exists(), model


def test_its_metadata_lead_to_it_no_more(project):
    make_session(project, "kept", metadata={"channel": "web"})
    delete_session(session=make_session(project, "top", runs=3, metadata={"channel": "web"}), now=NOW)

    metadata = {"channel": "web"}
    assert Session.objects.count() == 2
    for rows in (
        matching_sessions(project, SessionFilter(metadata=metadata)),
        listed_sessions(project=project, wanted=Wanted(metadata=metadata)),
    ):
        assert [session.public_id for session in rows] == ["kept"]


def test_what_stands_above_stays_and_does_not_know_it_any_more(project):
    root = make_session(project, "root", runs=1)
    middle = make_session(project, "middle", parent=root, forked_at=1)
    append_turns(middle, 3)
    make_session(project, "below", parent=middle, runs=1)

    delete_session(session=middle, now=NOW, children=Children.DELETE)

    assert list(root.children.all()) == []
    assert list(Session.objects.in_tree_of(root)) == [root]
    tasks.purge(Project.doomed.get().pk)
    assert (Session.objects.count(), Run.objects.count()) == (1, 1)


def test_ids_of_it_are_free_at_once(project):
    gone = make_session(project, "again", runs=3)
    Run.objects.filter(session=gone, position=1).update(public_id="run-1")
    delete_session(session=gone, now=NOW)

    again = make_session(project, "again", runs=1)
    Run.objects.filter(session=again).update(public_id="run-1")

    tasks.purge(Project.doomed.get().pk)
    assert list(Session.objects.all()) == [again]


def test_children_that_move_up_keep_the_runs_that_they_share(project):
    gone = make_session(project, "gone", runs=5)
    fork = make_session(project, "fork", parent=gone, forked_at=2)
    append_turns(fork, 1)

    delete_session(session=gone, now=NOW, children=Children.REPARENT)

    tasks.purge(Project.doomed.get().pk)
    assert [session.public_id for session in Session.objects.all()] == ["fork"]
    assert list(Run.objects.order_by("position").values_list("position", flat=True)) == [1, 2, 3]


def test_nobody_writes_into_it_any_more(project):
    gone = make_session(project, "gone", runs=3)
    delete_session(session=Session.objects.get(), now=NOW)

    with pytest.raises(NotFound):
        append_runs(session=gone, runs=[simple_turn("late", "too late")], now=NOW)
    Session.objects.update(summary_wanted_at=NOW)
    assert summaries.due_sessions(now=NOW) == []
    assert summaries.advance(session_pk=gone.pk, now=NOW) is Outcome.GONE


def test_what_is_small_goes_with_the_request(project, published):
    gone = make_session(project, "gone", runs=2)
    delete_session(session=gone, now=NOW)

    assert not Run.objects.exists()
    assert not Project.doomed.exists()


def fill(slug="doomed"):
    """Return a project with more in it than one step removes, and the text of its key."""
    owner = get_user_model().objects.create_user(f"owner-of-{slug}")
    project = create_project(slug=slug, name="", owner=owner)
    for n in range(3):
        make_session(project, f"s-{n}", runs=2)
    _, text = create_api_key(project=project, name="bot", scopes=["read"])
    return project, owner, text


def test_a_large_project_is_gone_for_everybody_at_once(published, django_capture_on_commit_callbacks):
    doomed, owner, text = fill()

    with django_capture_on_commit_callbacks(execute=True):
        delete_project(project=doomed, by=owner, now=NOW)

    assert Run.objects.exists()
    assert list(Project.objects.visible_to(owner)) == []
    assert not Membership.objects.filter(user=owner, role=MemberRole.OWNER).exists()
    assert key_of(text=text, now=NOW) is None
    with pytest.raises(NotFound):
        delete_project(project=doomed, by=owner, now=NOW)
    assert create_project(slug="doomed", name="Another", owner=owner).pk != doomed.pk
    purge_all(published)
    assert not Project.doomed.exists()
    assert counts() == [0, 0, 0, 0, 0]


def test_a_database_that_fails_while_it_is_removed_does_not_undo_the_deletion(published, monkeypatch):
    doomed, owner, _ = fill()

    def fail(_project_pk):
        raise OperationalError("database is locked")

    with monkeypatch.context() as patched:
        patched.setattr(purges, "_step", fail)
        delete_project(project=doomed, by=owner, now=NOW)
    assert list(Project.objects.visible_to(owner)) == []
    tasks.sweep()
    assert (Work.PURGE, (doomed.pk,)) not in published
    # The lease is over.
    Project.doomed.update(lease_until=None)
    tasks.sweep()
    purge_all(published)
    assert not Project.doomed.exists()


def test_the_sweeper_finds_one_that_nobody_is_removing(published):
    doomed, owner, _ = fill()
    delete_project(project=doomed, by=owner, now=NOW)
    published.clear()
    # Whoever was at it was killed.
    Project.doomed.update(lease_until=None)

    tasks.sweep()

    assert (Work.PURGE, (doomed.pk,)) in published
    purge_all(published)
    assert not Project.doomed.exists()


def test_a_worker_leaves_alone_what_another_is_at(project):
    gone = make_session(project, "gone", runs=3)
    delete_session(session=gone, now=NOW)
    grave = Project.doomed.get()
    Project.doomed.update(lease_until=purges._lease())

    tasks.purge(grave.pk)

    assert purges.waiting_purges() == []
    assert Run.objects.count() == 3


def test_one_that_is_cut_short_goes_on_where_it_stopped(project, monkeypatch):
    gone = make_session(project, "gone", runs=9)
    delete_session(session=gone, now=NOW)
    grave = Project.doomed.get()
    steps = []
    real = purges._remove

    def killed(sessions):
        steps.append(sessions)
        if len(steps) == 3:
            raise SystemExit
        real(sessions)

    monkeypatch.setattr(purges, "_remove", killed)
    with pytest.raises(SystemExit):
        tasks.purge(grave.pk)
    assert Run.objects.count() == 5

    monkeypatch.undo()
    Project.doomed.update(lease_until=None)
    tasks.purge(grave.pk)
    assert not Project.doomed.exists()
