"""Compare and Replay of the tune page, by hand, by keyboard, on a small screen and without JavaScript."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app.services import replays
from sessions_app.services.prompts import session_prompt
from sessions_app.views import tune_replay
from tests.factories import make_session


@pytest.fixture
def session(project, published):
    return make_session(project, runs=12, title="Lost bag", instructions="Be brief.", settings={"strategy": "buffer"})


@pytest.fixture
def bench(session, live_server):
    return f"{live_server.url}/p/p/sessions/s/tune/"


def figure(page, name):
    return page.locator(".cmp-t tr").filter(has=page.get_by_role("rowheader", name=name, exact=True)).locator("td")


def test_compare_follows_the_settings_and_leads_to_why(session, page, bench):
    page.goto(bench)
    page.get_by_role("link", name="Compare").click()
    expect(page.locator("#view")).to_contain_text("Both send the same, word for word.")
    page.locator("#f-last_n").fill("4")
    expect(figure(page, "Runs the model cannot see")).to_have_text(["0", "8", "+8"])
    expect(page.get_by_role("table", name="Prompts side by side")).to_contain_text("question 1 → answer 1")
    expect(page).to_have_url(re.compile(r"/tune/compare/\?last_n=4$"))
    page.get_by_role("link", name="Everything").click()
    expect(page.get_by_role("table", name="Settings")).to_contain_text("max_input_tokens")
    page.get_by_role("link", name="Why, run by run").click()
    expect(page).to_have_url(re.compile(r"/tune/why/\?last_n=4&only=changed$"))
    expect(page.locator(".why tbody tr").first).to_contain_text("question 8")


def test_keys_go_from_tab_to_tab_and_keep_the_draft(session, page, bench):
    page.goto(f"{bench}?last_n=4&query=And+now%3F")
    for key, tab in (("4", "replay/"), ("3", "compare/"), ("2", "why/"), ("1", "")):
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(rf"/tune/{tab}\?last_n=4&query=And\+now%3F$"))
        page.wait_for_load_state()
    expect(page.locator("#q-next")).to_have_value("And now?")


def test_replay_follows_the_settings_and_leads_from_a_turn_to_its_prompt(session, page, bench):
    page.goto(f"{bench}replay/")
    expect(page.locator(".line-a")).to_have_count(1)
    expect(page.locator(".line-b")).to_have_count(0)
    page.locator("#f-last_n").fill("4")
    expect(page.locator(".line-b")).to_have_count(1)
    expect(page.locator(".totals")).to_contain_text("7 runs")
    page.locator(".col .slot").nth(7).hover()
    tokens = [session_prompt(session=session, overrides=each, at=8).tokens.total for each in ({}, {"last_n": 4})]
    readout = f"turn 8: A {tokens[0]} tokens, cannot see 0 · B {tokens[1]} tokens, cannot see 3"
    expect(page.locator("#readout")).to_have_text(readout)
    page.locator(".col .slot").nth(7).click()
    expect(page).to_have_url(re.compile(r"\?last_n=4&turn=8#turn-x$"))
    expect(page.locator("#turn")).to_have_value("8")
    page.get_by_role("link", name="What the model saw at this turn").click()
    expect(page).to_have_url(re.compile(r"/tune/\?last_n=4&at=8$"))
    expect(page.locator(".past")).to_contain_text("turn 8")
    expect(page.locator(".finger")).to_have_attribute(
        "title", session_prompt(session=session, overrides={"last_n": 4}, at=8).fingerprint
    )


def test_a_turn_can_be_typed_and_stays_while_settings_change(session, page, bench):
    page.goto(f"{bench}replay/?last_n=4")
    page.locator("#turn").fill("5")
    page.locator("#turn").press("Enter")
    expect(page).to_have_url(re.compile(r"\?last_n=4&turn=5"))
    expect(page.get_by_role("table", name="Turn 5, replayed")).to_be_visible()
    page.locator("#f-last_n").fill("2")
    expect(page).to_have_url(re.compile(r"\?last_n=2&turn=5"))
    expect(page.get_by_role("table", name="Turn 5, replayed")).to_be_visible()


def test_the_chart_is_read_by_keyboard(session, page, bench):
    page.goto(f"{bench}replay/?last_n=4")
    page.locator("#plot-tokens").focus()
    page.keyboard.press("Home")
    expect(page.locator("#readout")).to_contain_text("turn 1: A ")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#readout")).to_contain_text("turn 4: A ")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"turn=4#turn-x$"))
    expect(page.get_by_role("table", name="Turn 4, replayed")).to_be_visible()


def test_the_table_and_the_files_have_every_turn(session, page, bench):
    page.goto(f"{bench}replay/?last_n=4")
    page.get_by_role("link", name="Table").click()
    expect(page.locator(".turns tbody tr")).to_have_count(12)
    expect(page.locator("#turn-8")).to_contain_text("question 8")
    for kind in ("CSV", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("link", name=kind).click()
        assert download.value.suggested_filename.endswith(kind.lower())


def test_a_long_replay_begins_when_it_is_asked_for_and_anew_for_each_draft(session, page, bench, monkeypatch):
    for module in (tune_replay, replays):
        monkeypatch.setattr(module, "LIVE", 0)
    page.goto(f"{bench}replay/?last_n=4")
    page.get_by_role("link", name="Replay 12 turns").click()
    expect(page.locator(".totals")).to_be_visible()
    page.locator("#f-last_n").fill("3")
    expect(page.get_by_role("link", name="Replay 12 turns")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/replay/\?last_n=3$"))


@pytest.mark.parametrize("tab", ["compare/", "replay/", "replay/?as=table"])
def test_nothing_sticks_out_of_a_small_screen(session, page, bench, tab):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{bench}{tab}{'&' if '?' in tab else '?'}last_n=4")
    expect(page.locator("#view")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#view").evaluate("view => view.scrollWidth <= view.clientWidth")


def test_both_work_without_javascript(session, browser, client, live_server, bench, settings):
    context = browser.new_context(java_script_enabled=False)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{bench}compare/")
    page.locator("#f-last_n").fill("4")
    page.locator(".head-actions").get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(r"/compare/\?last_n=4$"))
    expect(figure(page, "Runs in the prompt")).to_have_text(["12", "4", "\N{MINUS SIGN}8"])
    page.get_by_role("link", name="Replay").click()
    page.locator("#turn").fill("8")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile(r"/replay/\?last_n=4&turn=8$"))
    expect(page.get_by_role("table", name="Turn 8, replayed")).to_be_visible()
    context.close()
