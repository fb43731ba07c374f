"""Saving with a note, undoing it, going back to a version, and profiles, in a browser."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app.models import Profile, Project, Session
from tests.factories import make_session


@pytest.fixture
def session(project, published):
    return make_session(project, runs=4, title="Lost bag", settings={"strategy": "buffer"})


def tune(page, live_server, query=""):
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/{query}")


def save_to_session(page, note):
    page.locator(".head-actions").get_by_role("button", name="Save to session").click()
    dialog = page.get_by_role("dialog", name="to this session")
    dialog.get_by_label("Note").fill(note)
    dialog.get_by_role("button", name="Save to session").click()
    expect(page.locator("#toasts")).to_contain_text("saved to this session.")


def test_somebody_saves_with_a_note_undoes_it_and_goes_back(session, page, live_server):
    tune(page, live_server, "?last_n=3")
    save_to_session(page, "The bot repeats itself.")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator("#toasts")).to_contain_text("Back to version 1 of this session.")
    assert Session.objects.get().settings == {"strategy": "buffer"}

    page.locator("#open-versions").click()
    drawer = page.get_by_role("dialog", name="Versions of this session")
    expect(drawer.locator("li")).to_have_count(3)
    expect(drawer.locator("#version-2")).to_contain_text("The bot repeats itself.")
    expect(drawer.locator("#version-2")).to_contain_text("last_n inherited → 3")
    expect(drawer.locator("#version-3")).to_contain_text("in force")

    drawer.get_by_role("link", name="Go back to version 2").click()
    question = page.get_by_role("dialog", name="Go back to version 2?")
    question.get_by_label("Note").fill("It was right after all.")
    question.get_by_role("button", name="Go back").click()
    expect(page.locator("#version-4")).to_contain_text("It was right after all.")
    expect(page.locator("#version-4")).to_contain_text("reader")
    assert Session.objects.get().settings == {"strategy": "buffer", "last_n": 3}


def test_the_drawer_shows_the_projects_versions_too(session, project, page, live_server):
    tune(page, live_server, "?last_n=3")
    page.get_by_role("button", name="Save as project default").click()
    dialog = page.get_by_role("dialog", name="as project default")
    dialog.get_by_label("Note").fill("For all.")
    dialog.get_by_role("button", name="Save as project default").click()
    expect(page.locator("#toasts")).to_contain_text("saved as the default")

    page.locator("#open-versions").click()
    drawer = page.get_by_role("dialog", name="Versions of the project default")
    expect(drawer.locator("#version-1")).to_contain_text("For all.")
    drawer.get_by_role("link", name="This session").click()
    expect(page.get_by_role("heading", name="Versions of this session")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator("#toasts")).to_contain_text("Back to before the first save")
    assert Project.objects.get().settings == {}


def test_a_draft_becomes_a_profile_that_another_session_takes(session, project, page, live_server):
    make_session(project, "t", runs=2)
    tune(page, live_server, "?last_n=3")
    page.locator(".head-actions").get_by_role("button", name="Save to session").click()
    page.get_by_role("dialog").get_by_role("link", name="Profile").click()
    page.get_by_role("dialog", name="Save as a profile").get_by_label("Name").fill("Short memory")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Profile Short memory saved.")

    page.goto(f"{live_server.url}/p/p/sessions/t/tune/")
    page.locator("#open-profiles").click()
    drawer = page.get_by_role("dialog", name="Profiles")
    expect(drawer).to_contain_text("strategy summary → buffer, last_n unlimited → 3")
    drawer.get_by_role("link", name="Apply to draft Short memory").click()
    expect(page).to_have_url(re.compile(r"/t/tune/\?strategy=buffer&last_n=3$"))
    expect(page.locator("#h-last_n")).to_contain_text("was unlimited")

    page.goto(f"{live_server.url}/p/p/settings/profiles/")
    page.get_by_text("Rename or delete").click()
    page.get_by_label("New name of Short memory").fill("Three turns")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator("#profs")).to_contain_text("Three turns")
    page.get_by_text("Rename or delete").click()
    page.get_by_role("button", name="Delete Three turns").click()
    expect(page.locator("#toasts")).to_contain_text("Profile Three turns deleted.")
    assert not Profile.objects.exists()


def test_it_all_works_without_javascript(session, browser, client, live_server, settings):
    context = browser.new_context(java_script_enabled=False)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    page = context.new_page()
    tune(page, live_server, "?last_n=3")
    save_to_session(page, "No scripts.")
    page.locator("#open-versions").click()
    expect(page.locator("#version-2")).to_contain_text("No scripts.")
    page.get_by_role("link", name="Undo").click()
    page.get_by_role("dialog", name="Undo version 2?").get_by_role("button", name="Undo").click()
    expect(page.locator("#version-3")).to_contain_text("Back to version 1.")
    assert Session.objects.get().settings == {"strategy": "buffer"}
    context.close()


def test_the_count_of_changes_leads_to_each_and_versions_lead_back_to_the_draft(session, page, live_server):
    tune(page, live_server, "?tool_result_max_tokens=50&last_n=3")
    page.get_by_role("button", name="2 changes").click()
    page.get_by_role("link", name="tool_result_max_tokens", exact=True).click()
    expect(page.locator("#f-tool_result_max_tokens")).to_be_focused()
    expect(page.locator("#f-tool_result_max_tokens")).to_be_in_viewport()
    expect(page.locator("#m-chg")).to_be_hidden()

    page.get_by_role("button", name="Save as project default").click()
    page.get_by_role("dialog").get_by_role("button", name="Save as project default").click()
    expect(page.locator("#toasts")).to_contain_text("saved as the default")
    tune(page, live_server, "why/?max_runs=9")
    page.locator("#open-versions").click()
    page.locator("#vers").get_by_role("link", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#version-2")).to_contain_text("in force")
    page.get_by_role("link", name="Back to Tune").click()
    expect(page).to_have_url(f"{live_server.url}/p/p/sessions/s/tune/why/?max_runs=9")
