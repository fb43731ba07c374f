"""What tests of the pages of summaries start from."""

import pytest
from django.contrib.auth import get_user_model

from sessions_app.models import Membership
from tests.factories import NOW, make_project, make_session
from tests.queries.test_summary_ledgers import FACTS, add, use


@pytest.fixture
def project(client, published):
    user = get_user_model().objects.create_user("mira")
    project = make_project()
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return project


@pytest.fixture
def session(project):
    """A session of 12 runs with two summaries, the newest in use."""
    session = make_session(project, runs=12, title="Lost bag", settings={"offset": 2})
    first = add(session, 1, 3, text="The bag is lost.", tokens_before=60, tokens_o200k=5, ended_at=NOW)
    use(session, add(session, 2, 5, predecessor=first, text="The bag is found.", facts=FACTS, tokens_before=70))
    return session
