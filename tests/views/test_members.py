"""The page of members, and invitations from there to the new member's first page."""

import html
import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions_app.domain.roles import MemberRole
from sessions_app.models import Invitation, Membership
from sessions_app.services.keys import create_api_key
from sessions_app.services.members import change_role
from sessions_app.views import members
from tests.factories import make_project

pytestmark = pytest.mark.django_db

BACKEND = "django.contrib.auth.backends.ModelBackend"
LIST = "/p/p/settings/members/"
PASSWORD = "correct horse battery"


def text_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.content.decode())))


def join(project, name, role="editor"):
    return Membership.objects.create(project=project, user=get_user_model().objects.create_user(name), role=role)


def invite(client, role="viewer", **more):
    """Return the path of a new invitation's link, as the page shows it."""
    page = client.post(f"{LIST}invite/", {"role": role, **more})
    (link,) = re.findall(r'<code id="link">(.*?)</code>', page.content.decode())
    assert "no-store" in page["Cache-Control"]
    return link.removeprefix("http://testserver")


def test_it_lists_members_with_their_roles(client, project):
    join(project, "tove")
    join(make_project("q"), "stranger")

    page = client.get(LIST)

    assert "2 people." in text_of(page)
    assert "tove" in text_of(page)
    assert "stranger" not in text_of(page)
    assert "only owner" in text_of(page)


def test_a_role_is_changed(client, project):
    tove = join(project, "tove")

    page = client.post(f"{LIST}{tove.pk}/role/", {"role": "viewer"}, follow=True)

    tove.refresh_from_db()
    assert tove.role == "viewer"
    assert "tove is viewer now." in text_of(page)


@pytest.mark.parametrize("role", ["", "king", "OWNER"])
def test_what_is_no_role_is_refused(client, project, role):
    tove = join(project, "tove")

    page = client.post(f"{LIST}{tove.pk}/role/", {"role": role}, follow=True)

    tove.refresh_from_db()
    assert tove.role == "editor"
    assert "A role is one of viewer, editor, owner." in text_of(page)


def test_the_only_owner_neither_steps_down_nor_leaves(client, project):
    own = project.memberships.get()

    for address in (f"{LIST}{own.pk}/role/", f"{LIST}{own.pk}/remove/", f"{LIST}leave/"):
        page = client.post(address, {"role": "viewer"}, follow=True)
        assert "reader is the only owner. Make somebody else an owner first." in text_of(page)
    own.refresh_from_db()
    assert own.role == "owner"


def test_a_member_is_removed_after_a_question_that_tells_of_their_keys(client, project):
    tove = join(project, "tove")
    create_api_key(project=project, name="bot", scopes=["read"], actor="tove")

    asked = client.get(f"{LIST}{tove.pk}/remove/")
    assert "Remove tove from P?" in text_of(asked)
    assert "1 API key that they made stays in force" in text_of(asked)
    client.post(f"{LIST}{tove.pk}/remove/")

    assert not Membership.objects.filter(user__username="tove").exists()
    theirs = Client()
    theirs.force_login(get_user_model().objects.get(username="tove"), backend=BACKEND)
    assert theirs.get("/p/p/sessions/").status_code == 404


def test_members_of_other_projects_are_out_of_reach(client, project):
    theirs = join(make_project("q"), "stranger")

    assert client.post(f"{LIST}{theirs.pk}/role/", {"role": "viewer"}).status_code == 404
    assert client.post(f"{LIST}{theirs.pk}/remove/").status_code == 404
    theirs.refresh_from_db()
    assert theirs.role == "editor"


def test_a_member_who_goes_while_the_page_is_at_work_is_not_found(client, project, monkeypatch):
    tove = join(project, "tove")
    looked_up = members._member

    def gone_since(*args):
        found = looked_up(*args)
        Membership.objects.filter(pk=tove.pk).delete()
        return found

    monkeypatch.setattr(members, "_member", gone_since)

    page = client.post(f"{LIST}{tove.pk}/remove/")

    assert page.status_code == 404
    assert "There is nothing here" in text_of(page)


def test_an_owner_who_is_made_a_viewer_while_the_page_is_at_work_is_told_so(client, project, monkeypatch):
    join(project, "mira", "owner")
    tove = join(project, "tove")
    looked_up = members._member

    def demoted_since(*args):
        found = looked_up(*args)
        project.memberships.exclude(user__username__in=["mira", "tove"]).update(role="viewer")
        return found

    monkeypatch.setattr(members, "_member", demoted_since)

    page = client.post(f"{LIST}{tove.pk}/role/", {"role": "owner"})

    assert page.status_code == 403
    assert "You are no owner of P any more." in text_of(page)
    tove.refresh_from_db()
    assert tove.role == "editor"


def test_a_viewer_leaves(client, project):
    own = project.memberships.get()
    join(project, "mira", "owner")
    change_role(member=own, role=MemberRole.VIEWER, by=own.user)

    page = client.post(f"{LIST}leave/", follow=True)

    assert "You left P." in text_of(page)
    assert client.get("/p/p/sessions/").status_code == 404


def test_a_superuser_who_is_no_member_has_nothing_to_leave(client, project):
    client.force_login(get_user_model().objects.create_superuser("root"), backend=BACKEND)

    assert client.get(f"{LIST}leave/").status_code == 404
    assert client.get(LIST).status_code == 200


def test_the_link_of_an_invitation_is_shown_once(client, project):
    path = invite(client)

    page = client.get(LIST).content.decode()

    assert path.split("/")[2] not in page
    assert "1 invitation open" in page


def test_a_question_that_is_answered_twice_makes_one_invitation_and_shows_its_link(client, project):
    (number,) = re.findall(r'name="form_number" value="([^"]+)"', client.get(f"{LIST}invite/").content.decode())

    paths = {invite(client, form_number=number) for _ in range(2)}

    assert (len(paths), Invitation.objects.count()) == (1, 1)


def test_an_invitation_without_a_role_is_refused(client, project):
    page = client.post(f"{LIST}invite/", {})

    assert (page.status_code, Invitation.objects.count()) == (422, 0)
    assert "A role is one of viewer, editor, owner." in text_of(page)


def test_somebody_signed_in_joins(client, project):
    path = invite(client, "editor")
    client.force_login(get_user_model().objects.create_user("tove"), backend=BACKEND)

    assert "Join as tove" in text_of(client.get(path))
    page = client.post(path, follow=True)

    assert page.redirect_chain == [("/p/p/sessions/", 302)]
    assert Membership.objects.get(user__username="tove").role == "editor"
    assert client.get(path).status_code == 404


def test_somebody_without_an_account_makes_one_and_is_signed_in_under_a_new_session(client, project):
    path = invite(client, "viewer")
    guest = Client()
    guest.session.save()
    shown = guest.get(path)
    assert "Join P" in text_of(shown)
    assert "reader invites you as viewer" in text_of(shown)
    before = guest.session.session_key

    page = guest.post(path, {"username": "tove", "password1": PASSWORD, "password2": PASSWORD}, follow=True)

    assert page.redirect_chain == [("/p/p/sessions/", 302)]
    assert guest.session["_auth_user_id"] == str(get_user_model().objects.get(username="tove").pk)
    assert guest.session.session_key != before
    assert guest.post("/p/p/import/").status_code == 403


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"username": "reader"}, "A user with that username already exists."),
        ({"username": "READER"}, "A user with that username already exists."),
        ({"password1": "12345678", "password2": "12345678"}, "This password is entirely numeric."),
        ({"password2": "something else"}, "The two password fields didn"),
        ({"username": ""}, "This field is required."),
    ],
)
def test_an_account_that_cannot_be_is_said_at_its_fields_and_leaves_the_link(client, project, fields, words):
    path = invite(client)
    given = {"username": "tove", "password1": PASSWORD, "password2": PASSWORD, **fields}

    page = Client().post(path, given)

    assert page.status_code == 422
    assert words in text_of(page)
    assert Invitation.objects.count() == 1
    assert get_user_model().objects.count() == 1


def test_signing_in_leads_back_to_the_invitation(client, project):
    path = invite(client)

    assert f'href="/login/?next={path}"' in Client().get(path).content.decode()


def test_whoever_belongs_already_is_told_so(client, project):
    path = invite(client)

    assert "You belong to it already." in text_of(client.get(path))
    assert "You belong to P already." in text_of(client.post(path, follow=True))
    assert Invitation.objects.count() == 1


def test_a_link_that_was_revoked_or_is_old_or_never_was_looks_the_same(client, project):
    revoked, old = invite(client), invite(client)
    first, second = Invitation.objects.order_by("pk")
    client.post(f"{LIST}invitations/{first.pk}/revoke/")
    Invitation.objects.filter(pk=second.pk).update(expires_at=timezone.now() - timedelta(seconds=1))

    pages = [Client().get(path) for path in (revoked, old, "/invitations/nothing/")]

    assert [page.status_code for page in pages] == [404, 404, 404]
    assert len({text_of(page) for page in pages}) == 1
    assert "This invitation does not work any more" in text_of(pages[0])
    form = {"username": "x", "password1": PASSWORD, "password2": PASSWORD}
    assert Client().post(revoked, form).status_code == 404


def test_an_invitation_of_another_project_cannot_be_revoked(client, project):
    mine = join(make_project("q"), "other", "owner")
    invite(client)
    theirs = Client()
    theirs.force_login(mine.user, backend=BACKEND)

    answer = theirs.post(f"/p/q/settings/members/invitations/{Invitation.objects.get().pk}/revoke/")

    assert (answer.status_code, Invitation.objects.count()) == (404, 1)


def test_accepting_asks_for_the_token_against_forgery(client, project):
    path = invite(client)
    guest = Client(enforce_csrf_checks=True)

    assert guest.post(path, {"username": "x", "password1": PASSWORD, "password2": PASSWORD}).status_code == 403


def test_the_list_asks_the_database_the_same_for_many_members(client, project):
    def queries(count):
        for n in range(count):
            join(project, f"u{count}-{n}")
        with CaptureQueriesContext(connection) as captured:
            assert client.get(LIST).status_code == 200
        return len(captured)

    queries(1)
    assert queries(2) == queries(30)
