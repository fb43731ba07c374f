"""What the pictures of the documentation show: pages of the demo project, each with what is done on it first."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

DESK = (1440, 900)
PHONE = (390, 844)


def _nothing(_page: Page) -> None:
    """Leave a page as it comes."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A file of docs/images without its ending, the address that it shows, and the size of the window."""

    name: str
    address: str
    size: tuple[int, int] = DESK
    prepare: Callable[[Page], None] = _nothing


def _save_dialog(page: Page) -> None:
    page.locator("header.head").get_by_role("link", name="Save to session").or_(
        page.locator("header.head").get_by_role("button", name="Save to session")
    ).first.click()
    page.get_by_role("dialog").get_by_label("Note").fill("Walks and steps of the family stay in mind.")


def _invite(page: Page) -> None:
    page.get_by_role("link", name="Invite").click()
    page.get_by_role("dialog").get_by_text("Make a link").wait_for()


HARZ = "/p/demo/sessions/harz-weekend/"
CURE = "strategy=summary&max_input_tokens=4000"
PICTURES = (
    Picture("sessions", "/p/demo/sessions/?q=hip"),
    Picture("session", "/p/demo/sessions/palermo-group/"),
    Picture("session-phone", HARZ, PHONE),
    Picture("then", f"{HARZ}then/?at=27"),
    Picture("fact", f"{HARZ}facts/?words=new+hip"),
    Picture("dropped", "/p/demo/sessions/bruno-flies/facts/?words=calming+drops"),
    Picture("compare", f"{HARZ}tune/compare/?at=27&{CURE}"),
    Picture("replay", f"{HARZ}tune/replay/?{CURE}"),
    Picture("save", f"{HARZ}tune/?{CURE}", prepare=_save_dialog),
    Picture("ledger", "/p/demo/sessions/bruno-flies/summaries/"),
    Picture("connect", "/p/demo/connect/"),
    Picture("members", "/p/demo/settings/members/", prepare=_invite),
)
