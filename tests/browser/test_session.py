import pytest
from playwright.sync_api import expect

from sessions_app.domain.transcript import Event, EventKind, NewRun, Role, ToolCall
from sessions_app.models import Session
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_session

CALLED = NewRun(
    (
        Event(EventKind.MESSAGE, "The handle is broken.", Role.USER),
        Event(EventKind.MESSAGE, "", Role.ASSISTANT),
        Event(EventKind.TOOL_CALL, tool=ToolCall("c1", "report_damage", '{"claim": "7731"}', "DR-190"), parent=1),
        Event(EventKind.MESSAGE, "I added it as DR-190.", Role.ASSISTANT),
    )
)


@pytest.fixture
def session(project, published):
    session = make_session(project, title="Lost bag", settings={"strategy": "buffer"})
    append_runs(session=session, runs=[CALLED], now=NOW)
    append_turns(session, 99)
    return session


@pytest.fixture
def opened(session, page, live_server):
    page.goto(f"{live_server.url}/p/p/sessions/s/")
    return page


def test_a_run_is_copied_as_who_said_what(opened, context, live_server):
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=live_server.url)
    opened.goto(f"{live_server.url}/p/p/sessions/s/?from=1&to=1&whole=1")
    run = opened.locator("#run-1")
    run.hover()

    run.get_by_role("button", name="Copy run 1").click()

    expect(opened.locator("#toasts .toast")).to_have_text("Copied")
    assert opened.evaluate("navigator.clipboard.readText()") == (
        "user: The handle is broken.\n\n"
        'tool report_damage: {"claim": "7731"}\nDR-190\n\n'
        "assistant: I added it as DR-190."
    )


def test_focus_goes_to_the_runs_that_took_the_place_of_a_fold(opened):
    folded = opened.locator(".more-runs").first
    folded.focus()
    opened.keyboard.press("Enter")
    focused = opened.locator(".stream .run:focus")
    expect(focused).to_be_visible()
    place = int(focused.get_attribute("id").removeprefix("run-"))

    opened.keyboard.press("j")

    expect(opened.locator(f"#run-{place + 1}")).to_be_focused()


def test_a_double_click_makes_one_fork(opened, session):
    opened.get_by_role("button", name="Fork here").click()
    opened.get_by_role("button", name="Fork", exact=True).dblclick()
    expect(opened.locator("#toasts")).to_contain_text("This is the fork")
    assert Session.objects.filter(parent=session).count() == 1


def test_a_fork_is_named_before_it_is_made(opened, session):
    opened.keyboard.press("f")
    title = opened.get_by_label("Title of the fork")
    expect(title).to_be_focused()
    expect(title).to_have_value("Lost bag, from run 100")

    title.fill("What if")
    opened.get_by_role("button", name="Fork", exact=True).click()

    expect(opened.get_by_role("heading", name="What if")).to_be_visible()
    expect(opened.locator("#toasts")).to_contain_text("starts behind run 100 of Lost bag")
    assert Session.objects.get(parent=session).title == "What if"
