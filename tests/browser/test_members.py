"""Keys, invitations and roles, as people go through them."""

import re

import pytest
from playwright.sync_api import expect

from sessions_app.models import ApiKey, Membership
from tests.factories import make_session

LINK = re.compile(r"/invitations/[\w-]{43}/$")


@pytest.fixture
def without_scripts(browser, context, live_server):
    """Return a page of the same user in a browser that runs no scripts."""
    other = browser.new_context(java_script_enabled=False, base_url=live_server.url)
    other.add_cookies(context.cookies())
    yield other.new_page()
    other.close()


def test_a_key_is_made_shown_once_and_revoked(project, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="API keys").click()
    page.get_by_role("link", name="New key").click()
    page.get_by_label("Name").fill("agent-canary")
    page.get_by_role("button", name="Create key").click()

    dialog = page.get_by_role("dialog", name="Key “agent-canary” is ready")
    expect(dialog.locator("#secret")).to_have_text(re.compile(r"^cw_\w{12}_\w{51}$"))
    dialog.get_by_role("button", name="Done").click()
    expect(page.locator("#secret")).to_be_visible()  # not before one says that it is stored
    dialog.get_by_label("I stored the key").check()
    dialog.get_by_role("button", name="Done").click()
    expect(page.locator("#secret")).to_be_hidden()

    page.get_by_role("link", name="Revoke agent-canary").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name=re.compile("agent-canary"))).to_contain_text("revoked")


def test_a_key_is_made_and_revoked_without_scripts(project, without_scripts):
    page = without_scripts
    page.goto("/p/p/settings/keys/")
    page.get_by_role("link", name="New key").click()
    page.get_by_label("Name").fill("agent-canary")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator("#secret")).to_have_text(re.compile("^cw_"))
    page.goto("/p/p/settings/keys/")
    page.get_by_role("link", name="Revoke agent-canary").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name=re.compile("agent-canary"))).to_contain_text("revoked")
    assert ApiKey.objects.get().revoked_at is not None


def test_somebody_is_invited_makes_an_account_reads_and_is_made_an_editor(project, page, browser, live_server):
    make_session(project, "trip", title="A trip", runs=2)
    page.goto(f"{live_server.url}/p/p/settings/members/")
    page.get_by_role("link", name="Invite").click()
    page.get_by_label("Viewer").check()
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#link")).to_have_text(LINK)
    link = page.locator("#link").inner_text()

    theirs = browser.new_context()
    guest = theirs.new_page()
    guest.goto(link)
    guest.get_by_label("User name").fill("tove")
    guest.get_by_label("Password", exact=True).fill("correct horse battery")
    guest.get_by_label("Password again").fill("correct horse battery")
    guest.get_by_role("button", name="Make the account and join").click()
    expect(guest.get_by_role("status").get_by_text("You belong to P now, as viewer.")).to_be_visible()
    guest.goto(f"{live_server.url}/p/p/sessions/trip/")
    expect(guest.get_by_role("link", name="Tune")).to_be_visible()
    expect(guest.get_by_role("button", name="Fork here")).to_have_count(0)
    guest.goto(f"{live_server.url}/p/p/sessions/trip/tune/?last_n=1")
    expect(guest.get_by_role("button", name="Save")).to_be_disabled()

    page.goto(f"{live_server.url}/p/p/settings/members/")
    page.get_by_label("Role of tove").select_option("editor")
    page.get_by_role("button", name="Change the role of tove").click()
    expect(page.get_by_role("status").get_by_text("tove is editor now.")).to_be_visible()
    guest.reload()
    expect(guest.get_by_role("button", name="Save to session")).to_be_enabled()
    assert Membership.objects.get(user__username="tove").role == "editor"
    theirs.close()
