"""Text of strangers, in every field that is shown anywhere, stays text on every page."""

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from playwright.sync_api import expect

from tests.browser.addresses import addresses, pages
from tests.browser.hostile import LINE, OF_THE_CASE, make_hostile_project
from tests.browser.walking import Walk

# What text would have become if it were more than text; links elsewhere say where they go and give nothing along.
BECOME = """() => {
  const found = [...document.querySelectorAll(`
    iframe, object, embed, base, style, math, body script:not([src]), main link, main meta, [srcdoc],
    [hx-get="/logout/"], [src*="collector"], [action*="collector"], [href*="collector"]:not(a)
  `)];
  for (const element of document.querySelectorAll('*')) for (const { name, value } of element.attributes)
    if (name.startsWith('on') || (name === 'style' && !value.startsWith('--slider-value'))) found.push(element);
  for (const link of document.querySelectorAll('a[href]')) {
    const goes = new URL(link.getAttribute('href'), location);
    if (goes.origin !== location.origin && !(/^(https?|mailto):$/.test(goes.protocol) && link.rel.includes('noopener')))
      found.push(link);
  }
  return found.map(element => element.outerHTML.slice(0, 200));
}"""


@pytest.fixture
def parts(member, client, published):
    get_user_model().objects.filter(pk=member.pk).update(username=LINE[:150])
    return make_hostile_project(member=member, now=timezone.now())


@pytest.fixture
def walk(page, live_server):
    page.set_viewport_size({"width": 390, "height": 844})
    return Walk(page, live_server.url)


def look(walk, address):
    walk.open(address)
    assert walk.page.evaluate("window.pwned") is None
    assert walk.page.evaluate(BECOME) == []
    assert walk.page.evaluate("document.documentElement.scrollWidth") == 390
    assert walk.wrong == []


def test_nothing_stored_is_more_than_text_on_any_page(parts, client, walk, subtests, only_refusals):
    for address in pages(client, addresses(parts)):
        with subtests.test(address):
            look(walk, address)


def test_nothing_asked_for_is_more_than_text_on_any_page(parts, client, walk, subtests, only_refusals):
    words = " ".join(OF_THE_CASE)
    for address in pages(client, addresses(parts, words)):
        with subtests.test(address):
            look(walk, address)


def test_markup_and_template_syntax_can_be_read_as_they_were_written(parts, page, live_server):
    page.goto(f"{live_server.url}/p/hostile/sessions/hostile/")
    expect(page.locator(".stream .run").first).to_contain_text("<script>window.pwned=1</script>")
    expect(page.locator(".crumbs")).to_contain_text("onerror=window.pwned=21>{{7*7}}")
