"""What a page says, and offers, when a request of its own comes to nothing."""

import re

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import expect

from sessions_app.models import Session
from tests.factories import make_session

pytestmark = pytest.mark.any_database

TUNE = "/p/p/sessions/s/tune/"
EXPECTED = ("Failed to load resource", "htmx:sendError", "Response Status Error Code")


@pytest.fixture
def session(project, published):
    return make_session(project, runs=12, settings={"strategy": "summary", "offset": 2})


@pytest.fixture
def at(session, page, live_server, no_complaints):
    def at(path):
        page.goto(live_server.url + path)
        return page

    yield at
    no_complaints[:] = [text for text in no_complaints if not any(word in text for word in EXPECTED)]


def notice(page):
    return page.locator("#toasts .toast")


def cut(page):
    page.route("**/*", lambda route: route.abort())


def mend(page):
    page.unroute("**/*")
    page.evaluate("window.dispatchEvent(new Event('online'))")


def test_a_lost_connection_says_what_was_lost_and_what_only_reads_comes_by_itself_when_it_is_back(at):
    page = at(TUNE)
    cut(page)
    page.locator("#f-last_n").fill("1")
    expect(notice(page)).to_contain_text("No connection to the server. “last_n” did not arrive.")
    expect(page.locator("#live")).to_contain_text("No connection to the server.")

    mend(page)

    expect(notice(page)).to_contain_text("Connected again.")
    expect(page.locator(".msgs .gap")).to_contain_text("11 runs the model cannot see")
    expect(page).to_have_url(re.compile(r"last_n=1$"))


def test_what_was_lost_can_be_tried_again_by_hand(at):
    page = at(TUNE)
    cut(page)
    page.locator("#f-last_n").fill("1")
    again = notice(page).get_by_role("button", name="Try again")
    again.click()
    expect(notice(page)).to_have_count(1)
    page.unroute("**/*")

    again.click()

    expect(page.locator(".msgs .gap")).to_contain_text("11 runs the model cannot see")
    expect(page.locator("#toasts .toast.error")).to_have_count(0)


def test_what_writes_is_not_sent_twice_by_itself(at):
    page = at("/p/p/sessions/s/summaries/")
    cut(page)
    page.get_by_role("button", name="Summarize now").click()
    expect(notice(page)).to_contain_text("“Summarize now” did not arrive.")

    mend(page)

    expect(notice(page)).to_contain_text("Whether “Summarize now” arrived is not known; look before you try again.")
    assert Session.objects.get().summarize_through == 0
    notice(page).get_by_role("button", name="Try again").click()
    expect(page.locator("#toasts")).to_contain_text("asked for")


@pytest.mark.parametrize(
    ("status", "said", "can_be_tried_again"),
    [
        (403, "You may not do that. Your account does not have the right for it.", False),
        (404, "There is nothing here.", False),
        (500, "Something went wrong on our side. The request failed;", True),
        (503, "The database is busy. Nothing was stored.", True),
    ],
)
def test_a_refused_swap_is_told_in_the_words_of_the_page_about_it(at, status, said, can_be_tried_again):
    page = at(TUNE)
    answer = render_to_string(f"{status}.html")
    page.route("**/tune/**", lambda route: route.fulfill(status=status, body=answer, content_type="text/html"))
    page.locator("#f-last_n").fill("1")

    expect(notice(page)).to_contain_text(said)
    expect(page.locator("#f-last_n")).to_have_value("1")
    expect(notice(page).get_by_role("button", name="Try again")).to_be_visible(visible=can_be_tried_again)


def test_an_answer_of_what_stands_between_is_told_by_its_number(at):
    page = at(TUNE)
    page.route("**/tune/**", lambda route: route.fulfill(status=502, body="<b>proxy</b>", content_type="text/html"))
    page.locator("#f-last_n").fill("1")

    expect(notice(page)).to_contain_text("That did not work: the server answered 502.")


def test_a_form_that_has_expired_says_so_without_losing_the_page(at, context):
    page = at("/p/p/sessions/s/summaries/")
    context.clear_cookies(name="convoweb_csrf")
    page.get_by_role("button", name="Summarize now").click()

    expect(notice(page)).to_contain_text("The form has expired. Nothing was changed.")


def test_what_is_not_allowed_is_said_at_its_field(at):
    page = at(TUNE)
    page.locator("#f-last_n").fill("many")

    expect(page.locator("#f-last_n")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#w-last_n")).to_contain_text("last_n")
    expect(notice(page)).to_have_count(0)
