"""What browser tests share: a signed-in member, and the promise that no page breaks its own rules."""

import pytest
from django.contrib.auth import get_user_model

from sessions_app.models import Membership
from tests.factories import make_project

# Seen from here it wins over the fixture of Playwright's own plugin.
from tests.services_plugin import browser_type_launch_args  # noqa: F401


@pytest.fixture
def member(live_server, client, context, settings):
    """Return a signed-in user of the browser, who belongs to no project yet."""
    user = get_user_model().objects.create_user("reader", password="a password of the tests")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    return user


@pytest.fixture
def project(member):
    """Return a project that the signed-in user belongs to."""
    project = make_project()
    Membership.objects.create(project=project, user=member)
    return project


@pytest.fixture(autouse=True)
def no_complaints(page):
    """Fail a test in whose pages the browser complained: script errors, refused resources, broken policies."""
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield complaints
    assert complaints == []
