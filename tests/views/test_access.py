"""Every page, asked by every role: the table is made of the addresses there are, so that no page is forgotten."""

from html.parser import HTMLParser

import pytest
from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.urls import resolve, reverse

from sessions_app.domain.roles import MemberRole, may
from sessions_app.models import Import, Membership, Profile, SavedView, Summary
from sessions_app.services.invitations import invite
from sessions_app.services.keys import create_api_key
from sessions_app.urls import urlpatterns
from sessions_app.views.access import needs_of
from tests.factories import NOW, make_owner, make_project, make_session

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"
PAGES = {pattern.name: pattern for pattern in urlpatterns}
OF_PROJECTS = [name for name, pattern in PAGES.items() if "slug" in pattern.pattern.converters]
OF_NO_PROJECT = {"home", "invitation", "login", "logout", "project-new"} | {
    "account",
    "account-elsewhere",
    "account-names",
    "account-password",
}
# Pages to which viewers send forms, too: they only ask for what is shown, choose what the sender sees first, or take
# the sender out of the project.
HARMLESS = {
    "member-leave",
    "selection-export",
    "summarizer-preview",
    "tune",
    "tune-why",
    "tune-compare",
    "tune-replay",
    "view-default",
}
# Pages that only ask what shall be changed.
QUESTIONS = {
    "invitation-new",
    "key-new",
    "key-revoke",
    "member-remove",
    "project-defaults-save",
    "project-delete",
    "session-delete",
    "session-edit",
    "session-fork",
    "summary-edit",
    "summary-use",
    "tune-default",
    "tune-profile",
    "tune-save",
}
READ_BY_OWNERS = {"invitation-new", "key-new", "key-revoke", "member-remove", "project-delete"}
OF_OWNERS = READ_BY_OWNERS | {
    "connect",
    "invitation-revoke",
    "member-role",
    "project-settings",
    "summarizer",
    "summarizer-trial",
}


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def sign_in(client, project):
    def sign_in(role):
        user = get_user_model().objects.create_user("somebody")
        if role != "stranger":
            Membership.objects.create(project=project, user=user, role=role)
        client.force_login(user, backend=BACKEND)

    return sign_in


def join(project, name, role):
    user = get_user_model().objects.create_user(name)
    return Membership.objects.create(project=project, user=user, role=role)


def address_of(name, project):
    """Return the address of a page about things of the project; a page about something new has to say of what."""
    session = make_session(project, "s", runs=2)
    Summary.objects.create(
        session=session, number=1, covers_through=1, summarizer="extractive", status="completed", created_at=NOW
    )
    things = {
        "slug": lambda: project.slug,
        "session_id": lambda: session.public_id,
        "number": lambda: 1,
        "event_pk": lambda: session.runs.first().events.first().pk,
        "import_pk": lambda: Import.objects.create(project=project, file_name="f", size=1, created_at=NOW).pk,
        "invitation_pk": lambda: invite(project=project, role=MemberRole.VIEWER, by=make_owner(project), now=NOW)[0].pk,
        "key_pk": lambda: create_api_key(project=project, name="bot", scopes=["read"])[0].pk,
        "member_pk": lambda: join(project, "tove", MemberRole.EDITOR).pk,
        "profile_pk": lambda: Profile.objects.create(project=project, name="careful", saved_at=NOW).pk,
        "view_pk": lambda: SavedView.objects.create(project=project, name="v", created_at=NOW).pk,
    }
    return reverse(name, kwargs={part: things[part]() for part in PAGES[name].pattern.converters})


def ask(client, method, address):
    response = client.generic(method, address)
    assert response.status_code < 500
    return response.status_code


def test_each_address_is_of_a_project_or_known_to_be_of_none():
    assert len(PAGES) == len(urlpatterns)
    assert set(PAGES) - set(OF_PROJECTS) == OF_NO_PROJECT


@pytest.mark.parametrize("name", OF_PROJECTS)
def test_a_viewer_reads_and_writes_nothing(client, project, sign_in, name):
    address = address_of(name, project)
    sign_in(MemberRole.VIEWER)

    assert (ask(client, "GET", address) == 403) is (name in QUESTIONS)
    assert (ask(client, "POST", address) == 403) is (name not in HARMLESS)


@pytest.mark.parametrize("name", OF_PROJECTS)
def test_an_editor_writes_what_is_not_left_to_owners(client, project, sign_in, name):
    address = address_of(name, project)
    sign_in(MemberRole.EDITOR)

    assert (ask(client, "GET", address) == 403) is (name in READ_BY_OWNERS)
    assert (ask(client, "POST", address) == 403) is (name in OF_OWNERS)


@pytest.mark.parametrize("name", OF_PROJECTS)
def test_an_owner_may_all(client, project, sign_in, name):
    address = address_of(name, project)
    sign_in(MemberRole.OWNER)

    assert ask(client, "GET", address) != 403
    assert ask(client, "POST", address) != 403


@pytest.mark.parametrize("name", OF_PROJECTS)
def test_for_a_stranger_there_is_nothing(client, project, sign_in, name):
    address = address_of(name, project)
    sign_in("stranger")

    assert ask(client, "GET", address) in {404, 405}
    assert ask(client, "POST", address) in {404, 405}


@pytest.mark.parametrize("name", OF_PROJECTS)
def test_whoever_has_not_signed_in_is_led_to_that(client, project, name):
    address = address_of(name, project)

    for method in ("GET", "POST"):
        response = client.generic(method, address)
        assert (response.status_code, response["Location"].split("?")[0]) == (302, "/login/")


class Controls(HTMLParser):
    """Where the enabled links, forms and buttons of a page lead: the method and the address of each."""

    def __init__(self, page):
        super().__init__()
        self.form = ("GET", "")
        self.found = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form":
            self.form = (given.get("method", "get").upper(), given.get("action", ""))
        if tag == "a" and given.get("href"):
            self.found.add(("GET", given["href"]))
        if tag in {"button", "form"} and "disabled" not in given:
            self.found.add((self.form[0], given.get("formaction") or self.form[1]))
        for name in ("hx-get", "hx-post"):
            if name in given:
                self.found.add((name.removeprefix("hx-").upper(), given[name]))


@pytest.mark.parametrize("role", MemberRole)
@pytest.mark.parametrize("name", OF_PROJECTS)
def test_no_page_offers_what_the_role_may_not_use(client, project, sign_in, name, role):
    address = address_of(name, project)
    sign_in(role)
    page = client.get(address)
    if page.status_code != 200 or "html" not in page["Content-Type"]:
        return

    for method, target in Controls(page.content.decode()).found - {("DIALOG", "")}:
        path = target.split("?")[0].split("#")[0] or address
        if path.startswith("/p/"):
            right = needs_of(resolve(path).func).of(method)
            assert may(role, right), (method, target)


def test_a_refusal_says_which_role_it_takes(client, project, sign_in):
    sign_in(MemberRole.VIEWER)

    edit = client.post("/p/p/import/")
    manage = client.post("/p/p/settings/summarizer/")

    assert edit.status_code == 403
    assert "You are a viewer of P. This takes an editor or an owner; an owner can make you one." in said(edit)
    assert "This takes an owner;" in said(manage)


def said(response: HttpResponse):
    assert response.status_code == 403
    assert "css/shell" in response.content.decode()
    return response.content.decode()
