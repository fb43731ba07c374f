"""The form of a project's default settings, with its scripts."""

import pytest
from playwright.sync_api import expect

from sessions_app.models import Project
from tests.factories import make_session

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_changed_greys_what_has_no_effect_then_is_saved_and_undone(page, live_server, project):
    make_session(project, "s")
    page.goto(f"{live_server.url}/p/p/settings/")
    save = page.get_by_role("button", name="Save as project default")
    expect(save).to_have_attribute("aria-disabled", "true")

    page.get_by_label("strategy", exact=True).select_option("buffer")
    expect(page.locator("#w-offset")).to_contain_text("no effect: only summary uses it")
    page.get_by_label("max_runs", exact=True).fill("7")
    expect(page.locator("#draft-note")).to_contain_text("2 changes")
    expect(page).to_have_url(f"{live_server.url}/p/p/settings/?strategy=buffer&max_runs=7")
    page.get_by_label("Undo the change of strategy").click()
    expect(page.locator("#draft-note")).to_contain_text("1 change")
    expect(page.get_by_label("strategy", exact=True)).to_have_value("summary")

    save.click()
    dialog = page.get_by_role("dialog", name="Save 1 setting as project default")
    expect(dialog).to_contain_text("1session inherits it")
    dialog.get_by_role("button", name="Save as project default").click()
    expect(page.locator("#toasts")).to_contain_text("1 setting saved as the default of P; 1 session changed.")
    assert Project.objects.get().settings == {"max_runs": 7}
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.get_by_label("max_runs", exact=True)).to_have_value("unlimited")
    assert Project.objects.get().settings == {}
