"""What a request asks for beside the settings, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app.services.prompts import session_prompt
from tests.factories import make_session

TOOLS = '[{"type": "function", "function": {"name": "search"}}]'
LONG = "A fact that goes on. " * 150


@pytest.fixture
def session(project, published):
    return make_session(project, runs=12, title="Lost bag", instructions="Be brief.", settings={"strategy": "buffer"})


@pytest.fixture
def tune(session, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/")
    return page


def shows(page, prompt):
    expect(page.locator(".finger")).to_have_attribute("title", prompt.fingerprint)


def test_context_is_written_block_by_block_while_the_prompt_follows(session, tune):
    summary = tune.locator("#request > summary")
    summary.focus()
    tune.keyboard.press("Enter")
    first = tune.locator("#i-context-1")
    first.click()  # waits until the fold has opened; what is being opened takes no focus yet
    first.press_sequentially("A fact.", delay=30)
    shows(tune, session_prompt(session=session, context=["A fact."]))
    expect(first).to_be_focused()
    expect(summary).to_contain_text("1 input besides the query")
    tune.keyboard.press("Tab")
    expect(tune.locator("#i-context-2")).to_be_focused()
    tune.keyboard.type("Another.")
    shows(tune, session_prompt(session=session, context=["A fact.", "Another."]))
    expect(tune.locator("#context-blocks textarea")).to_have_count(3)
    expect(tune).to_have_url(re.compile(r"/tune/\?context=A\+fact\.&context=Another\.$"))
    tune.reload()
    expect(first).to_have_value("A fact.")


def test_bad_json_is_told_at_its_field_until_it_is_mended(session, tune):
    tune.locator("#request > summary").click()
    field, error = tune.locator("#i-tools"), tune.locator("#e-tools")
    field.fill('[{"type": }]')
    expect(error).to_contain_text("line 1, column 11")
    expect(field).to_have_value('[{"type": }]')
    expect(field).to_have_attribute("aria-invalid", "true")
    tune.reload()
    field.fill(TOOLS)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(error).to_contain_text("a list of OpenAI tool definitions")
    expect(tune.locator(".tool-defs summary")).to_contain_text("1 tool definition")


def test_a_setting_that_is_none_is_marked_until_it_is_mended(tune):
    field = tune.locator("#f-max_runs")
    field.fill("0")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("3")
    expect(field).not_to_have_attribute("aria-invalid", "true")


def test_a_past_turn_is_asked_for_and_walked_from(session, tune):
    tune.locator("#request > summary").click()
    tune.locator("#i-at").fill("5")
    banner = tune.get_by_role("region", name="The past")
    expect(banner).to_contain_text("turn 5 of 12")
    shows(tune, session_prompt(session=session, at=5))
    banner.get_by_role("link", name="Turn before").click()
    shows(tune, session_prompt(session=session, at=4))
    tune.wait_for_load_state()
    tune.locator("#f-last_n").fill("1")
    shows(tune, session_prompt(session=session, overrides={"last_n": 1}, at=4))
    banner.get_by_role("link", name="Now").click()
    expect(banner).to_have_count(0)
    shows(tune, session_prompt(session=session, overrides={"last_n": 1}))


def test_what_is_too_long_for_an_address_stays_while_one_tunes(session, tune):
    tune.locator("#request > summary").click()
    tune.locator("#i-context-1").fill(LONG)
    expect(tune.locator("#request-l")).to_contain_text("Too long for an address: context.")
    expect(tune).to_have_url(re.compile(r"/tune/$"))
    tune.locator("#f-last_n").fill("2")
    shows(tune, session_prompt(session=session, overrides={"last_n": 2}, context=[LONG]))
    tune.locator("#tab-why").click()
    expect(tune.locator(".why")).to_contain_text("last_n 2")
    expect(tune).to_have_url(re.compile(r"/tune/why/\?last_n=2$"))
    tune.locator("#tab-prompt").click()
    shows(tune, session_prompt(session=session, overrides={"last_n": 2}, context=[LONG]))
    tune.locator("#x-last_n").click()
    shows(tune, session_prompt(session=session, context=[LONG]))
    expect(tune.locator("#i-context-1")).to_have_value(LONG)
    tune.locator("#i-at").fill("5")
    shows(tune, session_prompt(session=session, context=[LONG], at=5))
    tune.get_by_role("link", name="Now").click()
    shows(tune, session_prompt(session=session, context=[LONG]))
    expect(tune.locator("#i-at")).to_have_value("")
    expect(tune.locator("#i-context-1")).to_have_value(LONG)


def test_a_link_that_is_followed_drops_the_draft_asked_for_before_it(tune, hold):
    tune.locator("#request > summary").click()
    tune.locator("#i-context-1").fill(LONG)
    expect(tune.locator("#request-l")).to_contain_text("Too long for an address: context.")
    hold("/tune/$")
    with tune.expect_request("**/tune/"):
        tune.locator("#f-last_n").fill("2")
    with tune.expect_event("requestfailed", lambda request: request.url.endswith("/tune/")):
        tune.locator("#tab-why").click()
    expect(tune).to_have_url(re.compile(r"/tune/why/$"))
    expect(tune.locator("#f-last_n")).to_have_value("unlimited")


def test_a_page_that_is_scrolled_stays_where_it_is_while_it_changes(session, tune):
    tune.set_viewport_size({"width": 1000, "height": 500})
    tune.locator("#request > summary").click()
    view, field = tune.locator("#view"), tune.locator("#i-at")
    field.scroll_into_view_if_needed()
    before = view.evaluate("view => view.scrollTop")
    assert before > 0
    field.fill("12")
    expect(tune.get_by_role("region", name="The past")).to_be_visible()
    expect(field).to_be_focused()
    assert view.evaluate("view => view.scrollTop") == before


def test_it_is_asked_without_javascript_too(session, browser, client, live_server, settings):
    context = browser.new_context(java_script_enabled=False)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/")
    page.locator("#request > summary").click()
    page.locator("#i-context-1").fill("A fact.\nAnd more.")
    page.locator("#i-tools").fill("[")
    page.locator("#request").get_by_role("button", name="Apply").click()
    expect(page.locator("#e-tools")).to_contain_text("This is not JSON, line 1, column 2")
    page.locator("#i-tools").fill("")
    page.locator("#i-instructions").fill(LONG.strip())
    page.locator("#request").get_by_role("button", name="Apply").click()
    prompt = session_prompt(session=session, context=["A fact.\nAnd more."], instructions=LONG.strip())
    shows(page, prompt)
    expect(page.locator("#request-l")).to_contain_text("Too long for an address: instructions.")
    context.close()
