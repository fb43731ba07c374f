import pytest
from django.contrib.auth import get_user_model

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


@pytest.fixture
def reader():
    return get_user_model().objects.create_user("reader", password=PASSWORD)


def sign_in(client, **fields):
    return client.post("/login/", {"username": "reader", "password": PASSWORD, **fields})


def test_it_signs_in_and_leads_to_the_page_that_was_asked_for(client, reader):
    response = sign_in(client, next="/p/bot/sessions/?q=refund")

    assert (response.status_code, response["Location"]) == (302, "/p/bot/sessions/?q=refund")
    assert client.session["_auth_user_id"] == str(reader.pk)


def test_it_does_not_lead_to_another_site(client, reader):
    assert sign_in(client, next="https://elsewhere.example/")["Location"] == "/"


def test_it_says_that_the_password_is_wrong_and_keeps_the_name(client, reader):
    page = sign_in(client, password="wrong").content.decode()

    assert 'role="alert"' in page
    assert 'aria-invalid="true"' in page
    assert 'value="reader"' in page
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize(("fields", "at_browser_close"), [({"remember": "on"}, False), ({}, True)])
def test_it_stays_signed_in_only_where_that_was_asked_for(client, reader, fields, at_browser_close):
    sign_in(client, **fields)

    assert client.session.get_expire_at_browser_close() is at_browser_close


def test_it_locks_out_after_too_many_wrong_passwords_and_says_for_how_long(client, reader, settings):
    for _ in range(settings.AXES_FAILURE_LIMIT):
        response = sign_in(client, password="wrong")

    assert response.status_code == 429
    assert "blocked after 10 attempts" in response.content.decode()
    assert "after 15 minutes" in response.content.decode()
    assert sign_in(client).status_code == 429


def test_it_signs_out_by_post_only(client, reader):
    client.force_login(reader, backend="django.contrib.auth.backends.ModelBackend")

    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/")["Location"] == "/login/"
    assert "_auth_user_id" not in client.session


def test_a_swap_without_a_session_leads_the_whole_window_to_the_sign_in_page_and_back(client):
    address = "http://testserver/p/bot/sessions/?q=refund"

    response = client.get("/login/?next=/", headers={"HX-Request": "true", "HX-Current-URL": address})

    assert response["HX-Redirect"] == "/login/?next=%2Fp%2Fbot%2Fsessions%2F%3Fq%3Drefund"
    assert response.content == b""


@pytest.mark.parametrize("address", ["http://[", "http://testserver//[", "//[", "http://elsewhere.example/p/", "%00"])
def test_a_swap_from_an_address_that_cannot_be_read_leads_back_to_the_first_page(client, address):
    response = client.get("/login/", headers={"HX-Request": "true", "HX-Current-URL": address})

    assert (response.status_code, response["HX-Redirect"]) == (200, "/login/?next=%2F")
