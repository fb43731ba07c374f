"""People who know a complaint and an address, in front of a browser: with a mouse, a phone, no scripts, keys alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from playwright.sync_api import expect

MOST_VIEWS = 10
MOST_TABS = 250
CHOICES = {"strategy", "on_gap"}
NOTE = "It forgot what it was told."


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
            page.get_by_role("link", name="Yesterday", exact=True).click()
        page.get_by_role("link", name=journey.title, exact=True).click()
        expect(page.get_by_role("heading", name=journey.title)).to_be_visible()

    def open_turn(self, journey):
        self.page.get_by_role("link", name=f"What the model saw at turn {journey.at}", exact=True).click()
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
        dialog.get_by_label("Note").fill(NOTE)
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
        page.get_by_role("link", name="Inherit all settings").click()
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
        page.keyboard.type(NOTE)
        self.tab_to("#save [name='sure']")
        page.keyboard.press("Enter")
        expect(page.locator("#toasts")).to_contain_text("saved")

    def undo(self):
        page = self.page
        page.wait_for_load_state()
        self.tab_to("#toasts form button", "Shift+Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#toasts")).to_contain_text("Back to")
