"""Where the focus is after a swap, and what moves and shows where somebody asked for less or for other colors."""

import pytest
from playwright.sync_api import expect

from tests.factories import make_open_run, make_session

pytestmark = pytest.mark.any_database

# The first control of each kind that swaps something when it is pressed.
CONTROLS = """() => {
  const kinds = new Map();
  document.querySelectorAll('main :is(a, button)[hx-get]').forEach((control, place) => {
    const kind = [control.className, control.getAttribute('hx-target'), control.closest('nav')?.ariaLabel].join();
    if (control.checkVisibility() && !control.matches('[aria-current]') && !kinds.has(kind)) kinds.set(kind, place);
  });
  window.stays = true;
  return [...kinds.values()].slice(0, 8);
}"""
FOCUSED = "document.activeElement === document.body && window.stays ? document.body.innerText.slice(0, 200) : ''"


@pytest.fixture
def session(project, published):
    session = make_session(project, runs=60, title="Lost bag", settings={"last_n": 4, "max_input_tokens": 300})
    make_session(project, "child", parent=session, title="Lost again")
    return session


@pytest.mark.parametrize("path", ["", "s/", "s/tune/", "s/tune/why/?max_runs=3", "s/tune/compare/?max_runs=3"])
def test_the_focus_is_never_lost_to_a_swap(session, page, live_server, path):
    address = f"{live_server.url}/p/p/sessions/{path}"
    page.goto(address)
    expect(page.locator(".htmx-request")).to_have_count(0)
    places = page.evaluate(CONTROLS)
    assert places
    for place in places:
        page.goto(address)
        expect(page.locator(".htmx-request")).to_have_count(0)
        page.evaluate(CONTROLS)
        control = page.locator("main :is(a, button)[hx-get]").nth(place)
        pressed = control.evaluate("control => control.outerHTML.slice(0, 120)")
        control.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".htmx-request")).to_have_count(0)
        assert (pressed, page.evaluate(FOCUSED)) == (pressed, "")


def test_nothing_moves_for_who_wants_less_motion(session, page, live_server):
    make_open_run(session)
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    expect(page.locator(".spin").first).to_be_visible()
    moving = "document.getAnimations().filter(each => each.playState === 'running').length"
    assert page.evaluate(moving) > 0

    page.emulate_media(reduced_motion="reduce")

    assert page.evaluate(moving) == 0


def test_forced_colors_keep_the_patterns_and_what_is_current(session, page, live_server):
    page.emulate_media(forced_colors="active")
    page.goto(f"{live_server.url}/p/p/sessions/s/")

    expect(page.locator(".strip")).to_have_css("forced-color-adjust", "none")
    expect(page.locator(".nav-link[aria-current=page]")).to_have_css("outline-style", "solid")
