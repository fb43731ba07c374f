import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Session
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import create_session
from tests.factories import NOW, make_session

C47 = json.loads((Path(__file__).parent.parent / "data/cases/C47-html-in-messages.json").read_text())


@pytest.fixture
def tree(project):
    trip = make_session(project, "trip", runs=3, title="Family trip")
    hotel = make_session(project, "hotel", parent=trip, forked_at=1, title="Hotel")
    make_session(project, "late", parent=hotel, forked_at=1, title="Late arrival")
    return project


@pytest.fixture
def show(page, live_server, project):
    def show(query=""):
        page.goto(f"{live_server.url}/p/{project.slug}/sessions/{query}")
        return page

    return show


def shown(page):
    return page.locator("#more .muted")


def titles(page):
    return page.locator(".tgrid .t-link")


def test_arrow_keys_open_and_close_a_session_and_the_address_remembers(tree, show):
    page = show()
    expect(titles(page)).to_have_text(["Family trip"])
    page.keyboard.press("j")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("link", name="Hotel", exact=True)).to_be_visible()
    expect(page.get_by_role("row", name="Family trip")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("link", name="Late arrival")).to_be_visible()
    expect(page.get_by_role("row", name="Hotel")).to_be_focused()
    page.reload()
    expect(titles(page)).to_have_text(["Family trip", "Hotel", "Late arrival"])
    page.keyboard.press("j")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("link", name="Hotel", exact=True)).to_be_hidden()
    page.reload()
    expect(titles(page)).to_have_text(["Family trip"])


def test_what_a_swap_brought_opens_in_place_at_once(tree, show):
    page = show()
    page.evaluate("""() => {
        window.samePage = true;
        const open = () => document.querySelector('[aria-label="Expand Hotel"]').click();
        document.addEventListener('htmx:afterSwap', () => setTimeout(open), {once: true});
    }""")
    page.get_by_role("button", name="Expand Family trip").click()
    expect(titles(page)).to_have_text(["Family trip", "Hotel", "Late arrival"])
    assert page.evaluate("window.samePage")


def test_two_trees_that_are_opened_before_the_answer_are_both_remembered(tree, show, hold):
    visa = make_session(tree, "visa", runs=1, title="Visa")
    make_session(tree, "renewal", parent=visa, forked_at=1, title="Renewal")
    page = show("?sort=title")
    let_go = hold("toggle=trip")
    page.get_by_role("button", name="Expand Family trip").click()
    page.get_by_role("button", name="Expand Visa").click()
    let_go()
    expect(titles(page)).to_have_text(["Family trip", "Hotel", "Visa", "Renewal"])
    expect(page).to_have_url(re.compile(r"[?&]open=trip%2Cvisa$"))


def test_a_search_drops_what_was_asked_for_before_it(tree, show, hold):
    page = show()
    hold("toggle=trip")
    page.get_by_role("button", name="Expand Family trip").click()
    with page.expect_event("requestfailed", lambda request: "toggle=trip" in request.url):
        page.locator("#q").fill("late")
    expect(titles(page)).to_have_text(["Family trip", "Hotel", "Late arrival"])
    expect(page).to_have_url(re.compile(r"/sessions/\?q=late$"))


def test_the_search_follows_what_is_typed_and_keeps_the_focus(tree, show):
    page = show()
    page.keyboard.press("/")
    page.keyboard.type("late")
    expect(titles(page)).to_have_text(["Family trip", "Hotel", "Late arrival"])
    expect(page.locator("tr.way")).to_have_count(2)
    expect(page.locator("#q")).to_be_focused()
    page.wait_for_url("**/sessions/?q=late")
    page.go_back()
    expect(page.locator("#q")).to_have_value("")
    expect(titles(page)).to_have_text(["Family trip"])


def test_a_filter_in_a_menu_changes_the_rows_and_its_button(tree, show):
    create_session(project=tree, now=NOW, public_id="visa", title="Visa", user_id="u-7")
    page = show()
    page.get_by_role("button", name="User Any").click()
    page.get_by_label("User id").fill("u-7")
    page.get_by_label("User id").press("Enter")
    expect(shown(page)).to_have_text("1 of 1 matching session shown")
    expect(titles(page)).to_have_text(["Visa"])
    expect(page.locator("#chip-user")).to_have_text("Useru-7")
    page.wait_for_url("**/sessions/?user=u-7")


def test_load_more_appends_the_next_rows(project, show):
    for n in range(60):
        create_session(project=project, now=NOW, public_id=f"s{n:02}", title=f"Session {n:02}")
    page = show("?sort=title")
    expect(titles(page)).to_have_count(25)
    page.get_by_role("link", name="Load 25 more").click()
    expect(shown(page)).to_have_text("50 of 60 trees shown, 60 sessions in all")
    expect(page.locator("#load-more")).to_be_focused()
    page.get_by_role("link", name="Load 25 more").click()
    expect(shown(page)).to_have_text("60 trees, 60 sessions")
    expect(titles(page)).to_have_text([f"Session {n:02}" for n in range(60)])
    expect(page.locator("#load-more")).to_have_count(0)


def test_the_tree_opens_by_plain_links_without_scripts(tree, browser, live_server, context):
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(context.cookies())
    page = plain.new_page()
    page.goto(f"{live_server.url}/p/{tree.slug}/sessions/")
    page.locator(".caret").click()
    expect(titles(page)).to_have_text(["Family trip", "Hotel"])
    page.get_by_role("searchbox", name="Search sessions").last.fill("late")
    page.get_by_role("button", name="Apply").click()
    expect(titles(page)).to_have_text(["Family trip", "Hotel", "Late arrival"])
    plain.close()


def test_c47_hostile_titles_tags_users_and_search_words_are_shown_as_text(project, show):
    payloads = C47["input"]["payloads"]
    for n, text in enumerate(payloads):
        create_session(project=project, now=NOW, public_id=f"s{n}", title=text, user_id=text[:200], tags=[text[:100]])
    page = show("?sort=created")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    assert sorted(titles(page).all_inner_texts()) == sorted(" ".join(text.split()) for text in payloads)
    assert not [url for url in asked if "collector.example" in url.split("/")[2]]
    for text in [text for text in payloads if "\n" not in text]:
        page.locator("#q").fill(text)
        expect(titles(page)).to_have_text([text])
        expect(page.locator("#q")).to_have_value(text)
    assert page.evaluate("window.pwned") is None
    assert Session.objects.count() == len(payloads)


def test_words_lead_to_the_run_that_they_stand_in(tree, show):
    late = Session.objects.get(public_id="late")
    append_runs(session=late, runs=[simple_turn("Where is my suitcase?", "On rack seven")], now=NOW)
    page = show()
    page.keyboard.press("/")
    page.keyboard.type("suitca")
    expect(page.locator(".hit mark")).to_have_text("suitcase")
    expect(titles(page)).to_have_text(["Family trip", "Hotel", "Late arrival"])
    page.locator(".hit").click()
    expect(page).to_have_url(re.compile(r"/sessions/late/\?find=suitca&at=2#run-2$"))
    expect(page.locator("#run-2")).to_contain_text("Where is my suitcase?")


def test_filters_of_menus_become_labels_that_are_removed_one_by_one(project, show):
    make_session(project, "web", title="From the web", metadata={"channel": "web"}, settings={"max_runs": 2})
    make_session(project, "phone", title="By phone", metadata={"channel": "phone"})
    page = show()
    page.get_by_role("button", name="Metadata").click()
    page.get_by_label("Name").fill("channel")
    page.get_by_label("Value").fill("web")
    page.get_by_label("Value").press("Enter")
    expect(titles(page)).to_have_text(["From the web"])
    expect(page).to_have_url(re.compile(r"\?metadata.channel=web$"))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="More").click()
    page.get_by_label("Has settings of its own").check()
    expect(page).to_have_url(re.compile(r"\?own=1&metadata.channel=web$"))
    page.keyboard.press("Escape")
    page.get_by_role("link", name="channel = web, remove this filter").click()
    expect(page).to_have_url(re.compile(r"\?own=1$"))
    page.get_by_role("link", name="own settings, remove this filter").click()
    expect(titles(page)).to_have_count(2)


def test_a_filters_menu_takes_what_is_typed_at_once_and_closes_at_enter(project, show):
    make_session(project, "mine", user_id="mira", title="Mine")
    make_session(project, "yours", user_id="noor", title="Yours")
    page = show()
    expect(titles(page)).to_have_count(2)
    page.locator("#chip-user button").click()
    expect(page.locator("#f-user")).to_be_focused()
    page.keyboard.type("noor")
    page.keyboard.press("Enter")
    expect(page.locator("#m-user")).to_be_hidden()
    expect(titles(page)).to_have_text(["Yours"])
