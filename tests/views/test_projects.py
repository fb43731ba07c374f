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

    page = client.get("/").content.decode()
    assert "manage.py create_project" in page
    assert 'href="/projects/new/"' in page


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


@pytest.mark.parametrize(("is_superuser", "links"), [(True, 1), (False, 0)])
def test_the_menu_leads_to_the_reference_and_those_who_may_to_the_administration(client, is_superuser, links):
    user = get_user_model().objects.create_user("reader", is_superuser=is_superuser, is_staff=is_superuser)
    Membership.objects.create(project=make_project(), user=user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")

    menu = client.get("/p/p/sessions/").content.decode().split('id="m-project"')[1].split("</nav>")[0]

    assert 'href="/api/v1/docs"' in menu
    assert menu.count('href="/admin/') == links
