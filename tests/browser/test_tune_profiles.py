"""A profile as A, and the prompt to take along, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app.domain.memory_settings import stored_values
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.prompts import effective_settings
from tests.factories import NOW, make_session

SHORT = {"strategy": "buffer", "last_n": 2}


@pytest.fixture
def session(project, published):
    return make_session(project, runs=12, settings={"strategy": "buffer"})


@pytest.fixture
def profile(session):
    values = stored_values(effective_settings(session=session, overrides=SHORT).values)
    return save_new_profile(project=session.project, name="Short", settings=values, actor="ada", now=NOW)


@pytest.fixture
def bench(session, live_server):
    return f"{live_server.url}/p/p/sessions/s/tune/"


def test_a_profile_is_chosen_as_a_and_stays_it_while_one_tunes(profile, page, bench):
    page.goto(f"{bench}compare/")
    page.get_by_label("A is").focus()
    page.get_by_label("A is").select_option("Short")
    figures = page.locator(".cmp-t tr").filter(has_text="Runs the model cannot see").locator("td")
    expect(figures).to_have_text(["10", "0", "\N{MINUS SIGN}10"])
    expect(page.get_by_label("A is")).to_be_focused()
    page.locator("#f-last_n").fill("5")
    expect(figures).to_have_text(["10", "7", "\N{MINUS SIGN}3"])
    page.get_by_role("link", name="Replay").click()
    expect(page.locator(".plots .line-b")).to_have_count(1)
    expect(page).to_have_url(re.compile(rf"/replay/\?last_n=5&a=profile%3A{profile.pk}$"))
    page.reload()
    expect(page.get_by_label("A is")).to_have_value(f"profile:{profile.pk}")
    page.get_by_label("A is").select_option("Saved")
    expect(page).to_have_url(re.compile(r"/replay/\?last_n=5$"))


def test_the_prompt_is_copied_by_keyboard(session, page, context, bench, live_server):
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live_server.url)
    page.goto(f"{bench}?last_n=4")
    page.locator("#copy-open").press("Enter")
    page.locator("#copy-curl").press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#as-curl").text_content()
    page.keyboard.press("Escape")
    expect(page.locator("#copy-p")).to_be_hidden()


def test_without_javascript_both_work_by_hand(profile, browser, client, live_server, bench, settings):
    context = browser.new_context(java_script_enabled=False)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{bench}?last_n=4")
    page.get_by_label("A is").select_option("Short")
    page.locator(".head-actions").get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(rf"/tune/\?last_n=4&a=profile%3A{profile.pk}$"))
    page.locator("#copy-open").click()
    expect(page.locator("#as-python")).to_contain_text("CONVOWEB_KEY")
    expect(page.locator("#copy-curl")).to_be_hidden()
    context.close()
