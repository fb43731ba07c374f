"""Text of tool calls as colored JSON."""

import re

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

# Every alternative consumes what it has seen (possessive, closing quote optional), so that any text takes linear time.
_TOKENS = re.compile(
    r'(?P<text>"(?:[^"\\]|\\[\s\S])*+"?)(?P<colon>\s*+:)?'
    r'|(?<![\w."])(?P<value>-?\d++(?:\.\d++)?(?![\w"])|\b(?:true|false|null)\b)'
)


@register.filter
def json_code(text: str) -> SafeString:
    """Color keys, texts and values of JSON; text that is not JSON comes out escaped all the same."""
    pieces, end = [], 0
    for token in _TOKENS.finditer(text):
        pieces += [escape(text[end : token.start()]), _colored(token)]
        end = token.end()
    return mark_safe("".join([*pieces, escape(text[end:])]))  # noqa: S308  every piece is escaped above


def _colored(token: re.Match[str]) -> SafeString:
    if token["text"] is None:
        return format_html('<span class="j-n">{}</span>', token["value"])
    css_class = "j-k" if token["colon"] else "j-s"
    return format_html('<span class="{}">{}</span>{}', css_class, token["text"], token["colon"] or "")
