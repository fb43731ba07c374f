import re

import pytest
from playwright.sync_api import expect

from sessions_app.models import Session
from sessions_app.services.prompts import session_prompt
from tests.factories import make_session


@pytest.fixture
def session(project, published):
    return make_session(project, runs=12, title="Lost bag", instructions="Be brief.", settings={"strategy": "buffer"})


def fingerprint(session, **overrides):
    return session_prompt(session=session, overrides=overrides).fingerprint


def test_somebody_signs_in_changes_a_setting_and_sees_the_prompt_change(session, context, page, live_server):
    context.clear_cookies()
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    page.get_by_label("User name").fill("reader")
    page.get_by_label("Password").fill("a password of the tests")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Lost bag")).to_be_visible()
    expect(page.locator(".strip")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("t")
    shown = page.locator(".finger")
    expect(shown).to_have_attribute("title", fingerprint(session))
    expect(page.locator(".msgs")).to_contain_text("question 1")
    page.wait_for_load_state()

    save = page.get_by_role("button", name="Save to session")
    expect(save).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("link", name="Discard draft")).to_have_attribute("title", re.compile("There is no draft"))
    page.keyboard.press("Control+s")
    expect(page.locator("#toasts")).to_contain_text("There is no draft")

    page.locator("#f-max_runs").fill("2")
    expect(save).not_to_have_attribute("aria-disabled", "true")
    expect(shown).to_have_attribute("title", fingerprint(session, max_runs=2))
    expect(page.locator(".msgs .gap")).to_contain_text("10 runs the model cannot see")
    expect(page.locator(".msgs")).not_to_contain_text("question 10")
    expect(page.locator("#h-max_runs")).to_contain_text("was unlimited")
    expect(page).to_have_url(re.compile(r"/tune/\?max_runs=2$"))

    page.get_by_role("button", name="Save to session").click()
    page.get_by_role("dialog").get_by_role("button", name="Save to session").click()
    expect(page.locator("#toasts")).to_contain_text("1 setting saved to this session.")
    assert Session.objects.get().settings == {"strategy": "buffer", "max_runs": 2}
    expect(page.locator("#h-max_runs")).to_contain_text("session")


def test_what_is_typed_before_the_scripts_have_come_counts(session, page, live_server):
    held = []
    page.route("**/htmx*.js", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks the function
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/", wait_until="commit")
    page.locator("#f-max_runs").fill("2")
    held[0].continue_()
    expect(page.locator(".finger")).to_have_attribute("title", fingerprint(session, max_runs=2))


def test_a_slider_ends_in_unlimited_and_a_switch_goes_both_ways(session, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/?max_runs=199")
    page.locator("#r-max_runs").press("End")
    expect(page.locator("#f-max_runs")).to_have_value("unlimited")
    expect(page).to_have_url(re.compile(r"/tune/$"))
    page.locator("#f-autoprune").uncheck()
    expect(page).to_have_url(re.compile(r"autoprune=false"))
    page.locator("#f-autoprune").check()
    expect(page).to_have_url(re.compile(r"/tune/$"))


def test_a_query_can_be_typed_while_the_prompt_changes(session, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/")
    query = page.locator("#q-next")
    query.press_sequentially("Where is", delay=120)
    expect(page.locator(".msgs .msg").last).to_contain_text("Where is")
    query.press_sequentially(" my bag?", delay=120)
    expect(page.locator(".msgs .msg").last).to_contain_text("Where is my bag?")
    expect(query).to_be_focused()
    expect(query).to_have_value("Where is my bag?")


def test_undoing_a_change_leads_back_to_its_field(session, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/why/?last_n=3")
    page.locator("#x-last_n").click()
    expect(page.locator("#f-last_n")).to_have_value("unlimited")
    expect(page.locator("#f-last_n")).to_be_focused()
    expect(page).to_have_url(re.compile(r"/why/$"))


def test_saving_as_default_opens_a_dialog(session, project, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/?last_n=3")
    page.get_by_role("button", name="Save as project default").click()
    dialog = page.get_by_role("dialog", name="Save 1 setting as project default")
    expect(dialog).to_contain_text("1session inherits it and changes with its next prompt")
    dialog.get_by_role("button", name="Save as project default").click()
    expect(page.locator("#toasts")).to_contain_text("saved as the default")
    project.refresh_from_db()
    assert project.settings == {"last_n": 3}


def test_the_workbench_works_without_javascript(session, browser, client, live_server, settings):
    context = browser.new_context(java_script_enabled=False)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    page = context.new_page()
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/")
    page.locator("#f-max_runs").fill("2")
    page.locator(".head-actions").get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(r"/tune/\?max_runs=2$"))
    expect(page.locator(".finger")).to_have_attribute("title", fingerprint(session, max_runs=2))
    page.locator("#f-last_n").fill("1")
    page.locator(".head-actions").get_by_role("button", name="Save to session").click()
    page.get_by_role("dialog").get_by_role("button", name="Save to session").click()
    expect(page.locator("#toasts")).to_contain_text("2 settings saved to this session.")
    assert Session.objects.get().settings == {"strategy": "buffer", "max_runs": 2, "last_n": 1}
    context.close()


def test_the_slider_of_the_limit_is_fine_where_it_matters_and_says_its_value(session, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/?max_input_tokens=100")
    slider, field = page.locator("#r-max_input_tokens"), page.locator("#f-max_input_tokens")
    values = [100]
    slider.focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        values.append(int(field.input_value()))
        expect(slider).to_have_attribute("aria-valuetext", str(values[-1]))

    assert values == sorted(set(values))
    assert values[-1] < 200
    page.keyboard.press("End")
    expect(field).to_have_value("unlimited")
    field.fill("316")  # the middle of 100 and 1,000, as ratios go
    expect(slider).to_have_value("50")
    expect(page).to_have_url(re.compile(r"max_input_tokens=316$"))


@pytest.mark.parametrize(("name", "value"), [("offset", "3"), ("summarize_to", "0.3")])
def test_what_is_said_of_a_change_moves_no_other_control(session, page, live_server, name, value):
    page.goto(f"{live_server.url}/p/p/sessions/s/tune/?strategy=summary")
    page.wait_for_load_state()
    below = page.locator("#h-on_gap")
    place = below.evaluate("each => each.offsetTop")
    page.locator(f"#f-{name}").fill(value)
    expect(page.locator(f"#w-{name}")).to_contain_text("Shows in the next summary, once saved.")
    assert below.evaluate("each => each.offsetTop") == place
