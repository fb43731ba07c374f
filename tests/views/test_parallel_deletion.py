"""Pages and lists of a session whose parent is deleted while they are made."""

from threading import Thread

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from sessions_app.models import Membership, Session, lineages, transcripts
from sessions_app.queries import run_stream
from sessions_app.services.keys import create_api_key
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import fork_session
from tests.api.conftest import Bot
from tests.factories import NOW, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    project = make_project()
    root = make_session(project, "root", runs=2)
    parent = fork_session(session=root, at=2, public_id="parent", now=NOW)
    append_turns(parent, 2)
    append_turns(fork_session(session=parent, at=3, public_id="fork", now=NOW), 1)
    return project


@pytest.fixture
def reader(client, project):
    user = get_user_model().objects.create_user("reader")
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def delete_parent():
    try:
        delete_session(session=Session.objects.get(public_id="parent"), now=NOW, children=Children.REPARENT)
    finally:
        connection.close()


@pytest.fixture
def delete_before(monkeypatch):
    """Delete the parent in another thread before a function is called for the first time."""

    def install(module, name):
        right = getattr(module, name)
        deleted: list[bool] = []

        def delete_first(*given, **named):
            if not deleted:
                deleted.append(True)
                thread = Thread(target=delete_parent)
                thread.start()
                thread.join()
            return right(*given, **named)

        monkeypatch.setattr(module, name, delete_first)

    return install


@pytest.mark.parametrize("path", ["", "tune/", "tune/?last_n=2", "tune/why/"])
@pytest.mark.parametrize(("module", "name"), [(transcripts, "lineage_of"), (run_stream, "token_sums")])
def test_a_page_shows_one_state(reader, delete_before, path, module, name):
    delete_before(module, name)

    page = reader.get(f"/p/p/sessions/fork/{path}")

    assert page.status_code == 200
    assert "question 3" in page.content.decode()


def test_a_list_of_runs_is_of_one_state(project, delete_before):
    bot = Bot(create_api_key(project=project, name="bot", scopes=["read"])[1])
    bot.get("/project")
    delete_before(lineages, "runs_in")

    items = bot.get("/sessions/fork/runs").json()["items"]

    assert [run["position"] for run in items] == [1, 2, 3, 4]
    assert not Session.objects.filter(public_id="parent").exists()
