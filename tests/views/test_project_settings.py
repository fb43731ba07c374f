"""A project as a whole: making, renaming, deleting it."""

import html
import re

import pytest
from django.contrib.auth import get_user_model

from sessions_app.models import Import, Membership, Project, Session
from sessions_app.services.keys import create_api_key
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"
PAGE = "/p/p/settings/"


def text_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.content.decode())))


def test_an_owner_makes_a_project_and_owns_it(client, project):
    page = client.post("/projects/new/", {"name": "Support  bot", "slug": "support"}, follow=True)

    made = Project.objects.get(slug="support")
    assert page.redirect_chain == [("/p/support/sessions/", 302)]
    assert (made.name, made.memberships.get().user.get_username(), made.memberships.get().role) == (
        "Support bot",
        "reader",
        "owner",
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"slug": "p"}, "There is a project p already."),
        ({"slug": "Support Bot"}, "A slug is 1 to 60 of a-z 0-9 and -, not beginning with -; this is 'Support Bot'."),
        ({"slug": "-x"}, "not beginning with -"),
        ({"slug": ""}, "A project has a slug."),
        ({"name": " "}, "A project has a name of 1 to 200 characters."),
        ({"name": "x" * 201}, "A project has a name of 1 to 200 characters."),
    ],
)
def test_what_cannot_be_a_project_is_said_at_its_field(client, project, fields, words):
    page = client.post("/projects/new/", {"name": "n", "slug": "s", **fields})

    assert (page.status_code, Project.objects.count()) == (422, 1)
    assert words in text_of(page)


@pytest.mark.parametrize(
    ("role", "flags", "allowed"),
    [
        ("owner", {}, True),
        ("editor", {}, False),
        ("viewer", {}, False),
        (None, {}, False),
        (None, {"is_staff": True}, True),
        (None, {"is_superuser": True}, True),
    ],
)
def test_projects_are_made_by_staff_and_owners(client, role, flags, allowed):
    user = get_user_model().objects.create_user("somebody", **flags)
    if role:
        Membership.objects.create(project=make_project(), user=user, role=role)
    client.force_login(user, backend=BACKEND)

    assert (client.get("/projects/new/").status_code == 200) is allowed
    assert (client.post("/projects/new/", {"name": "n", "slug": "n"}).status_code == 302) is allowed
    assert Project.objects.filter(slug="n").exists() is allowed


def test_it_is_renamed_and_its_pages_move(client, project):
    page = client.post(PAGE, {"name": "Other", "slug": "other"}, follow=True)

    assert page.redirect_chain == [("/p/other/settings/", 302)]
    assert client.get(PAGE).status_code == 404
    project.refresh_from_db()
    assert (project.name, project.slug) == ("Other", "other")


def test_a_slug_that_was_made_elsewhere_stays(client, project):
    Project.objects.filter(pk=project.pk).update(slug="My_Bot")

    assert client.post("/p/My_Bot/settings/", {"name": "Other", "slug": "My_Bot"}).status_code == 302
    assert Project.objects.get().name == "Other"


def test_a_slug_of_another_project_is_refused(client, project):
    make_project("q")

    page = client.post(PAGE, {"name": "P", "slug": "q"})

    assert page.status_code == 422
    assert "There is a project q already." in text_of(page)


def test_an_editor_reads_what_it_is_called_and_changes_nothing(client, project):
    project.memberships.update(role="editor")

    assert "Owners rename and delete the project." in text_of(client.get(PAGE))
    assert client.post(PAGE, {"name": "x", "slug": "x"}).status_code == 403
    assert client.post(f"{PAGE}delete/", {"slug": "p"}).status_code == 403
    assert Project.objects.get().name == "P"


@pytest.mark.parametrize("typed", ["", "P", "other"])
def test_it_is_deleted_only_when_its_slug_is_typed(client, project, typed):
    make_session(project, "s", runs=1)
    assert "Its 1 session go" in text_of(client.get(f"{PAGE}delete/"))

    page = client.post(f"{PAGE}delete/", {"slug": typed})

    assert (page.status_code, Project.objects.count(), Session.objects.count()) == (422, 1, 1)
    assert "Type p to delete it." in text_of(page)


def test_it_is_deleted_with_all_in_it(client, project):
    make_session(project, "s", runs=1)
    _, key = create_api_key(project=project, name="bot", scopes=["read"])

    page = client.post(f"{PAGE}delete/", {"slug": "p"}, follow=True)

    assert "P is deleted." in text_of(page)
    assert Project.objects.count() == 0
    assert client.get("/api/v1/sessions", headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_it_waits_for_an_import_that_runs(client, project):
    Import.objects.create(project=project, file_name="f", size=1, created_at=NOW)

    page = client.post(f"{PAGE}delete/", {"slug": "p"})

    assert page.status_code == 409
    assert "An import into this project is running." in text_of(page)
    assert Project.objects.count() == 1
