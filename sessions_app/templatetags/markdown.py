"""Markdown of users and models laid out; whatever the text is, nothing of it runs, loads anything or gets lost.

HTML, pictures and addresses that are neither of the web nor of mail stay text. Work is bounded: what is too long, too
deep or too wide stays as it was written, and that is said.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from sessions_app.domain.search_words import Sought, marked
from sessions_app.templatetags.code import colored_code

register = template.Library()

LONGEST = 20_000
DEEPEST = 40
MOST_CELLS = 10_000
_LINK = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
# Without any of these a text is nothing but paragraphs.
_MARKUP = re.compile(r"[*_`~\\\[\]|<]|^ {0,3}(?:[-+#>=]|\d{1,9}[.)])|^(?: {4}|\t)|  $", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_ALIGNED = {"text-align:left": "al", "text-align:center": "ac", "text-align:right": "ar"}

_Writer = Callable[[Token, Sought | None], str]


@register.filter
def markdown(text: str, sought: Sought | None = None) -> SafeString:
    """Return a text as HTML, laid out if it is Markdown; what is `sought` in it is marked."""
    text = text.replace("\r\n", "\n")
    if not _MARKUP.search(text):
        return _paragraphs(text, sought)
    tokens = None if _is_too_much(text) else _parser().parse(text)
    if tokens is None or any(token.level >= DEEPEST - 1 for token in tokens):
        return format_html('<div class="pre">{}</div>{}', marked_text(text, sought), _AS_WRITTEN)
    return mark_safe("".join(_written(tokens, sought)))  # noqa: S308  every writer escapes what is not its own


@register.filter
def marked_text(text: str, sought: Sought | None = None) -> SafeString:
    """Return a text as it is, with what is `sought` in it marked."""
    if sought is None:
        return escape(text)
    pieces = ((f"<mark>{escape(each.text)}</mark>" if each.hit else escape(each.text)) for each in marked(text, sought))
    return mark_safe("".join(pieces))  # noqa: S308  escaped above


@register.filter
def holds(text: str | None, sought: Sought | None) -> bool:
    """Whether any of what is sought stands in a text."""
    return sought is not None and any(each.hit for each in marked(text or "", sought))


_AS_WRITTEN = mark_safe('<p class="md-note">Shown as it was written: too much to lay out as Markdown.</p>')


def _paragraphs(text: str, sought: Sought | None) -> SafeString:
    parts = (marked_text(part, sought).replace("\n", "<br>") for part in _BLANK_LINES.split(text.strip("\n")))
    return mark_safe("".join(f"<p>{part}</p>" for part in parts))  # noqa: S308  escaped above


def _is_too_much(text: str) -> bool:
    """Whether a text is too long, or could be a table of which every row is filled up to the width of the first."""
    if len(text) > LONGEST:
        return True
    return max(line.count("|") for line in text.split("\n")) * text.count("\n") > MOST_CELLS


@cache
def _parser() -> MarkdownIt:
    """Return the parser: no HTML, no definitions that would vanish, no entities that would read otherwise."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "reference", "entity"])
    parser.validateLink = _leads_out  # type: ignore[method-assign]
    return parser


def _leads_out(url: str) -> bool:
    return _LINK.match(url) is not None


def _written(tokens: Sequence[Token], sought: Sought | None) -> Iterator[str]:
    inside_link = False
    for token in tokens:
        inside_link = token.type == "link_open" or (inside_link and token.type != "link_close")
        if token.type == "inline":
            yield from _written(token.children or (), sought)
        elif token.type == "image":
            yield _image(token, sought, inside_link)
        elif not token.hidden:
            yield _WRITERS[token.type](token, sought)


def _image(token: Token, sought: Sought | None, inside_link: bool) -> str:  # noqa: FBT001
    source = str(token.attrs["src"])
    address = escape(source) if inside_link else f"{_link(source)}{escape(source)}</a>"
    words = "".join(marked_text(child.content, sought) for child in token.children or ())
    return f'<span class="md-img">image left out: {words} {address}</span>'


def _link(address: str) -> str:
    return format_html('<a href="{}" rel="noopener nofollow noreferrer">', address)


def _fence(token: Token, sought: Sought | None) -> str:
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    return _code(colored_code(token.content, language) if sought is None else marked_text(token.content, sought))


def _code(content: SafeString) -> str:
    return f'<pre class="md-c" tabindex="0"><code>{content}</code></pre>'


def _list(token: Token, _sought: Sought | None) -> str:
    start = token.attrs.get("start")
    return "<ol>" if start is None else format_html('<ol start="{}">', start)


def _cell(token: Token, _sought: Sought | None) -> str:
    aligned = _ALIGNED.get(str(token.attrs.get("style", "")))
    return f'<{token.tag} class="{aligned}">' if aligned else f"<{token.tag}>"


def _plain(opening: str, closing: str) -> tuple[_Writer, _Writer]:
    return (lambda _token, _sought: opening), (lambda _token, _sought: closing)


def _pairs() -> Iterator[tuple[str, _Writer]]:
    tags = {"paragraph": "p", "bullet_list": "ul", "list_item": "li", "blockquote": "blockquote", "em": "em"}
    tags |= {"strong": "strong", "s": "s", "thead": "thead", "tbody": "tbody", "tr": "tr", "th": "th", "td": "td"}
    table = '<div class="md-t" tabindex="0" role="group" aria-label="Table"><table>'
    pairs = {name: _plain(f"<{tag}>", f"</{tag}>") for name, tag in tags.items()}
    pairs |= {"table": _plain(table, "</table></div>"), "ordered_list": _plain("<ol>", "</ol>")}
    pairs |= {"heading": _plain("", "</p>"), "link": _plain("", "</a>")}
    for name, (opening, closing) in pairs.items():
        yield f"{name}_open", opening
        yield f"{name}_close", closing


# Headings of a text are none of the page's.
_WRITERS: Mapping[str, _Writer] = dict(_pairs()) | {
    "text": lambda token, sought: marked_text(token.content, sought),
    "softbreak": lambda _token, _sought: "<br>",
    "hardbreak": lambda _token, _sought: "<br>",
    "hr": lambda _token, _sought: "<hr>",
    "code_inline": lambda token, sought: f"<code>{marked_text(token.content, sought)}</code>",
    "code_block": lambda token, sought: _code(marked_text(token.content, sought)),
    "fence": _fence,
    "heading_open": lambda token, _sought: f'<p class="md-h md-{token.tag}">',
    "link_open": lambda token, _sought: _link(str(token.attrs["href"])),
    "ordered_list_open": _list,
    "th_open": _cell,
    "td_open": _cell,
}
