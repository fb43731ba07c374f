"""Creating, forking and changing sessions."""

from datetime import timedelta

import pytest

from sessions_app.domain.errors import IdTaken, InvalidInput, NotFound
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Project, Session
from sessions_app.services.runs import append_runs
from sessions_app.services.session_deletion import delete_session
from sessions_app.services.sessions import create_session, fork_session, update_session
from sessions_app.services.settings_restoring import restore_session_settings
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db


def test_it_makes_a_root_of_its_own_tree():
    session = make_session()

    assert (session.root, session.depth, session.parent) == (session, 0, None)


def test_it_puts_a_child_into_its_parents_tree():
    parent = make_session(runs=2)
    child = make_session(parent.project, "c", parent=parent)
    grandchild = make_session(parent.project, "g", parent=child)

    assert (grandchild.root, grandchild.depth, grandchild.last_position) == (parent, 2, 0)


def test_it_makes_an_id_where_none_is_given():
    project = make_project()

    assert create_session(project=project, now=NOW).public_id != create_session(project=project, now=NOW).public_id


@pytest.mark.parametrize("legal", ["a", "A-b_c.d~e:f@g+h=i", "...a", "x" * 200])
def test_it_accepts_legal_ids(legal):
    assert make_session(public_id=legal).public_id == legal


@pytest.mark.parametrize("illegal", ["", ".", "..", "....", "a/b", "a b", "ä", "a\n", "a\0", "x" * 201, "a%", "a?"])
def test_it_refuses_other_ids_with_the_rule(illegal):
    with pytest.raises(InvalidInput) as refusal:
        make_session(public_id=illegal)

    assert refusal.value.detail == (
        "An id is 1-200 of A-Z a-z 0-9 . _ ~ : @ + = -, not only dots, compared byte by byte."
    )
    assert [error.pointer for error in refusal.value.errors] == ["/id"]


def test_it_tells_ids_apart_by_case():
    project = make_project()

    assert make_session(project, "a") != make_session(project, "A")


def test_it_refuses_an_id_that_is_taken_in_the_project_only():
    session = make_session(public_id="a")
    make_session(make_project("q"), "a")

    with pytest.raises(IdTaken):
        make_session(session.project, "a")


def test_it_refuses_a_parent_of_another_project():
    parent = make_session()

    with pytest.raises(InvalidInput) as refusal:
        make_session(make_project("q"), "c", parent=parent)
    assert refusal.value.errors[0].pointer == "/parent_id"


def test_it_refuses_a_parent_that_is_gone():
    parent = make_session()
    Session.objects.all().update(root=None)
    Session.objects.filter(pk=parent.pk).delete()

    with pytest.raises(InvalidInput):
        make_session(parent.project, "c", parent=parent)


def test_it_refuses_a_project_that_is_gone():
    project = make_project()
    Project.objects.all().delete()

    with pytest.raises(NotFound, match="no such project"):
        create_session(project=project, now=NOW)

    assert not Session.objects.exists()


def test_it_refuses_a_fork_without_a_parent():
    with pytest.raises(InvalidInput) as refusal:
        make_session(forked_at=0)
    assert refusal.value.errors[0].pointer == "/forked_at"


@pytest.mark.parametrize("position", [-1, 4])
def test_it_refuses_a_fork_outside_the_finished_runs(position):
    parent = make_session(runs=3)
    make_open_run(parent)

    with pytest.raises(InvalidInput) as refusal:
        make_session(parent.project, "f", parent=parent, forked_at=position)
    assert "from 0 to 3" in refusal.value.detail


def test_a_fork_shares_runs_and_copies_instructions_settings_and_tags():
    parent = make_session(runs=3, title="Original", instructions="Be kind.", settings={"offset": 2}, tags=["blue"])

    fork = fork_session(session=parent, at=2, now=NOW)

    assert (fork.parent, fork.forked_at, fork.last_position, fork.own_run_count) == (parent, 2, 2, 0)
    assert (fork.title, fork.instructions, fork.settings) == ("Original", "Be kind.", {"offset": 2})
    assert [tag.name for tag in fork.tags.all()] == ["blue"]
    assert fork.shared_tokens_o200k == sum(run.tokens_o200k for run in parent.runs.filter(position__lte=2))


def test_a_forks_tags_are_its_own():
    parent = make_session(tags=["blue"])
    fork = fork_session(session=parent, at=0, now=NOW)

    update_session(session=fork, changes={"tags": ["blue", "red"]}, now=NOW)

    assert [tag.name for tag in parent.tags.all()] == ["blue"]
    assert [tag.name for tag in fork.tags.all()] == ["blue", "red"]


def test_it_merges_a_patch_into_metadata_and_settings():
    session = make_session(metadata={"a": 1, "b": {"c": 2, "d": 3}}, settings={"offset": 2, "max_runs": 5})

    changes = {"metadata": {"a": None, "b": {"c": 4}}, "settings": {"offset": None, "last_n": 3}}
    stored = update_session(session=session, changes=changes, now=NOW)

    session.refresh_from_db()
    assert stored.metadata == session.metadata == {"b": {"c": 4, "d": 3}}
    assert stored.settings == session.settings == {"max_runs": 5, "last_n": 3}


def test_a_change_never_writes_back_what_it_did_not_name():
    session = make_session(title="Old")
    append_turns(Session.objects.get(pk=session.pk), 2)

    update_session(session=session, changes={"title": "New"}, now=NOW)

    session.refresh_from_db()
    assert (session.title, session.last_position) == ("New", 2)


def test_changed_settings_ask_for_a_summary():
    session = make_session()

    update_session(session=session, changes={"settings": {"offset": 1}}, now=NOW)

    session.refresh_from_db()
    assert session.summary_wanted_at == NOW


@pytest.mark.parametrize(
    ("field", "value"),
    [("title", "x" * 501), ("user_id", "x" * 201), ("tags", [""]), ("tags", ["x" * 101]), ("settings", {"nope": 1})],
)
def test_it_refuses_what_does_not_fit(field, value):
    with pytest.raises(InvalidInput):
        make_session(**{field: value})


def test_it_replaces_what_no_database_can_hold():
    session = make_session(title="a\0b", instructions="\ud800", metadata={"k\0": ["\0"]}, tags=["\0"])

    assert (session.title, session.instructions) == ("a\ufffdb", "\ufffd")
    assert session.metadata == {"k\ufffd": ["\ufffd"]}
    assert [tag.name for tag in session.tags.all()] == ["\ufffd"]


def test_a_change_marks_the_whole_tree_active():
    root = make_session()
    child = make_session(root.project, "c", parent=root)
    later = NOW + timedelta(hours=1)

    append_turns(child, now=later)

    root.refresh_from_db()
    assert (root.tree_active_at, root.updated_at) == (later, NOW)


def test_settings_and_tags_are_no_activity():
    session = make_session()
    changes = {"settings": {"last_n": 3}, "tags": ["seen"]}
    update_session(session=session, changes=changes, now=NOW + timedelta(hours=1))
    restore_session_settings(session=session, to=0, now=NOW + timedelta(hours=2))

    session.refresh_from_db()
    assert (session.tree_active_at, session.updated_at) == (NOW, NOW)
    assert session.summary_wanted_at == NOW + timedelta(hours=2)


def test_a_deleted_fork_is_no_activity_of_its_tree():
    root = make_session()
    fork = fork_session(session=root, at=0, now=NOW)
    delete_session(session=fork, now=NOW + timedelta(hours=1))

    root.refresh_from_db()
    assert root.tree_active_at == NOW


def test_nothing_is_appended_to_a_session_that_is_gone():
    session = make_session()
    Session.objects.all().update(root=None)
    Session.objects.filter(pk=session.pk).delete()

    with pytest.raises(NotFound):
        append_runs(session=session, runs=[], now=NOW)


def test_an_open_run_cannot_be_shared():
    parent = make_session()
    run = make_open_run(parent)

    assert run.status == RunStatus.RUNNING
    with pytest.raises(InvalidInput):
        fork_session(session=parent, at=1, now=NOW)
