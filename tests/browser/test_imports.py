"""Importing in a browser: choose a file, watch it come in, find what was wrong with it."""

import json

import pytest
from playwright.sync_api import expect

from sessions_app.models import Import
from sessions_app.services.import_files import work_through
from tests.factories import NOW

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.fixture(autouse=True)
def quiet(published, settings, tmp_path):
    """Publish nothing, so that the test decides when the work is done; keep files in a folder of the test."""
    settings.DATA_DIR = tmp_path


def write(path, *rows):
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def test_a_chosen_file_is_uploaded_and_its_report_follows_the_work(live_server, page, project, tmp_path):
    file = write(tmp_path / "talks.jsonl", {"id": "talk-1", "messages": MESSAGES}, "{broken")
    page.goto(f"{live_server.url}/p/p/import/")
    page.get_by_label("Drop files here").set_input_files(file)
    expect(page.get_by_text("waiting")).to_be_visible()
    expect(page.get_by_role("status").first).to_have_text("")
    work_through(import_pk=Import.objects.get().pk, now=NOW)
    expect(page.locator("#import-end")).to_have_text(
        "Import of talks.jsonl finished: 1 imported, 0 extended, 0 unchanged, 1 with errors; 100 % of the file read."
    )
    page.get_by_role("link", name="Errors 1").click()
    expect(page.get_by_text("It is not JSON")).to_be_visible()
    page.get_by_role("link", name="All 2").click()
    page.get_by_role("link", name="Open talk-1").click()
    expect(page.get_by_role("main").get_by_text("Hello")).to_be_visible()


def test_it_works_without_scripts(live_server, browser, context, project, tmp_path):
    file = write(tmp_path / "talks.jsonl", {"id": "talk-1", "messages": MESSAGES})
    plain = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    page = plain.new_page()
    page.goto(f"{live_server.url}/p/p/import/")
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("link", name="Refresh")).to_be_visible()
    work_through(import_pk=Import.objects.get().pk, now=NOW)
    page.get_by_role("link", name="Refresh").click()
    expect(page.get_by_text("finished")).to_be_visible()
    plain.close()
