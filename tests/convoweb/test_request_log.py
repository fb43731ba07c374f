"""What the log says of requests."""

import pytest
from django.test import RequestFactory

from convoweb.request_log import RequestLog


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
    assert RequestLog.format_request(RequestFactory().get(address)) == f"GET {said}"


@pytest.mark.django_db
def test_each_request_has_its_line(client, caplog):
    client.get("/invitations/PU97vyzpsVcBvDiJ/")

    lines = [record.getMessage() for record in caplog.records if "request_finished" in record.getMessage()]
    assert len(lines) == 1
    assert "'request': 'GET /invitations/…/'" in lines[0]
