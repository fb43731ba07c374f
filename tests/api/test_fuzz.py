"""Whatever is sent, nothing answers with a 5xx, and every answer is as the OpenAPI document says."""

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks

from convoweb.wsgi import application
from sessions_app.services.keys import create_api_key
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db
schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)
# What holds only between fields, such as a fork's position, the document cannot say.
RULES_BETWEEN_FIELDS = [checks.CHECKS.get_one("positive_data_acceptance")]


@pytest.fixture
def connection_stays(db):
    """Keep the connection, in whose transaction the test runs, as Django's own test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def key(connection_stays):
    project = make_project("fuzz")
    make_session(project, "0", runs=3)
    return create_api_key(project=project, name="fuzz", scopes=["read", "write", "admin"])[1]


@schema.parametrize()
@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_it_answers_as_documented(case, key):
    case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, excluded_checks=RULES_BETWEEN_FIELDS)
