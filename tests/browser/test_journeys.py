"""From "my bot forgot X" to the proof of the cure, as somebody would go who knows the complaint and the address alone.

Each of the demo's seven causes is found, named within ten views of pages, cured in a draft, compared, replayed, saved
where it belongs, and undone again.
"""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from sessions_app.models import Project, Session
from sessions_app.services import demo as demo_project
from sessions_app.services.prompts import session_prompt

MOST_VIEWS = 10
CHOICES = {"strategy", "on_gap"}
SMALL = {"width": 390, "height": 844}
MOST_TABS = 250
FIRST_FORGETFUL = "14-"


@dataclass(frozen=True)
class Journey:
    """A complaint: how its session is found, which turn forgot which words, and the cure.

    `named` is what the page of the turn says by itself, `told` what it answers when asked for the words.
    """

    title: str
    by: str
    sought: str
    at: int
    fact: str
    named: str
    told: str
    cure: Mapping[str, str] = field(default_factory=dict)
    saved_to: str = "session"


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


class Newcomer:
    """Somebody in front of a browser; `views` counts the pages and the views of pages that were looked at."""

    def __init__(self, page, address):
        self.page, self.address, self.views = page, address, 0
        page.on("framenavigated", self._count)

    def _count(self, frame):
        self.views += frame == self.page.main_frame

    def find(self, journey):
        page = self.page
        page.goto(f"{self.address}/")
        if journey.by == "words":
            page.locator("#q").fill(journey.sought)
            page.locator("#q").press("Enter")
        elif journey.by == "user":
            page.locator("#chip-user").click()
            page.get_by_label("User id").fill(journey.sought)
            page.get_by_label("User id").press("Enter")
        else:
            page.locator("#chip-date").click()
            yesterday = str((timezone.localtime() - timedelta(days=1)).date())
            page.get_by_label("since").fill(yesterday)
            page.get_by_label("until").fill(yesterday)
        page.get_by_role("link", name=journey.title, exact=True).click()
        expect(page.get_by_role("heading", name=journey.title)).to_be_visible()

    def open_turn(self, journey):
        self.page.get_by_role("link", name=f"What did the model see at turn {journey.at}?").click()
        self.expect_past(journey)

    def expect_past(self, journey):
        page = self.page
        expect(page.get_by_role("heading", name=f"What the model saw at turn {journey.at}")).to_be_visible()
        expect(page.locator(".past")).to_contain_text("Same fingerprint as the bot reported")
        expect(page.locator(".then-main .prompt")).not_to_contain_text(journey.fact)

    def name_cause(self, journey):
        expect(self.page.locator(".then-p")).to_contain_text(journey.named)
        self.page.get_by_role("searchbox", name="Words to look for").fill(journey.fact)
        self.page.get_by_role("button", name="Look", exact=True).click()
        expect(self.page.locator(".then-f")).to_contain_text(journey.told)
        assert self.views <= MOST_VIEWS

    def try_cure(self, journey):
        self.page.get_by_role("link", name=re.compile("^Tune")).click()
        self.change(journey)
        expect(self.page.locator("#chg")).to_be_visible()

    def change(self, journey):
        for name, value in journey.cure.items():
            control = self.page.locator(f"#f-{name}")
            control.select_option(value) if name in CHOICES else control.fill(value)

    def compare(self, journey):
        page = self.page
        page.get_by_role("link", name="Compare", exact=True).click()
        expect(page.locator("#view .cmp")).to_contain_text(journey.fact)

    def replay(self):
        page = self.page
        page.get_by_role("link", name="Replay", exact=True).click()
        expect(page.locator("#view .totals")).to_contain_text("Prompt tokens, all turns")

    def save(self, journey):
        page = self.page
        button = "Save as project default" if journey.saved_to == "project" else "Save to session"
        page.locator(".head-actions").get_by_role("button", name=button).click()
        self.confirm(button)

    def confirm(self, button):
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_label("Note").fill("It forgot what it was told.")
        dialog.get_by_role("button", name=button).click()
        expect(self.page.locator("#toasts")).to_contain_text("saved")

    def undo(self):
        page = self.page
        page.locator("#toasts").get_by_role("button", name="Undo").click()
        expect(page.locator("#toasts")).to_contain_text("Back to")


class SmallNewcomer(Newcomer):
    """The same on a phone: settings stand behind a button of their own; all of the session's are taken off."""

    def try_cure(self, journey):
        page = self.page
        page.get_by_role("link", name=re.compile("^Tune")).click()
        page.get_by_role("button", name=re.compile("^Settings")).click()
        page.get_by_role("link", name="Inherit all from the project").click()
        expect(page.locator("#chg-bar")).to_be_visible()

    def save(self, journey):
        page = self.page
        page.locator(".head-actions").get_by_role("button", name="Save").click()
        self.confirm("Save to session")


class ScriptlessNewcomer(Newcomer):
    """The same without scripts: what was changed is applied by a button."""

    def change(self, journey):
        super().change(journey)
        self.page.locator(".head-actions").get_by_role("button", name="Apply").click()


class KeyboardNewcomer(Newcomer):
    """The same without a mouse."""

    def tab_to(self, selector, key="Tab"):
        page = self.page
        for _ in range(MOST_TABS):
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            page.keyboard.press(key)
        raise AssertionError(f"{selector} cannot be reached by {key}")

    def find(self, journey):
        page = self.page
        page.goto(f"{self.address}/")
        page.wait_for_load_state()
        page.keyboard.press("/")
        page.keyboard.type(journey.sought)
        expect(page.locator("tr.found")).to_have_count(1)
        self.tab_to("tr.found")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=journey.title)).to_be_visible()

    def open_turn(self, journey):
        page = self.page
        page.wait_for_load_state()
        while not page.locator(f"#run-{journey.at}:focus").count():
            page.keyboard.press("j")
        page.keyboard.press("w")
        self.expect_past(journey)

    def name_cause(self, journey):
        page = self.page
        expect(page.locator(".then-p")).to_contain_text(journey.named)
        self.tab_to(".then-f input[type='search']")
        page.keyboard.type(journey.fact)
        page.keyboard.press("Enter")
        expect(page.locator(".then-f")).to_contain_text(journey.told)
        assert self.views <= MOST_VIEWS

    def try_cure(self, journey):
        page = self.page
        page.wait_for_load_state()
        page.keyboard.press("t")
        expect(page.locator("#f-strategy")).to_be_visible()
        page.wait_for_load_state()
        self.tab_to("#f-strategy")
        page.keyboard.type("summ")
        expect(page.locator("#f-strategy")).to_have_value("summary")
        expect(page.locator("#chg")).to_be_visible()

    def compare(self, journey):
        self.tab_to("#tab-compare")
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#view .cmp")).to_contain_text(journey.fact)

    def replay(self):
        self.page.keyboard.press("4")
        expect(self.page.locator("#view .totals")).to_contain_text("Prompt tokens, all turns")

    def save(self, journey):
        page = self.page
        self.tab_to('[formaction$="/tune/save/"]', "Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog").get_by_label("Note")).to_be_visible()
        self.tab_to("#save textarea, #save input[type='text']")
        page.keyboard.type("It forgot what it was told.")
        self.tab_to("#save [name='sure']")
        page.keyboard.press("Enter")
        expect(page.locator("#toasts")).to_contain_text("saved")

    def undo(self):
        page = self.page
        page.wait_for_load_state()
        self.tab_to("#toasts form button", "Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#toasts")).to_contain_text("Back to")


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
    return journey.fact in str(prompt.messages[:-1])


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

    page.get_by_role("button", name="Follow it over all turns").click()
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
