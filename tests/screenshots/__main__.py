"""`make screenshots`: takes the pictures of the documentation anew, from the demo project of a server of their own."""

import base64
import sys
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.screenshots.pictures import PICTURES, Picture
from tests.screenshots.server import ROOT, demo_server
from tests.servers import find_chromium

FOLDER = ROOT / "docs" / "images"
QUALITY = 80
USUAL = "localhost:8000"
SETTLED = "!document.querySelector('.htmx-request, .htmx-swapping') && document.fonts.status === 'loaded'"


def main(names: list[str]) -> int:
    """Take all pictures, or those that are named, and say how large they are."""
    with demo_server() as demo, sync_playwright() as playwright:
        # Pages show their own address, which shall be the one that `make run` has.
        usual = f"--host-resolver-rules=MAP {USUAL} {demo.host}"
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", usual])
        context = _signed_in(browser, demo.password)
        for picture in PICTURES:
            if not names or picture.name in names:
                path = _take(context, picture)
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1024} KiB")
    return 0


def _signed_in(browser: Browser, password: str) -> BrowserContext:
    context = browser.new_context(color_scheme="light", reduced_motion="reduce", locale="en-GB", timezone_id="UTC")
    page = context.new_page()
    page.goto(f"http://{USUAL}/login/")
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/sessions/")
    page.close()
    return context


def _take(context: BrowserContext, picture: Picture) -> Path:
    page = context.new_page()
    width, height = picture.size
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"http://{USUAL}{picture.address}")
    picture.prepare(page)
    # Not by wait_for_function, whose eval the policy of the pages forbids.
    while not page.evaluate(SETTLED):
        page.wait_for_timeout(50)
    page.evaluate("document.activeElement?.blur()")
    path = FOLDER / f"{picture.name}.webp"
    path.write_bytes(_webp(page))
    page.close()
    return path


def _webp(page: Page) -> bytes:
    """Return what the window shows; Playwright's own pictures are PNG, many times as large."""
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    return base64.b64decode(shot["data"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
