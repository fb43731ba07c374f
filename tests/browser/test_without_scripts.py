"""Every page where no script runs: what leads on leads somewhere, what is left of buttons does something."""

import re
from urllib.parse import urldefrag, urlsplit

import pytest
from playwright.sync_api import expect

from sessions_app.models import Session
from tests.browser import test_every_page
from tests.factories import make_session

pytestmark = pytest.mark.any_database

listed = test_every_page.listed
LINKS = """() => [...document.querySelectorAll('a[href]')].filter(link => link.checkVisibility())
  .map(link => new URL(link.getAttribute('href'), document.baseURI).href)"""
# A button does something by itself if it sends a form or opens what stands in the page.
IDLE = """() => [...document.querySelectorAll('button, [data-act], [data-copy], [role="switch"]')].filter(control =>
  control.checkVisibility() && !control.popoverTargetElement && !control.form && !control.matches('a[href]')
).map(control => control.outerHTML.slice(0, 160))"""


@pytest.fixture
def plain(member, browser, context):
    """Return a page in which no script runs, for the user who has signed in."""
    quiet = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    yield quiet.new_page()
    quiet.close()


def test_every_page_leads_on_and_has_no_control_that_does_nothing(listed, plain, client, live_server, subtests):
    seen: dict[tuple[str, tuple[str, ...]], str] = {}
    for address in filter(test_every_page.is_plain, listed):
        with subtests.test(address):
            plain.goto(live_server.url + address)
            assert plain.locator("h1:visible").count() == 1
            assert plain.evaluate(IDLE) == []
            seen |= {kind(link): link for link in plain.evaluate(LINKS) if link.startswith(live_server.url)}
    dead = [link for link in seen.values() if client.get(link.removeprefix(live_server.url)).status_code >= 400]
    assert dead == []


def kind(link):
    """Return what links have in common that lead to the same page asked for the same things."""
    parts = urlsplit(urldefrag(link).url)
    return parts.path, tuple(re.findall(r"(?:^|&)([^=&]+)", parts.query))


def test_a_session_is_forked_edited_and_deleted_by_forms(project, published, plain, live_server):
    make_session(project, runs=3, title="Lost bag")
    plain.goto(f"{live_server.url}/p/p/sessions/s/")
    plain.get_by_role("button", name="Fork here").click()
    plain.get_by_label("Title of the fork").fill("Found bag")
    plain.get_by_role("button", name="Fork", exact=True).click()
    expect(plain.get_by_role("heading", name="Found bag")).to_be_visible()
    fork = Session.objects.get(title="Found bag")

    plain.goto(f"{live_server.url}/p/p/sessions/{fork.public_id}/edit/")
    plain.get_by_label("Title", exact=True).fill("Found and lost bag")
    plain.get_by_role("button", name="Save").click()
    expect(plain.get_by_role("heading", name="Found and lost bag")).to_be_visible()

    plain.goto(f"{live_server.url}/p/p/sessions/{fork.public_id}/delete/")
    plain.get_by_role("button", name="Delete").click()
    expect(plain.locator("#toasts")).to_contain_text("Found and lost bag")
    assert Session.objects.filter(title__contains="Found").count() == 0


def test_settings_are_tried_refused_and_saved_by_forms(project, published, plain, live_server):
    make_session(project, runs=3, settings={"strategy": "buffer"})
    plain.goto(f"{live_server.url}/p/p/sessions/s/tune/")
    plain.locator("#f-last_n").fill("many")
    plain.get_by_role("button", name="Apply").first.click()
    expect(plain.locator("#f-last_n")).to_have_attribute("aria-invalid", "true")
    plain.locator("#f-last_n").fill("1")
    plain.get_by_role("button", name="Apply").first.click()
    expect(plain.locator(".msgs .gap")).to_contain_text("2 runs the model cannot see")

    plain.get_by_role("button", name="Save to session").click()
    plain.get_by_role("dialog").get_by_role("button", name="Save to session").click()

    expect(plain.locator("#toasts")).to_contain_text("1 setting saved to this session.")
    assert Session.objects.get().settings == {"strategy": "buffer", "last_n": 1}
