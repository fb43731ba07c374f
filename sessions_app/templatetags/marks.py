"""Texts of prompts with the followed words marked, where the page follows some: `phrase` of its context."""

from django import template
from django.template.context import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.domain.following.phrase import Phrase
from sessions_app.templatetags.code import json_code

register = template.Library()


@register.simple_tag(takes_context=True)
def marked_text(context: Context, text: str) -> str:
    """Return a text, its hits as marks."""
    phrase = _phrase(context)
    return text if phrase is None else _marked(text, phrase)


@register.simple_tag(takes_context=True)
def marked_json(context: Context, text: str) -> str:
    """Return colored JSON; with marks instead of colors where it says the words."""
    phrase = _phrase(context)
    return _marked(text, phrase) if phrase is not None and phrase.is_in(text) else json_code(text)


@register.simple_tag(takes_context=True)
def open_if_said(context: Context, text: str) -> str:
    """Return the attribute that unfolds a text that says the words."""
    phrase = _phrase(context)
    return SafeString(" open") if phrase is not None and phrase.is_in(text) else ""


def _phrase(context: Context) -> Phrase | None:
    found = context.get("phrase")
    return found if isinstance(found, Phrase) else None


def _marked(text: str, phrase: Phrase) -> SafeString:
    pieces = (format_html("<mark>{}</mark>" if piece.hit else "{}", piece.text) for piece in phrase.pieces(text))
    return format_html_join("", "{}", ((piece,) for piece in pieces))
