"""What stands on paper."""

import pytest
from playwright.sync_api import expect

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.any_database

LONG = "The handle of the bag is broken on the left side. " * 8


@pytest.fixture
def session(project, published):
    session = make_session(project, title="Lost bag", instructions="Be brief.", settings={"max_runs": 3})
    append_runs(session=session, runs=[simple_turn("Hello", LONG)], now=NOW)
    append_turns(session, 5)
    return session


@pytest.fixture
def printed(session, page, live_server):
    def printed(path):
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 794, "height": 1123})
        page.goto(live_server.url + path)
        return page

    return printed


def test_a_session_prints_what_was_said_without_what_one_presses(printed):
    page = printed("/p/p/sessions/s/")

    expect(page.get_by_role("heading", name="Lost bag")).to_be_visible()
    expect(page.locator(".stream .run")).to_have_count(6)
    cut = page.locator(".run.small p > span").evaluate_all(
        "all => all.filter(text => text.scrollWidth > text.clientWidth)"
    )
    assert cut == []
    for what in (".nav", ".head-actions", ".insp", ".run-a", ".tabbar"):
        expect(page.locator(what).first).not_to_be_visible()
    assert (
        page.evaluate(
            "document.documentElement.scrollHeight > 0 && getComputedStyle(document.querySelector('.stream')).overflowY"
        )
        == "visible"
    )


def test_a_prompt_prints_whole_without_its_settings(printed):
    page = printed("/p/p/sessions/s/tune/")

    expect(page.locator(".msgs")).to_contain_text("Be brief.")
    expect(page.locator(".msgs .msg").last).to_be_visible()
    for what in (".ctls", ".tabnav", ".query", ".head-actions"):
        expect(page.locator(what).first).not_to_be_visible()


def test_paper_is_light_whatever_the_screen_is(session, page, live_server):
    page.emulate_media(color_scheme="dark")
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    dark = "document.documentElement.classList.contains('dark')"
    assert page.evaluate(dark)

    page.evaluate(f"addEventListener('beforeprint', () => {{ window.printedDark = {dark}; }})")
    page.pdf()

    assert page.evaluate("window.printedDark") is False
    assert page.evaluate(dark)
