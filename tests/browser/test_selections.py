"""Ticking sessions in the list, by keyboard and without scripts."""

import pytest
from playwright.sync_api import expect

from sessions_app.models import Session, SessionTag
from tests.factories import make_session


@pytest.fixture
def address(live_server, project):
    for name in ("Alpha", "Beta", "Gamma", "Delta"):
        make_session(project, name, title=name)
    return f"{live_server.url}/p/{project.slug}/sessions/?sort=title"


def ticked(page):
    return page.locator("#rows .pick:checked")


def test_sessions_are_ticked_by_keyboard_and_get_a_tag(page, address):
    page.goto(address)
    expect(page.locator("#bulk")).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("Space")
    expect(page.locator("#bulk")).to_be_visible()
    page.get_by_label("Tick Gamma").click(modifiers=["Shift"], force=True)
    expect(ticked(page)).to_have_count(4)
    page.get_by_label("Tick Beta").click(force=True)
    expect(page.locator("#pick-all")).to_have_js_property("indeterminate", value=True)
    page.get_by_role("button", name="Add tag").click()
    expect(page.get_by_role("heading", name="Add a tag to 3 sessions")).to_be_visible()
    page.keyboard.type("checked")
    page.keyboard.press("Enter")
    expect(page.get_by_text("3 sessions got the tag checked.").last).to_be_visible()
    assert set(SessionTag.objects.values_list("session__title", flat=True)) == {"Alpha", "Delta", "Gamma"}
    page.locator("#pick-all").check(force=True)
    expect(ticked(page)).to_have_count(4)
    page.get_by_role("button", name="Untick all").click()
    expect(ticked(page)).to_have_count(0)
    expect(page.locator("#pick-all")).not_to_be_checked()


def test_without_scripts_the_boxes_delete_sessions_too(browser, address, context):
    quiet = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = quiet.new_page()
    page.goto(address)
    page.get_by_label("Tick Beta").check(force=True)
    page.get_by_label("Tick Delta").check(force=True)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete 2 sessions").click()
    expect(page.get_by_text("2 sessions deleted.").first).to_be_visible()
    assert set(Session.objects.values_list("title", flat=True)) == {"Alpha", "Gamma"}
    quiet.close()
