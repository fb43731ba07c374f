"""A session's page while its bot talks, in a browser."""

import pytest
from playwright.sync_api import expect

from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, ToolCall
from sessions_app.services.runs import append_runs
from sessions_app.services.session_deletion import delete_session
from tests.browser.test_session import CALLED
from tests.factories import NOW, append_turns, make_session


@pytest.fixture
def opened(project, published, page, live_server):
    session = make_session(project, title="Lost bag", settings={"strategy": "buffer"})
    append_turns(session, 30)
    append_runs(session=session, runs=[CALLED], now=NOW)
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    expect(page.locator(".strip")).to_be_visible()
    return page, session


def scroll(page, top):
    page.evaluate("top => { document.querySelector('#stream').scrollTop = top; }", top)


def test_new_runs_come_without_a_reload_and_leave_the_reader_where_they_are(opened):
    page, session = opened
    scroll(page, 300)
    there = page.locator("#run-6").bounding_box()
    page.evaluate("window.kept = true")
    append_turns(session, 3)

    pill = page.get_by_role("button", name="3 new runs")
    expect(pill).to_be_visible()
    assert abs(page.locator("#run-6").bounding_box()["y"] - there["y"]) < 2
    expect(page.locator("#run-count")).to_contain_text("34 runs")

    pill.click()
    expect(page.locator("#run-34")).to_be_in_viewport()
    expect(pill).to_be_hidden()
    assert page.evaluate("window.kept")


def test_a_reader_at_the_end_stays_there_and_what_is_open_stays_open(opened):
    page, session = opened
    call = page.locator("#run-31 .tool")
    call.locator("summary").click()
    expect(call).to_have_attribute("open", "")
    scroll(page, 100_000)
    append_turns(session, 2)

    expect(page.locator("#run-33")).to_be_in_viewport()
    expect(call).to_have_attribute("open", "")
    expect(page.locator("#came")).to_be_hidden()


def test_a_session_that_is_deleted_says_so_once(opened, no_complaints):
    page, session = opened
    delete_session(session=session, now=NOW)
    expect(page.get_by_role("alert").filter(has_text="This is not there any more")).to_be_visible()
    expect(page.locator("#follow")).to_have_count(0)
    expect(page.locator("#toasts .toast")).to_have_count(0)
    no_complaints.clear()  # the browser itself complains of the one answer 404


def test_a_long_call_is_loaded_when_it_is_opened_and_copied_exactly(opened, context, live_server):
    page, session = opened
    result = '{"rows":[' + ",".join('"a row of words"' for _ in range(300)) + "]}"
    asked = Event(EventKind.MESSAGE, "All?", Role.USER)
    call = Event(EventKind.TOOL_CALL, tool=ToolCall("c9", "all_rows", "{}", result), parent=1)
    append_runs(session=session, runs=[NewRun((asked, Event(EventKind.MESSAGE, "", Role.ASSISTANT), call))], now=NOW)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live_server.url)
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    run = page.locator("#run-32")
    run.get_by_text("all_rows").click()
    expect(run.locator("pre").last).to_contain_text("a row of words")

    run.hover()
    run.get_by_role("button", name="Copy run 32").click()
    expect(page.locator("#toasts .toast")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"user: All?\n\ntool all_rows: {{}}\n{result}"


def test_n_and_p_go_through_what_was_found(opened):
    page, _ = opened
    page.keyboard.press("/")
    page.keyboard.type("answer")
    page.keyboard.press("Enter")
    expect(page.locator(".run.here")).to_have_attribute("id", "run-1")
    page.keyboard.press("Escape")
    page.locator("#stream").focus()
    page.keyboard.press("n")
    expect(page.locator(".run.here")).to_have_attribute("id", "run-2")
    page.keyboard.press("p")
    expect(page.locator(".run.here")).to_have_attribute("id", "run-1")
