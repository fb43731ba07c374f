"""What the log says of requests."""

import logging

import pytest
from django.test import Client
from structlog.stdlib import ProcessorFormatter

from convoweb.log_filters import without_invitations


def said_in(caplog):
    """Return what the log's own handler makes of the records."""
    (handler,) = (each for each in logging.getLogger().handlers if isinstance(each.formatter, ProcessorFormatter))
    return "\n".join(handler.format(record) for record in caplog.records if handler.filter(record))


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/p/p/sessions/?q=bag", "/p/p/sessions/?q=bag"),
        ("/invitations/PU97-vyz_psV/", "/invitations/…/"),
        ("/login/?next=/invitations/PU97-vyz_psV/", "/login/?next=/invitations/…/"),
        ("/login/?next=%2Finvitations%2FPU97-vyz_psV%2F", "/login/?next=%2Finvitations%2F…%2F"),
        ("/p/p/settings/members/invitations/7/revoke/", "/p/p/settings/members/invitations/…/revoke/"),
    ],
)
def test_no_token_of_an_invitation_is_in_it(address, said):
    line = {"event": f"Forbidden: {address}", "request": f"GET {address}", "code": 403}

    cut = without_invitations(None, "", line)

    assert cut == {"event": f"Forbidden: {said}", "request": f"GET {said}", "code": 403}


@pytest.mark.django_db
def test_no_token_is_in_what_is_said_of_a_refused_form(caplog):
    Client(enforce_csrf_checks=True).post("/invitations/PU97vyzpsVcBvDiJ/")

    said = said_in(caplog)
    assert "Forbidden (CSRF cookie not set.): /invitations/…/" in said
    assert "PU97vyzpsVcBvDiJ" not in said


@pytest.mark.django_db
def test_each_request_has_its_line(client, caplog):
    client.get("/invitations/PU97vyzpsVcBvDiJ/")

    lines = [record.getMessage() for record in caplog.records if "request_finished" in record.getMessage()]
    assert len(lines) == 1
    assert "'request': 'GET /invitations/…/'" in lines[0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (lambda client: client.get("/login/", headers={"host": "elsewhere.example"}), "Invalid HTTP_HOST header"),
        (lambda client: client.post("/login/", {f"f{n}": "" for n in range(1_001)}), "number of GET/POST parameters"),
    ],
)
def test_a_request_that_is_refused_as_a_whole_leaves_no_traceback(client, caplog, sent, said):
    assert sent(client).status_code == 400

    assert said in said_in(caplog)
    assert "Traceback" not in said_in(caplog)
