"""A session's ledger of summaries in a browser, with a worker that comes when the test lets it."""

import re
from decimal import Decimal

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from sessions_app.models import Session
from sessions_app.services import summarizers
from sessions_app.services.summaries import Outcome, advance
from tests.factories import make_session
from tests.queries.test_summary_ledgers import FACTS, add, use
from tests.services.summarizing import Scripted, by_request

LEDGER = "/p/p/sessions/s/summaries/"


@pytest.fixture
def session(project, published):
    """A session of 12 runs with two summaries, the newest in use."""
    session = make_session(project, runs=12, title="Lost bag", settings={"offset": 2})
    first = add(session, 1, 3, text="The bag is lost.", tokens_o200k=5)
    use(session, add(session, 2, 5, predecessor=first, text="The bag is found.", facts=FACTS, tokens_o200k=5))
    return session


@pytest.fixture
def ledger(session, page, live_server):
    page.goto(live_server.url + LEDGER)
    return page


@pytest.fixture
def summarizer_script(monkeypatch):
    """Return what lets the summarizer answer by a script."""

    def install(*script):
        monkeypatch.setitem(summarizers.SUMMARIZERS, "extractive", by_request(Scripted(*script)))

    return install


def entry(page, number):
    return page.locator(f"#ledger-{number}")


def work(session):
    """Let a worker come by once."""
    return advance(session_pk=session.pk, now=timezone.now())


def test_a_failure_is_shown_and_tried_again(ledger, session, summarizer_script):
    summarizer_script(ConnectionError("No answer."), "All is well.")
    ledger.get_by_role("button", name="Summarize now").click()
    expect(ledger.locator("#toasts")).to_contain_text("Summary #3 is asked for.")
    expect(entry(ledger, 3)).to_contain_text("waiting for a worker")
    expect(ledger.get_by_role("button", name="Summarize now")).to_be_disabled()
    expect(ledger.locator(".nav-job")).to_contain_text("Summary #3, waiting")

    assert work(session) is Outcome.FAILED

    expect(entry(ledger, 3)).to_contain_text("failed")
    failure = ledger.locator(".chain .err")
    expect(failure).to_contain_text("No answer.")
    expect(failure).to_contain_text("Nothing moved: #2 stays in use, runs 6–10 stay word for word")
    expect(ledger.locator(".nav-job")).to_have_count(0)

    failure.get_by_role("button", name="Retry #3").click()
    expect(entry(ledger, 4)).to_contain_text("waiting for a worker")
    assert work(session) is Outcome.ADVANCED

    expect(entry(ledger, 4)).to_contain_text("in use")
    expect(ledger.locator("#live")).to_have_text("Summary 4: completed")
    expect(failure).to_contain_text("Retried as #4.")
    expect(ledger.locator("#kept")).to_contain_text("Text, #2 → #4")


def test_what_waits_is_cancelled(ledger, session):
    ledger.get_by_role("button", name="Summarize now").click()
    ledger.get_by_role("button", name="Cancel #3").click()
    expect(entry(ledger, 3)).to_contain_text("cancelled")
    expect(ledger.get_by_role("button", name="Summarize now")).to_be_enabled()


def test_one_goes_back_rests_and_goes_on(ledger, session):
    ledger.get_by_role("link", name="Roll back to #1").click()
    dialog = ledger.get_by_role("dialog", name="Roll back to summary #1?")
    expect(dialog).to_contain_text("Runs 4–12 are sent word for word")
    dialog.get_by_role("button", name="Roll back").click()

    rests = ledger.locator(".rest-b")
    expect(rests).to_contain_text("reader rolled back to #1")
    expect(entry(ledger, 1)).to_contain_text("in use")
    expect(entry(ledger, 2)).to_contain_text("rolled back")

    rests.get_by_role("button", name="Resume").click()
    expect(rests).to_have_count(0)
    ledger.get_by_role("link", name="Use #2 again").click()
    ledger.get_by_role("dialog").get_by_role("button", name="Use again").click()
    expect(entry(ledger, 2)).to_contain_text("in use")


def test_one_edits_the_summary_in_use(ledger, session, no_complaints):
    ledger.get_by_role("link", name="Edit #2").click()
    field = ledger.get_by_label("Text", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value("The bag is found.")
    field.fill("The bag is found. " * 200)
    ledger.get_by_role("button", name="Put into use").click()
    expect(ledger.get_by_role("alert")).to_contain_text("max_summary_tokens allows 512")
    assert [complaint[-26:] for complaint in no_complaints] == ["422 (Unprocessable Entity)"]
    no_complaints.clear()

    ledger.get_by_label("Text", exact=True).fill("The red bag is found.")
    ledger.get_by_role("button", name="Put into use").click()
    expect(entry(ledger, 3)).to_contain_text("edited by reader")
    expect(ledger.locator("#kept ins")).to_contain_text("red")
    assert Session.objects.get().summary.text == "The red bag is found."


def test_two_people_who_press_at_once_get_one_entry(ledger, session, context, live_server):
    other = context.new_page()
    other.goto(live_server.url + LEDGER)
    # Both presses are on their way before either is answered.
    for page in (ledger, other):
        page.evaluate("setTimeout(() => document.getElementById('now-b').click(), 300)")
    for page in (ledger, other):
        expect(page.locator("#toasts")).to_contain_text("Summary #3 is asked for.")
        expect(entry(page, 3)).to_contain_text("waiting")
    assert list(session.summaries.order_by("number").values_list("number", "status")) == [
        (1, "completed"),
        (2, "completed"),
        (3, "pending"),
    ]


def test_entries_are_walked_and_opened_by_keys(ledger):
    ledger.keyboard.press("j")
    expect(entry(ledger, 1)).to_be_focused()
    ledger.keyboard.press("Enter")
    expect(ledger.locator("#kept")).to_contain_text("What summary #1 kept")
    expect(ledger).to_have_url(re.compile(r"\?entry=1$"))
    expect(entry(ledger, 1)).to_be_focused()
    ledger.go_back()
    expect(ledger.locator("#kept")).to_contain_text("What summary #2 keeps")
    ledger.keyboard.press("g")
    ledger.keyboard.press("u")
    expect(ledger).to_have_url(re.compile(r"/p/p/summaries/$"))
    expect(ledger.get_by_role("heading", level=1)).to_have_text("Summaries")


def test_the_ledger_stays_where_it_is_scrolled_while_entries_are_opened(session, page, live_server):
    for number in range(3, 40):
        add(session, number, 5)
    page.set_viewport_size({"width": 1200, "height": 700})
    page.goto(live_server.url + LEDGER)
    page.locator("#chain").evaluate("pane => { pane.scrollTop = 900; }")
    page.locator("#open-20").click()
    expect(page.locator("#kept")).to_contain_text("What summary #20 kept")
    assert page.locator("#chain").evaluate("pane => pane.scrollTop") > 500


def test_all_of_it_works_without_javascript(session, browser, client, live_server, settings):
    context = browser.new_context(java_script_enabled=False)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    page = context.new_page()
    page.goto(live_server.url + LEDGER)
    page.locator("#open-1").click()
    expect(page.locator("#kept")).to_contain_text("Text of #1")
    page.get_by_role("button", name="Summarize now").click()
    expect(page.locator("#toasts")).to_contain_text("Summary #3 is asked for.")
    page.get_by_role("button", name="Cancel #3").click()
    page.get_by_role("button", name="Retry #3").click()
    expect(entry(page, 4)).to_contain_text("waiting")
    page.get_by_role("link", name="Roll back to #1").click()
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#toasts")).to_contain_text("Summarizing goes on")
    page.get_by_role("link", name="Edit #1").click()
    page.get_by_label("Text", exact=True).fill("The red bag is lost.")
    page.get_by_role("button", name="Put into use").click()
    expect(entry(page, 5)).to_contain_text("edited by reader")
    context.close()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1366, 768), (1280, 720), (390, 844)])
def test_nothing_is_wider_than_the_screen(ledger, session, width, height):
    add(session, 3, 8, status="failed", error="No answer. " * 40, predecessor=session.summary)
    wide = {"tokens_before": 12_345, "tokens_o200k": 1_234, "duration_ms": 12_300, "ended_at": timezone.now()}
    late = {"facts": FACTS, "from_cache": True, "retired_at": timezone.now(), "cost_usd": Decimal("0.1234")}
    add(session, 14, 8, predecessor=session.summary, **wide, **late)
    add(session, 15, 8, status="running", predecessor=session.summary, started_at=timezone.now())
    ledger.set_viewport_size({"width": width, "height": height})
    ledger.reload()
    expect(entry(ledger, 15)).to_be_visible()
    assert ledger.evaluate("document.documentElement.scrollWidth") == width
    assert ledger.locator("#chain").evaluate("pane => pane.scrollWidth - pane.clientWidth") == 0
