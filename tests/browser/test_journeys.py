"""From "my bot forgot X" to the proof of the cure, as somebody would go who knows the complaint and the address alone.

Each of the demo's seven causes is found, named within ten views of pages, cured in a draft, compared, replayed, saved
where it belongs, and undone again.
"""

import re
import shutil

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from sessions_app.models import Project, Session
from sessions_app.services import demo as demo_project
from sessions_app.services.prompts import session_prompt
from tests.browser.newcomers import Journey, KeyboardNewcomer, Newcomer, ScriptlessNewcomer, SmallNewcomer

SMALL = {"width": 390, "height": 844}
FIRST_FORGETFUL = "14-"

PRUNED = Journey(
    title="Long weekend in the Harz",
    by="day",
    sought="yesterday",
    at=27,
    fact="new hip",
    named="max_input_tokens 1,100",
    told="run 3 is pruned: dropped by the budget",
    cure={"max_input_tokens": "4000"},
)
LOST = Journey(
    title="Wedding party to Palermo, 46 seats",
    by="user",
    sought="u-3371",
    at=23,
    fact="Aunt Gerda",
    named="max_input_tokens 640",
    told="run 4 is lost: dropped by the budget, not summarized yet",
    cure={"on_gap": "stopgap"},
)
DROPPED = Journey(
    title="Bruno flies with us",
    by="words",
    sought="pharmacy",
    at=21,
    fact="calming drops",
    named="Only as far as summary #4 says them",
    told="summary #4 covers run 2 without it",
    cure={"offset": "30"},
)
RESULT = Journey(
    title="A bed before the early flight",
    by="words",
    sought="tannenhof",
    at=8,
    fact="03:45",
    named="tool_result_max_tokens 120",
    told="run 2 is in the prompt, but its tool result is shortened",
    cure={"tool_result_max_tokens": "unlimited"},
    saved_to="project",
)
STRATEGY = Journey(
    title="Roster, week 50",
    by="words",
    sought="thursdays",
    at=14,
    fact="handball",
    named="max_history 6",
    told="the strategy leaves run 2 out",
    cure={"strategy": "summary"},
)
LAYER = Journey(
    title="Mila flies to Vienna for Christmas",
    by="user",
    sought="u-7912",
    at=17,
    fact="Ilse Brandner",
    named="max_runs 4",
    told="run 3 is no longer remembered",
)
FORK = Journey(
    title="Boards to Biarritz, a week later",
    by="words",
    sought="cellar",
    at=12,
    fact="longboard",
    named="Said in Boards to Biarritz behind run 6",
    told="not said yet",
)


@pytest.fixture
def demo(member, published, tmp_path, monkeypatch):
    """The part of the demo in which bots forget: all of it takes several times as long to load."""
    for path in demo_project.CONVERSATIONS.glob("*.json"):
        if path.name >= FIRST_FORGETFUL:
            shutil.copy(path, tmp_path)
    monkeypatch.setattr(demo_project, "CONVERSATIONS", tmp_path)
    return demo_project.load_demo(owner=member, now=timezone.now())


@pytest.fixture
def newcomer(demo, page, live_server):
    return Newcomer(page, live_server.url)


def stored(journey):
    session = Session.objects.get(title=journey.title)
    return session.settings, Project.objects.get(pk=session.project_id).settings


def cured(journey):
    session = Session.objects.get(title=journey.title)
    prompt = session_prompt(session=session, at=journey.at, as_saved=True)
    return journey.fact in str(list(prompt.messages or ())[:-1])


def travel(newcomer, journey):
    before = stored(journey)
    newcomer.find(journey)
    newcomer.open_turn(journey)
    newcomer.name_cause(journey)
    newcomer.try_cure(journey)
    newcomer.compare(journey)
    newcomer.replay()
    newcomer.save(journey)
    assert cured(journey)
    newcomer.undo()
    assert stored(journey) == before
    assert not cured(journey)


@pytest.mark.parametrize("journey", [PRUNED, LOST, RESULT], ids=lambda journey: journey.title)
def test_somebody_finds_the_cause_and_proves_the_cure(newcomer, journey):
    travel(newcomer, journey)


def test_somebody_does_it_by_keyboard_alone(demo, page, live_server):
    travel(KeyboardNewcomer(page, live_server.url), STRATEGY)


def test_somebody_does_it_on_a_phone(demo, page, live_server):
    page.set_viewport_size(SMALL)
    travel(SmallNewcomer(page, live_server.url), LAYER)


def test_somebody_does_it_without_scripts(demo, browser, context, live_server):
    without = browser.new_context(java_script_enabled=False, storage_state=context.storage_state())
    travel(ScriptlessNewcomer(without.new_page(), live_server.url), DROPPED)
    without.close()


def test_what_was_said_behind_a_fork_comes_back_in_a_fork_behind_it(newcomer):
    page = newcomer.page
    newcomer.find(FORK)
    newcomer.open_turn(FORK)
    newcomer.name_cause(FORK)

    page.get_by_role("link", name="Follow it over all turns").click()
    expect(page.locator("#main")).to_contain_text("This fork shares runs 1–6 with its parent")
    page.get_by_role("link", name="Fork behind that run").click()
    page.get_by_label("Title of the fork").fill("Boards to Biarritz, once more")
    page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    expect(page.get_by_role("heading", name="Boards to Biarritz, once more")).to_be_visible()

    page.get_by_role("link", name=re.compile("^Tune")).click()
    page.locator("#q-next").fill("The same boards as I told you, please book them.")
    expect(page.locator(".msgs")).to_contain_text("please book them")
    expect(page.locator(".msgs")).to_contain_text(FORK.fact)
    newcomer.replay()

    page.get_by_role("link", name="Boards to Biarritz, once more").click()
    page.get_by_role("link", name="Delete this conversation").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("#toasts")).to_contain_text("Boards to Biarritz, once more")
    assert not Session.objects.filter(title="Boards to Biarritz, once more").exists()
