"""The settings page of a project's summarizer in a browser: previews while typing, trying an endpoint, saving."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app.models import ProjectSummarizer
from tests.factories import make_session
from tests.scripted_endpoint import ScriptedEndpoint, Text
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def endpoint(published, settings):
    with ScriptedEndpoint(otherwise=Text("ready", usage=(9, 1))) as endpoint:
        settings.CONVOWEB_ENDPOINTS, settings.CONVOWEB_ENDPOINT_KEYS = {"local": endpoint.url}, {}
        yield endpoint


@pytest.fixture
def address(live_server, project):
    session = make_session(project, runs=9, settings=AT_ONCE)
    advance_all(session)
    return f"{live_server.url}/p/p/settings/summarizer/"


def test_the_sidebar_leads_to_it(live_server, page, project):
    page.goto(f"{live_server.url}/p/p/sessions/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Project settings", level=1)).to_be_visible()
    expect(page.get_by_role("link", name="Settings")).to_have_attribute("aria-current", "page")


def test_templates_show_what_they_make_while_one_types(page, address):
    page.goto(address)
    introduction = page.get_by_label("How prompts introduce the summary")
    introduction.fill("Before: {summary}")
    expect(page.get_by_role("region", name="Summary in a prompt")).to_contain_text(re.compile("^Before: "))
    introduction.press_sequentially(" {runs}")
    note = page.locator("#e-summary_template")
    expect(note).to_have_text("Line 1: {runs} is unknown; this template knows {summary}.")
    expect(introduction).to_have_attribute("aria-invalid", "true")
    expect(introduction).to_be_focused()
    expect(introduction).to_have_value("Before: {summary} {runs}")
    page.get_by_label("What the model is asked").fill("Sum up. {summary} {runs}")
    expect(page.get_by_role("region", name="Request")).to_contain_text(re.compile("^Sum up. "))
    page.get_by_label("Shown on").select_option(label="the built-in example")
    expect(page.get_by_role("region", name="Request")).to_contain_text("7731")
    expect(page.get_by_label("What the model is asked")).to_have_value("Sum up. {summary} {runs}")


def test_a_model_brings_its_window_and_prices(page, address):
    page.goto(address)
    page.get_by_label("model", exact=True).fill("gpt-4.1-mini")
    expect(page.get_by_label("context_window")).to_have_attribute("placeholder", "1,047,576")
    expect(page.get_by_label("model", exact=True)).to_be_focused()


def test_an_endpoint_is_tried_and_the_choice_saved_by_keyboard(page, address):
    page.goto(address)
    page.get_by_label("extractive").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("openai")).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.type("local")
    page.keyboard.press("Tab")
    page.keyboard.type("gpt-4.1-mini")
    page.get_by_role("button", name="Test the endpoint").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("It answered in")).to_be_visible()
    assert not ProjectSummarizer.objects.exists()
    page.get_by_role("button", name="Save").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("New summaries are made with it")
    chosen = ProjectSummarizer.objects.get()
    assert (chosen.name, chosen.endpoint, chosen.model) == ("openai", "local", "gpt-4.1-mini")


def test_it_works_without_scripts(browser, context, address):
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.goto(address)
    page.get_by_label("openai").check()
    page.get_by_role("combobox", name="endpoint").select_option("local")
    page.get_by_label("model", exact=True).fill("gpt-4.1-mini")
    page.get_by_label("How prompts introduce the summary").fill("Before: {summary}")
    page.get_by_role("button", name="Show what they make").click()
    expect(page.get_by_role("region", name="Summary in a prompt")).to_contain_text(re.compile("^Before: "))
    page.get_by_role("button", name="Test the endpoint").click()
    expect(page.get_by_text("It answered in")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_contain_text("New summaries are made with it")
    assert ProjectSummarizer.objects.get().summary_template == "Before: {summary}"
    plain.close()


def test_it_fits_a_narrow_screen(page, address):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("Save", "Test the endpoint"):
        expect(page.get_by_role("button", name=name)).to_be_visible()
    areas = page.locator("textarea")
    for place in range(areas.count()):
        box = areas.nth(place).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
