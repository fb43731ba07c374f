import pytest
from django.db import OperationalError
from django.test import RequestFactory
from django.views import defaults
from django.views.csrf import csrf_failure

from convoweb.problems import busy
from sessions_app.models import Membership
from tests.factories import make_session

PAGES = {
    400: lambda request: defaults.bad_request(request, Exception()),
    403: lambda request: defaults.permission_denied(request, Exception()),
    404: lambda request: defaults.page_not_found(request, Exception()),
    500: defaults.server_error,
}


@pytest.mark.parametrize("status", PAGES)
def test_it_shows_an_error_in_the_look_of_the_other_pages(status):
    response = PAGES[status](RequestFactory().get("/nowhere/"))
    page = response.content.decode()

    assert response.status_code == status
    assert f"<span>{status}</span>" in page
    assert "css/shell" in page
    assert page.count("<h1>") == 1
    assert 'href="/"' in page


def test_it_shows_that_a_form_has_expired():
    response = csrf_failure(RequestFactory().post("/"), reason="no cookie")

    assert response.status_code == 403
    assert "The form has expired" in response.content.decode()


@pytest.mark.django_db
def test_an_unknown_address_is_not_found(client):
    response = client.get("/p/unknown/nothing/")

    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


@pytest.mark.django_db
def test_an_address_that_only_takes_forms_says_so(client, project):
    response = client.get("/logout/")

    assert (response.status_code, response["Allow"]) == (405, "POST, OPTIONS")
    assert "This address is no page" in response.content.decode()


@pytest.mark.django_db
def test_a_role_that_does_not_allow_something_is_told_which_does(client, project):
    Membership.objects.update(role="viewer")
    make_session(project, runs=1)

    response = client.get("/p/p/sessions/s/fork/?at=1")

    assert response.status_code == 403
    assert "You are a viewer of P. This takes an editor" in response.content.decode()


@pytest.mark.django_db
def test_a_busy_database_offers_to_ask_again_for_what_only_reads(rf):
    for method, offered in (("get", True), ("post", False)):
        response = busy(getattr(rf, method)("/p/p/sessions/"), OperationalError("locked"))
        assert response.status_code == 503
        assert ("Try again" in response.content.decode()) == offered


@pytest.mark.django_db
def test_no_page_has_inline_script_or_style_or_handlers(client):
    page = client.get("/login/").content.decode()

    assert "<script>" not in page
    assert " style=" not in page
    assert " onclick=" not in page
    assert "script-src 'self'" in client.get("/login/")["Content-Security-Policy"]


def test_the_icon_that_browsers_ask_for_is_found(client):
    assert client.get("/favicon.ico")["Location"].endswith("vendor/favicon.svg")
