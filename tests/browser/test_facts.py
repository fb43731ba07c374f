"""Following a fact, in a browser."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Project
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.django_db(transaction=True)

SELECT = """() => {
  const text = document.querySelector('#run-1 .turn.user .txt');
  const node = document.createTreeWalker(text, NodeFilter.SHOW_TEXT).nextNode(), range = document.createRange();
  const start = node.data.indexOf('knee brace');
  range.setStart(node, start);
  range.setEnd(node, start + 'knee brace'.length);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


@pytest.fixture
def session(project):
    """Return a conversation whose first run says it; of five runs the newest two are sent."""
    Project.objects.update(created_at=NOW - timedelta(days=1))
    session = make_session(project, settings={"strategy": "buffer", "last_n": 2})
    append_runs(session=session, runs=[simple_turn("My mother wears a knee brace.", "Noted.")], now=NOW)
    append_turns(session, 4, now=NOW + timedelta(minutes=1))
    return session


def test_from_selected_words_to_the_turn_that_missed_them_and_a_draft_that_brings_them_back(page, live_server, session):
    page.goto(f"{live_server.url}/p/p/sessions/s/?run=1&whole=1#run-1")
    page.evaluate(SELECT)
    page.get_by_role("link", name="Follow over the turns").click()
    expect(page.locator(".probe-v h2")).to_contain_text("Missing in turns 4 to 5")
    expect(page.locator("#run-1 mark").first).to_have_text("knee brace")

    page.get_by_role("link", name="Turn 4", exact=True).click()
    expect(page.get_by_text("“knee brace”: nowhere")).to_be_visible()
    page.get_by_role("link", name="Follow it over all turns").click()

    way = page.locator(".ways-l li").filter(has_text="last_n 3")
    expect(way).to_contain_text("word for word")
    way.get_by_role("link", name="last_n 3").click()
    expect(page).to_have_url(re.compile(r"/tune/\?last_n=3&at=4&words=knee\+brace$"))
    expect(page.locator("#view")).to_contain_text("My mother wears a knee brace.")


def test_without_javascript_a_form_asks_for_the_words(browser, live_server, context, session):
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.goto(f"{live_server.url}/p/p/sessions/s/facts/")
    page.get_by_label("Words to follow", exact=True).fill("KNEE brace")
    page.get_by_role("button", name="Follow").click()
    expect(page.get_by_text("said in 1 run of 5")).to_be_visible()
    plain.close()


def test_a_small_screen_has_the_turns_in_a_sheet(page, live_server, session):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{live_server.url}/p/p/sessions/s/facts/?words=knee+brace")
    page.get_by_role("button", name="Turn by turn").click()
    expect(page.get_by_role("heading", name="“knee brace”, turn by turn")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= 390")


def test_folded_runs_open_in_their_place_and_the_address_stays(page, live_server, session):
    page.goto(f"{live_server.url}/p/p/sessions/s/facts/?words=knee+brace&at=4")
    page.get_by_role("link", name="Runs 2–3, no hit").click()
    expect(page.locator(".stream .run")).to_have_count(3)
    expect(page.locator("#run-2")).to_be_focused()
    expect(page.locator("#run-1 mark")).to_have_text("knee brace")
    assert page.url.endswith("/p/p/sessions/s/facts/?words=knee+brace&at=4")
