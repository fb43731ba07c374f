"""The pages of the API's reference."""

import pytest

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_reference_opens_with_assets_of_its_own(live_server, page):
    hosts = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))

    page.goto(f"{live_server.url}/api/v1/docs")
    page.locator("#operations-sessions-sessions_create").click()

    page.get_by_text("Create a session.").wait_for()
    assert hosts == {live_server.url.split("/")[2]}


def test_the_reference_can_be_read_on_a_phone(live_server, page):
    page.set_viewport_size({"width": 390, "height": 844})

    page.goto(f"{live_server.url}/api/v1/docs")
    page.locator("#operations-sessions-sessions_create").wait_for()

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator('meta[name="viewport"]').get_attribute("content") == "width=device-width, initial-scale=1"
