"""The commands of ⌘K, by keyboard, and as a page where no script runs."""

import re

import pytest
from playwright.sync_api import expect

from tests.factories import make_session


@pytest.fixture
def session(project, published):
    make_session(project, "bag", runs=2, title="Lost bag")
    return make_session(project, runs=2, title="Canceled flight")


@pytest.fixture
def opened(session, page, live_server):
    """The page of a session with its commands open."""
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    page.keyboard.press("Control+k")
    expect(option(page)).to_be_visible()
    return page


def field(page):
    return page.get_by_role("combobox", name="A command or a session")


def option(page):
    """Return the chosen option."""
    return page.locator('#palette [role="option"][aria-selected="true"]')


def test_arrows_choose_and_enter_opens(opened):
    expect(field(opened)).to_be_focused()
    expect(option(opened)).to_contain_text("Runs of this session")
    opened.keyboard.press("ArrowDown")
    expect(option(opened)).to_contain_text("Tune this session")
    expect(field(opened)).to_have_attribute("aria-activedescendant", option(opened).get_attribute("id"))
    opened.keyboard.press("ArrowUp")
    opened.keyboard.press("ArrowUp")
    expect(option(opened)).to_contain_text("Keyboard shortcuts")
    opened.keyboard.press("ArrowDown")
    opened.keyboard.press("ArrowDown")

    opened.keyboard.press("Enter")

    expect(opened).to_have_url(re.compile(r"/sessions/s/tune/$"))


def test_a_session_is_found_by_its_title_however_fast_one_types(opened):
    opened.keyboard.type("lost ba")
    opened.keyboard.press("Enter")

    expect(opened).to_have_url(re.compile(r"/sessions/bag/$"))


def test_a_memory_setting_is_reached_with_its_field_in_focus(opened):
    opened.keyboard.type("max_runs")
    expect(option(opened)).to_contain_text("max_runs")
    opened.keyboard.press("Enter")

    expect(opened.locator("#f-max_runs")).to_be_focused()


def test_an_action_is_done_on_the_page_that_is_open(opened):
    opened.keyboard.type("color theme")
    expect(option(opened)).to_contain_text("Switch color theme")
    opened.keyboard.press("Enter")

    expect(opened.locator("html")).to_have_class(re.compile("dark"))
    expect(opened.locator("#palette-q")).not_to_be_visible()


def test_how_many_were_found_is_said(opened):
    opened.keyboard.type("nothing is called like this")

    expect(opened.locator("#palette-count")).to_have_text("1 found")
    expect(option(opened)).to_contain_text("Search all conversations")


def test_it_opens_from_a_field_and_gives_the_focus_back(session, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/")
    page.locator("#q").focus()
    page.keyboard.press("Control+k")
    expect(field(page)).to_be_focused()

    page.keyboard.press("Escape")

    expect(page.locator("#q")).to_be_focused()


def test_the_key_beside_the_search_opens_it(session, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/")
    page.get_by_role("link", name="Commands").click()

    expect(field(page)).to_be_focused()
    expect(page).to_have_url(re.compile(r"/sessions/$"))


def test_without_a_script_it_is_a_page(session, member, browser, context, live_server):
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    page.get_by_role("link", name="Commands").click()
    expect(page.get_by_role("link", name="Tune this session")).to_be_visible()

    page.get_by_role("searchbox", name="A command or a session").fill("lost bag")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Lost bag 2 runs").click()

    expect(page).to_have_url(re.compile(r"/sessions/bag/$"))
    plain.close()
