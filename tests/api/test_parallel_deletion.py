"""Writes whose session, or its parent, is deleted by others before they are answered."""

from threading import Thread

import pytest
from django.db import connection

from sessions_app.api import runs, sessions
from sessions_app.models import Session
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, make_open_run, make_session

pytestmark = pytest.mark.django_db(transaction=True)
TURN = {"input": "q", "output": "a"}


def delete(public_id):
    try:
        delete_session(session=Session.objects.get(public_id=public_id), now=NOW, children=Children.REPARENT)
    finally:
        connection.close()


@pytest.fixture
def deleted_behind(monkeypatch):
    """Let somebody else delete a session as soon as a function has returned and no lock keeps them from it."""
    threads = []

    def install(public_id, module, name):
        right = getattr(module, name)

        def delete_after(**given):
            result = right(**given)
            threads.append(Thread(target=delete, args=[public_id]))
            threads[-1].start()
            threads[-1].join(0.5)
            return result

        monkeypatch.setattr(module, name, delete_after)

    yield install
    for thread in threads:
        thread.join()
    assert threads


@pytest.mark.parametrize(("path", "body"), [("runs", TURN), ("runs/batch", {"runs": [TURN, TURN]})])
def test_runs_whose_session_is_gone_are_not_found(bot, project, deleted_behind, path, body):
    make_session(project, "s")
    deleted_behind("s", runs, "append_runs")

    answer = bot.post(f"/sessions/s/{path}", body)

    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


def test_an_ended_run_whose_session_is_gone_is_not_found(bot, project, deleted_behind):
    run = make_open_run(make_session(project, "s"))
    deleted_behind("s", runs, "change_run")

    assert bot.patch(f"/runs/{run.public_id}", {"output": "a"}).status_code == 404


def test_a_changed_fork_is_answered_whose_parent_is_being_deleted(bot, project, deleted_behind):
    parent = make_session(project, "parent", runs=2)
    fork_session(session=parent, at=1, public_id="fork", now=NOW)
    deleted_behind("parent", sessions, "update_session")

    answer = bot.patch("/sessions/fork", {"title": "T"})

    assert answer.status_code == 200
    assert (answer.json()["title"], answer.json()["parent_id"]) == ("T", "parent")
