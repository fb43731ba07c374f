"""Text of tool calls as colored JSON, and the code in texts colored by its language."""

import re
from collections.abc import Iterator, Mapping

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers.data import JsonLexer
from pygments.lexers.diff import DiffLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.shell import BashLexer
from pygments.lexers.sql import SqlLexer
from pygments.token import Comment, Generic, Keyword, Name, Number, String, _TokenType

register = template.Library()

# Some lexers take the square of what they are given.
LONGEST_CODE = 2_000
LONGEST_JSON = 50_000
# Every alternative consumes what it has seen (possessive, closing quote optional), so that any text takes linear time.
_TOKENS = re.compile(
    r'(?P<text>"(?:[^"\\]|\\[\s\S])*+"?)(?P<colon>\s*+:)?'
    r'|(?<![\w."])(?P<value>-?\d++(?:\.\d++)?(?![\w"])|\b(?:true|false|null)\b)'
)
# Those that stay fast on any text.
_LEXERS: Mapping[str, type[Lexer]] = {
    **dict.fromkeys(("bash", "sh", "shell", "console"), BashLexer),
    **dict.fromkeys(("diff", "patch"), DiffLexer),
    **dict.fromkeys(("py", "python", "python3"), PythonLexer),
    "json": JsonLexer,
    "sql": SqlLexer,
}
# The first that a token is one of.
_CLASSES: Mapping[_TokenType, str] = {
    Comment: "h-c",
    Generic.Deleted: "h-d",
    Generic.Inserted: "h-i",
    Keyword.Constant: "j-n",
    Keyword: "h-w",
    Name.Tag: "j-k",
    Number: "j-n",
    String: "j-s",
}


@register.filter
def json_code(text: str) -> SafeString:
    """Color keys, texts and values of JSON; text that is not JSON, or very long, comes out escaped all the same."""
    drawn = (in_color(piece, css_class) for piece, css_class in json_pieces(text))
    return mark_safe("".join(drawn))  # noqa: S308  every piece is escaped


def json_pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text in pieces, each with the class of its color, empty where it has none."""
    end = 0
    for token in _TOKENS.finditer(text if len(text) <= LONGEST_JSON else ""):
        yield text[end : token.start()], ""
        yield (token["value"], "j-n") if token["text"] is None else (token["text"], "j-k" if token["colon"] else "j-s")
        end = token.end() - len(token["colon"] or "")
    yield text[end:], ""


def in_color(text: str, css_class: str) -> SafeString:
    """Return an escaped text in the color of a class, if it has one."""
    return format_html('<span class="{}">{}</span>', css_class, text) if css_class else escape(text)


def colored_code(text: str, language: str) -> SafeString:
    """Color code of a language that is known; any other, or long code, comes out escaped alone."""
    lexer = _LEXERS.get(language.lower())
    if lexer is None or len(text) > LONGEST_CODE:
        return escape(text)
    return mark_safe("".join(_spans(lexer(stripnl=False, ensurenl=False), text)))  # noqa: S308  escaped below


def _spans(lexer: Lexer, text: str) -> Iterator[SafeString]:
    for kind, value in lexer.get_tokens(text):
        css_class = next((name for family, name in _CLASSES.items() if kind in family), "")
        yield in_color(value, css_class)
