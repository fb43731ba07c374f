"""Deleting a project: nothing of it is left, and nothing of another one is touched."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from sessions_app import models
from sessions_app.domain.errors import IdTaken, NotFound
from sessions_app.domain.roles import MemberRole
from sessions_app.models import Membership, ModelOverride, Profile, Project, Session, Summary
from sessions_app.models.search_index import TABLE
from sessions_app.services.invitations import invite
from sessions_app.services.keys import create_api_key
from sessions_app.services.projects import create_project, delete_project, rename_project
from sessions_app.services.sessions import fork_session
from sessions_app.services.settings import save_project_settings
from tests.factories import NOW, append_turns, make_owner, make_session

pytestmark = pytest.mark.django_db


def fill(slug):
    """Return a project with something of everything in it."""
    owner = get_user_model().objects.create_user(f"owner-of-{slug}")
    project = create_project(slug=slug, name="", owner=owner)
    for n in range(3):
        root = make_session(project, f"root-{n}", runs=2, tags=["a"], settings={"offset": 2})
        fork = fork_session(session=root, at=1, public_id=f"fork-{n}", now=NOW)
        append_turns(fork, 1)
        entry = Summary.objects.create(session=root, number=1, covers_through=1, summarizer="x", created_at=NOW)
        Session.objects.filter(pk=root.pk).update(summary=entry)
    create_api_key(project=project, name="bot", scopes=["read"])
    invite(project=project, role=MemberRole.EDITOR, by=owner, now=NOW)
    save_project_settings(project=project, changes={"offset": 3}, now=NOW)
    Profile.objects.create(project=project, name="careful", saved_at=NOW)
    ModelOverride.objects.create(project=project, name="m", context_window=5)
    imported = models.Import.objects.create(
        project=project, file_name="f", size=1, created_at=NOW, finished_at=NOW, file_format="openai"
    )
    models.ImportedConversation.objects.create(source_import=imported, place=1, outcome="imported", session=root)
    return project


def owner_of(project):
    return get_user_model().objects.get(memberships__project=project)


def rows():
    """Return how many rows there are of each of our models, and in the index of texts."""
    counts = {
        name: getattr(models, name).objects.count()
        for name in models.__all__
        if hasattr(getattr(models, name), "objects")
    }
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {TABLE}")
        return {**counts, "texts": cursor.fetchone()[0]}


def test_nothing_of_it_is_left_and_another_one_stays_as_it_is(monkeypatch):
    fill("kept")
    before = rows()
    doomed = fill("doomed")
    assert rows()["Run"] == 2 * before["Run"]

    delete_project(project=doomed, by=owner_of(doomed), now=NOW)

    assert rows() == before
    assert [each.slug for each in Project.objects.all()] == ["kept"]


def test_who_deletes_it_a_second_time_finds_nothing():
    doomed = fill("doomed")
    owner = owner_of(doomed)
    delete_project(project=Project.objects.get(), by=owner, now=NOW)

    with pytest.raises(NotFound):
        delete_project(project=doomed, by=owner, now=NOW)


def test_a_project_has_a_slug_of_its_own():
    first = create_project(slug="a", name="", owner=None)
    create_project(slug="b", name="B", owner=None)

    with pytest.raises(IdTaken):
        create_project(slug="a", name="", owner=None)
    with pytest.raises(IdTaken):
        rename_project(project=first, slug="b", name="B", by=make_owner(first))
    assert Project.objects.get(pk=first.pk).name == "a"


def test_a_project_from_the_command_line_belongs_to_nobody():
    create_project(slug="a", name="", owner=None)

    assert Membership.objects.count() == 0
