"""One's own account: names, password, sign-ins elsewhere."""

import html
import re

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from tests.factories import make_project

pytestmark = pytest.mark.django_db

OLD = "correct horse battery"
NEW = "staple of another kind"


@pytest.fixture
def reader():
    return get_user_model().objects.create_user("reader", password=OLD)


@pytest.fixture
def here(reader):
    return signed_in()


@pytest.fixture
def elsewhere(reader):
    return signed_in()


def signed_in(password=OLD):
    client = Client()
    client.post("/login/", {"username": "reader", "password": password, "remember": "on"})
    return client


def is_signed_in(client):
    return client.get("/account/").status_code == 200


def text_of(page):
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.content.decode())))


def change(client, **fields):
    return client.post(
        "/account/password/", {"old_password": OLD, "new_password1": NEW, "new_password2": NEW, **fields}, follow=True
    )


@pytest.mark.parametrize("page", ["", "names/", "password/", "elsewhere/"])
def test_it_is_for_those_who_have_signed_in(client, page):
    assert client.post(f"/account/{page}")["Location"] == f"/login/?next=/account/{page}"


def test_names_are_saved_and_seen_by_other_members(here, reader):
    make_project().memberships.create(user=reader)

    here.post("/account/names/", {"first_name": "Mira", "last_name": "S <b>"})

    reader.refresh_from_db()
    assert (reader.first_name, reader.last_name, reader.username) == ("Mira", "S <b>", "reader")
    assert "Mira S &lt;b&gt;" in here.get("/p/p/settings/members/").content.decode()


def test_nothing_else_of_an_account_is_saved_with_the_names(here, reader):
    here.post("/account/names/", {"first_name": "x", "is_superuser": "on", "is_staff": "on", "username": "root"})

    reader.refresh_from_db()
    assert (reader.is_superuser, reader.is_staff, reader.username) == (False, False, "reader")


def test_a_name_that_is_too_long_is_said(here, reader):
    page = here.post("/account/names/", {"first_name": "x" * 151})

    assert page.status_code == 422
    assert "at most 150 characters" in text_of(page)


def test_a_new_password_ends_the_sign_ins_elsewhere_and_keeps_this_one(here, elsewhere, reader):
    before = here.session.session_key

    page = change(here)

    reader.refresh_from_db()
    assert reader.check_password(NEW)
    assert "Your password is changed." in text_of(page)
    assert (is_signed_in(here), is_signed_in(elsewhere)) == (True, False)
    assert here.session.session_key != before
    assert not here.session.get_expire_at_browser_close()
    assert is_signed_in(signed_in(NEW))
    assert not is_signed_in(signed_in(OLD))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"old_password": "wrong"}, "This is not your password."),
        ({"new_password1": "12345678", "new_password2": "12345678"}, "This password is entirely numeric."),
        ({"new_password1": "short1", "new_password2": "short1"}, "This password is too short."),
        ({"new_password2": "other"}, "The two password fields didn"),
    ],
)
def test_a_password_that_cannot_be_is_said_and_changes_nothing(here, elsewhere, reader, fields, words):
    page = change(here, **fields)

    reader.refresh_from_db()
    assert page.status_code == 422
    assert words in text_of(page)
    assert reader.check_password(OLD)
    assert is_signed_in(elsewhere)


def test_signing_out_elsewhere_ends_the_others_and_keeps_this_one(here, elsewhere, reader):
    page = here.post("/account/elsewhere/", {"password": OLD}, follow=True)

    assert "You are signed out everywhere else." in text_of(page)
    assert (is_signed_in(here), is_signed_in(elsewhere)) == (True, False)
    assert is_signed_in(signed_in(OLD))


def test_signing_out_elsewhere_takes_the_password(here, elsewhere):
    for given in ("wrong", ""):
        assert here.post("/account/elsewhere/", {"password": given}).status_code == 422
    assert is_signed_in(elsewhere)


@pytest.mark.parametrize("form", ["password", "elsewhere"])
def test_guessing_a_password_here_is_blocked_as_when_signing_in(here, settings, form):
    wrong = {"old_password": "wrong", "password": "wrong", "new_password1": NEW, "new_password2": NEW}
    for _ in range(settings.AXES_FAILURE_LIMIT):
        answer = here.post(f"/account/{form}/", wrong)

    assert answer.status_code == 429
    assert here.post(f"/account/{form}/", {**wrong, "old_password": OLD, "password": OLD}).status_code == 429


def test_a_form_without_the_token_is_refused(reader):
    client = Client(enforce_csrf_checks=True)
    client.force_login(reader, backend="django.contrib.auth.backends.ModelBackend")

    assert client.post("/account/elsewhere/", {"password": OLD}).status_code == 403
