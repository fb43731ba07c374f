"""Times are those of the clock beside the browser, wherever the server stands."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from tests.factories import make_session

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def browser_context_args(browser_context_args):
    """Return what a browser in Tokyo is started with."""
    return {**browser_context_args, "timezone_id": "Asia/Tokyo"}


def test_it_goes_by_the_clock_of_the_browser_from_the_second_page_on(live_server, page, project):
    session = make_session(project, runs=1)
    session.runs.update(created_at=datetime(2026, 5, 4, 4, 30, tzinfo=UTC))
    page.goto(f"{live_server.url}/p/p/sessions/")
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    expect(page.locator("#run-1 time").first).to_have_text(re.compile("13:30$"))
