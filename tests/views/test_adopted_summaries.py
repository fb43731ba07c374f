"""A summary that a fork adopted from its parent, as pages show it."""

import pytest
from django.contrib.auth import get_user_model

from sessions_app.models import Membership
from sessions_app.services.sessions import fork_session
from sessions_app.services.summaries import advance
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

MARK = "Adopted from the parent, no model call"


@pytest.fixture
def fork(client):
    user = get_user_model().objects.create_user("reader")
    project = make_project()
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    parent = make_session(project, "parent", runs=9, settings={"summarize_at": 0, "offset": 2})
    advance(session_pk=parent.pk, now=NOW)
    parent.refresh_from_db()
    fork = fork_session(session=parent, at=9, now=NOW, public_id="fork")
    for session in (parent, fork):
        advance(session_pk=session.pk, now=NOW)
    return fork


def test_the_fork_shows_it_in_its_runs_as_adopted_and_the_parent_as_its_own(client, fork):
    shown = client.get("/p/p/sessions/fork/").content.decode()

    assert "Summary #1 covers runs 1–7" in shown
    assert shown.count(MARK) == 1
    assert MARK not in client.get("/p/p/sessions/parent/").content.decode()


def test_the_list_marks_the_forks_row(client, fork):
    rows = client.get("/p/p/sessions/?open=parent").content.decode().split('<tr role="row"')

    marked = {name: MARK in row for name in ("parent", "fork") for row in rows if f'/sessions/{name}/"' in row}
    assert marked == {"parent": False, "fork": True}
    assert all("runs 1–7" in row for row in rows[-2:])
