"""What tests of the pages of summaries do again and again."""

import re

from django.db import connection
from django.test.utils import CaptureQueriesContext

HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/p/p/sessions/s/summaries/?entry=1"}
LEDGER = "/p/p/sessions/s/summaries/"


def page(client, path=LEDGER, status=200, **headers):
    response = client.get(path, headers=headers)
    assert response.status_code == status
    return re.sub(r"\s+", " ", response.content.decode())


def posted(client, path, data=None, **headers):
    return client.post(path, data or {}, headers=headers)


def numbers(session):
    return list(session.summaries.order_by("number").values_list("number", "status"))


def queries(client, path):
    with CaptureQueriesContext(connection) as captured:
        page(client, path)
    return len(captured)
