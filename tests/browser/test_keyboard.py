"""What keys do, as the list says that ? opens."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, ToolCall
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.any_database

CALLED = NewRun(
    (
        Event(EventKind.MESSAGE, "Where is it?", Role.USER),
        Event(EventKind.MESSAGE, "", Role.ASSISTANT),
        Event(EventKind.TOOL_CALL, tool=ToolCall("c1", "trace_bag", "{}", "Zurich"), parent=1),
        Event(EventKind.MESSAGE, "In Zurich.", Role.ASSISTANT),
    )
)


@pytest.fixture
def session(project, published):
    session = make_session(project, title="Lost bag", settings={"strategy": "buffer"})
    append_runs(session=session, runs=[CALLED], now=NOW)
    append_turns(session, 3)
    return session


@pytest.fixture
def at(session, page, live_server):
    def at(path):
        page.goto(live_server.url + path)
        expect(page.locator("#main")).to_be_visible()
        return page

    return at


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ("gs", "/p/p/sessions/"),
        ("gu", "/p/p/summaries/"),
        ("gi", "/p/p/import/"),
        ("gt", "/p/p/settings/"),
        ("t", "/p/p/sessions/s/tune/"),
        ("f", "/p/p/sessions/s/fork/"),
    ],
)
def test_keys_lead_to_other_pages(at, keys, path):
    page = at("/p/p/sessions/s/")
    press(page, *keys)

    expect(page).to_have_url(re.compile(rf"{path}(\?.*)?$"))


def test_w_shows_what_the_model_saw_at_the_run_in_focus(at):
    page = at("/p/p/sessions/s/")
    page.locator("#run-2").focus()
    press(page, "w")
    expect(page).to_have_url(re.compile(r"/then/\?at=2"))

    press(page, "j")
    expect(page).to_have_url(re.compile(r"/then/\?at=3"))
    press(page, "k")
    expect(page).to_have_url(re.compile(r"/then/\?at=2"))


def test_x_opens_and_closes_tool_results(at):
    page = at("/p/p/sessions/s/?from=1&to=1&whole=1")
    result = page.locator(".tool").first
    was = result.get_attribute("open")
    press(page, "x")
    expect(result).to_have_js_property("open", was is None)
    press(page, "x")
    expect(result).to_have_js_property("open", was is not None)


def test_e_exports_the_session(at):
    page = at("/p/p/sessions/s/")
    with page.expect_download() as download:
        press(page, "e")
    assert download.value.suggested_filename.endswith(".jsonl")


def test_numbers_change_the_view_of_the_workbench_and_command_s_saves(at):
    page = at("/p/p/sessions/s/tune/?last_n=2")
    for key, view in (("2", "why"), ("3", "compare"), ("4", "replay")):
        press(page, key)
        expect(page).to_have_url(re.compile(rf"/tune/{view}/"))
    press(page, "1")
    expect(page).to_have_url(re.compile(r"/tune/\?"))

    page.locator("#f-last_n").focus()
    press(page, "Control+s")

    expect(page.get_by_role("dialog").get_by_role("button", name="Save to session")).to_be_visible()


def test_brackets_show_and_hide_what_stands_beside(at):
    page = at("/p/p/sessions/s/")
    press(page, "[")
    expect(page.locator("html")).to_have_attribute("data-nav", "rail")
    press(page, "]")
    expect(page.locator("html")).to_have_attribute("data-insp", "off")


def test_slash_goes_to_the_search_where_keys_are_letters(at):
    page = at("/p/p/sessions/")
    press(page, "/")
    expect(page.locator("#q")).to_be_focused()
    press(page, "t", "?", "[")
    expect(page.locator("#q")).to_have_value("t?[")
    expect(page.locator("#help")).not_to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-nav", "full")


def test_single_keys_can_be_switched_off_for_good(at):
    page = at("/p/p/sessions/s/")
    press(page, "?")
    page.get_by_role("switch", name="Single keys act as shortcuts").uncheck()
    press(page, "Escape")
    page = at("/p/p/sessions/s/")

    press(page, "t", "[", "g", "s")

    expect(page.locator("html")).to_have_attribute("data-nav", "full")
    press(page, "Control+k")
    expect(page.locator("#palette-q")).to_be_focused()
    expect(page).to_have_url(re.compile(r"/sessions/s/$"))


def test_the_account_switches_single_keys_too(at):
    page = at("/account/")
    page.get_by_role("switch", name="Single keys act as shortcuts").uncheck()
    page = at("/p/p/sessions/s/")
    press(page, "[")

    expect(page.locator("html")).to_have_attribute("data-nav", "full")
    press(page, "Control+k")
    expect(page.locator("#palette-q")).to_be_focused()
