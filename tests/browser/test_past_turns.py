"""What the model saw then, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.factories import make_session

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_eye_of_a_run_leads_to_its_turn_and_keys_step_on(page, live_server, project):
    make_session(project, runs=5)
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    page.locator("#run-3").focus()
    page.keyboard.press("w")
    title = page.get_by_role("heading", level=1)
    expect(title).to_have_text("What the model saw at turn 3")
    page.keyboard.press("j")
    expect(title).to_have_text("What the model saw at turn 4")
    page.keyboard.press("k")
    page.wait_for_url(re.compile(r"at=3$"))
    page.keyboard.press("k")
    expect(title).to_have_text("What the model saw at turn 2")
    expect(page.get_by_text("question 2", exact=True)).to_be_visible()
    page.get_by_role("link", name="Tune this turn").click()
    expect(page).to_have_url(re.compile(r"/tune/\?at=2$"))
