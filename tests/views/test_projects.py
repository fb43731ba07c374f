import pytest
from django.contrib.auth import get_user_model
from django.http import Http404

from sessions_app.models import Membership, Project
from sessions_app.views.projects import page_context, project_for
from tests.factories import make_project

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def reader():
    return get_user_model().objects.create_user("reader")


@pytest.fixture
def administrator():
    return get_user_model().objects.create_superuser("administrator")


def join(user, slug):
    return Membership.objects.create(user=user, project=make_project(slug)).project


def test_it_sends_strangers_to_the_sign_in_page(client):
    assert client.get("/")["Location"] == "/login/?next=/"


def test_it_leads_to_the_first_project_of_the_user(client, reader):
    make_project("a-strangers")
    join(reader, "second")
    join(reader, "first")
    client.force_login(reader, backend=BACKEND)

    assert client.get("/")["Location"] == "/p/first/sessions/"


def test_it_tells_an_administrator_how_to_make_the_first_project(client, administrator):
    client.force_login(administrator, backend=BACKEND)

    assert "manage.py create_project" in client.get("/").content.decode()


def test_it_tells_somebody_without_a_project_whom_to_ask(client, reader):
    make_project("a-strangers")
    client.force_login(reader, backend=BACKEND)
    page = client.get("/").content.decode()

    assert "An administrator can make you a member" in page
    assert "a-strangers" not in page
    assert "create_project" not in page


def test_it_finds_a_project_for_its_members_only(reader):
    own = join(reader, "own")
    make_project("other")

    assert project_for(reader, "own") == own
    for slug in ("other", "unknown"):
        with pytest.raises(Http404):
            project_for(reader, slug)


def test_an_administrator_sees_every_project(administrator):
    other = make_project("other")

    assert project_for(administrator, "other") == other


def test_the_menu_offers_only_the_projects_of_the_user(reader):
    own = join(reader, "own")
    make_project("other")

    context = page_context(reader, own, area="import")

    assert (context["project"], list(context["projects"]), context["area"]) == (own, [own], "import")
    assert Project.objects.count() == 2
