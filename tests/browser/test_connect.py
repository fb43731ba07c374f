"""A newcomer makes a key, pastes what the page shows, and sees the first run arrive."""

import os
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from sessions_app.models import Membership, Run, Session
from tests.browser.walking import COLORS, EVERYTHING, Walk

pytestmark = pytest.mark.django_db(transaction=True)

# No proxy of the machine stands between a bot and the server of the test.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


@pytest.fixture
def owned(project, published):
    Membership.objects.update(role="owner")
    return project


def make_key(page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/")
    page.get_by_role("link", name="Make a key").click()
    page.get_by_label("Name").fill("my-bot")
    page.get_by_role("button", name="Make a key").click()
    expect(page.locator("#secret")).to_contain_text("cw_")


def run(command, pasted):
    done = subprocess.run(
        command, input=pasted, capture_output=True, text=True, timeout=120, env=ENVIRONMENT, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shown(page, language):
    page.get_by_text(language, exact=True).click()
    return page.get_by_role("region", name=language).inner_text()


def test_the_pasted_calls_bring_the_page_to_life(owned, page, live_server):
    make_key(page, live_server)
    expect(page.locator("#wait")).to_contain_text("The key has not been used yet")

    create, ask, append = shown(page, "curl").split("# ")[1:]
    export = shown(page, "curl").split("# ")[0]
    assert '"id":"thread-42"' in run(["bash"], f"{export}\n# {create}").replace(" ", "")
    expect(page.locator("#wait")).to_contain_text("thread-42 was created")
    assert '"messages"' in run(["bash"], f"{export}\n# {ask}")
    assert '"position":1' in run(["bash"], f"{export}\n# {append}").replace(" ", "")

    expect(page.locator("#wait")).to_contain_text("First chat has got a run")
    page.locator("#wait").get_by_role("link", name="Open thread-42").click()
    expect(page.get_by_role("heading", name="First chat")).to_be_visible()
    expect(page.locator(".stream")).to_contain_text("Hello, how can I help?")


@pytest.mark.parametrize("command", [[sys.executable, "-"], [sys.executable, "-i"]], ids=["as a file", "line by line"])
def test_the_pasted_loop_runs_with_nothing_installed(owned, page, live_server, command):
    make_key(page, live_server)

    said = run([*command[:1], "-S", *command[1:]], shown(page, "Python"))

    assert "run 1 after a prompt of" in said
    assert "You said: What did I say first?" in said
    expect(page.locator("#wait")).to_contain_text("First chat has got a run")
    assert [run.position for run in Run.objects.order_by("position")] == [1, 2]
    assert all(run.prompt_fingerprint.startswith("sha256:") for run in Run.objects.all())


@pytest.mark.parametrize(("mode", "rules"), [("light", EVERYTHING), ("dark", COLORS)])
def test_axe_finds_nothing_beside_a_key(owned, page, live_server, mode, rules):
    page.emulate_media(color_scheme=mode)
    walk = Walk(page, live_server.url)
    make_key(page, live_server)
    walk.check(rules)
    page.get_by_text("Python", exact=True).click()
    walk.check(rules)
    assert walk.wrong == []


def test_it_works_without_javascript(owned, browser, client, live_server, settings):
    context = browser.new_context(java_script_enabled=False)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": live_server.url}])
    page = context.new_page()
    make_key(page, live_server)
    run(["bash"], shown(page, "curl"))
    page.get_by_role("link", name="Look again").click()
    expect(page.locator("#wait")).to_contain_text("First chat has got a run")
    expect(page.locator("#secret")).to_have_count(0)
    assert Session.objects.get().user_id == "u-17"
    context.close()
