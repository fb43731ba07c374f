"""What tests of pages share."""

import pytest
from django.contrib.auth import get_user_model

from sessions_app.models import Membership
from tests.factories import make_project


@pytest.fixture
def project(client):
    """Return a project whose owner has signed in."""
    user = get_user_model().objects.create_user("reader")
    project = make_project()
    Membership.objects.create(project=project, user=user, role="owner")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return project
