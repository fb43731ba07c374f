"""What browser tests share: a signed-in member, and the promise that no page breaks its own rules."""

import re

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import expect

from sessions_app.models import Membership
from tests.factories import make_project

# Seen from here it wins over the fixture of Playwright's own plugin.
from tests.services_plugin import browser_type_launch_args  # noqa: F401

# No test here is about speed, and machines under load are slow.
expect.set_options(timeout=20_000)

# How htmx reports a request that a later one takes the place of, which is no fault.
REPLACED = ("htmx:afterRequest, ", "htmx:sendAbort, ")
REFUSED = "Failed to load resource: the server responded with a status of 4"


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
    """Return a project that the signed-in user owns."""
    project = make_project()
    Membership.objects.create(project=project, user=member, role="owner")
    return project


@pytest.fixture
def hold(page):
    """Return what holds back the next request to an address, as a slow server would; it returns what lets it go."""

    def hold(address):
        routes = []
        page.route(re.compile(address), lambda route: routes.append(route), times=1)  # noqa: PLW0108

        def let_go():
            while not routes:
                page.wait_for_timeout(10)
            routes[0].continue_()

        return let_go

    return hold


@pytest.fixture(autouse=True)
def no_complaints(page):
    """Fail a test in whose pages the browser complained: script errors, refused resources, broken policies."""
    complaints = []

    def listen(message):
        if message.type == "error" and not message.text.startswith(REPLACED):
            complaints.append(message.text)

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield complaints
    assert complaints == []


@pytest.fixture
def only_refusals(no_complaints):
    """Let pages be refused, which some addresses are asked for."""
    yield
    no_complaints[:] = [text for text in no_complaints if not text.startswith(REFUSED)]
