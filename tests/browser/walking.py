"""A browser that opens page after page and notes what no page may do."""

from pathlib import Path
from urllib.parse import urlsplit

import axe_playwright_python
from playwright.sync_api import expect

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
NOTE_REFUSALS = """
window.refused = [];
document.addEventListener('securitypolicyviolation',
  event => window.refused.push(`${event.violatedDirective} ${event.blockedURI}`));
"""
# What opens is judged where it is met first.
CHECK = """async ({rules, met, dark}) => {
  document.documentElement.classList.toggle('dark', dark);
  if (dark) await new Promise(done => setTimeout(done, 250));
  document.getAnimations().forEach(each => each instanceof CSSTransition && each.finish());
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
  const broken = scrollWidth > clientWidth ? [`scrolls sideways: ${scrollWidth} of ${clientWidth}`] : [];
  if (document.querySelector('.shell') && scrollHeight > clientHeight)
    broken.push(`is higher than the window: ${scrollHeight} of ${clientHeight}`);
  const look = async (part, where) => {
    const found = await axe.run(part, {resultTypes: ['violations'], ...rules});
    for (const rule of found.violations) for (const node of rule.nodes)
      broken.push(`${where}: ${rule.id}: ${node.html.slice(0, 160)} ${node.any.map(why => why.message).join(' ')}`);
  };
  await look(document, 'page');
  for (const part of document.querySelectorAll('[popover], dialog:not([open])')) {
    if (met.includes(part.id) || part.checkVisibility()) continue;
    met.push(part.id);
    part.matches('dialog') ? part.showModal() : part.showPopover();
    await look(part, `#${part.id}`);
    part.matches('dialog') ? part.close() : part.hidePopover();
  }
  return {broken, met};
}"""
EVERYTHING: dict[str, object] = {}
# The mode changes colors alone, so that one rule tells all of the other mode.
COLORS = {"runOnly": ["color-contrast"]}
ALL_BUT_COLORS = {"rules": {"color-contrast": {"enabled": False}}}


class Walk:
    """Opens pages of one server and collects what is wrong with them."""

    def __init__(self, page, origin):
        self.page, self.origin = page, origin
        self.wrong: list[str] = []
        self._met: dict[str, list[str]] = {}
        page.emulate_media(reduced_motion="reduce")  # a color on its way to another is neither
        page.add_init_script(NOTE_REFUSALS)
        page.on("request", self._note_foreign)
        page.on("response", self._note_failure)

    def open(self, address):
        """Open a page and wait until what it asks for by itself has come."""
        self.wrong.clear()
        self.page.goto(self.origin + address)
        expect(self.page.locator(".htmx-request")).to_have_count(0)
        self.wrong += self.page.evaluate("window.refused")

    def check(self, rules=EVERYTHING, *, dark=False):
        """Let axe judge the page, which may not scroll by itself, then each menu and dialog that no page before had."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(AXE.read_text())
        answer = self.page.evaluate(CHECK, {"rules": rules, "met": self._met.get(str(rules), []), "dark": dark})
        self._met[str(rules)] = answer["met"]
        self.wrong += answer["broken"]

    def _note_foreign(self, request):
        address = urlsplit(request.url)
        if address.scheme not in {"data", "blob", "about"} and f"{address.scheme}://{address.netloc}" != self.origin:
            self.wrong.append(f"asked for {request.url}")

    def _note_failure(self, response):
        if response.status >= 500:
            self.wrong.append(f"{response.status} from {response.url}")
