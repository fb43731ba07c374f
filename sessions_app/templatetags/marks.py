"""Texts of prompts with the followed words marked, where the page follows some: `phrase` of its context."""

from bisect import bisect_right
from itertools import accumulate, pairwise

from django import template
from django.template.context import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from sessions_app.domain.following.phrase import Phrase
from sessions_app.templatetags.code import in_color, json_code, json_pieces

register = template.Library()


@register.simple_tag(takes_context=True)
def marked_text(context: Context, text: str) -> str:
    """Return a text, its hits as marks."""
    phrase = _phrase(context)
    return text if phrase is None else _marked(text, phrase)


@register.simple_tag(takes_context=True)
def marked_json(context: Context, text: str) -> str:
    """Return colored JSON, its hits as marks."""
    phrase = _phrase(context)
    return _marked_json(text, phrase) if phrase is not None and phrase.is_in(text) else json_code(text)


@register.simple_tag(takes_context=True)
def open_if_said(context: Context, text: str) -> str:
    """Return the attribute that unfolds a text that says the words."""
    phrase = _phrase(context)
    return SafeString(" open") if phrase is not None and phrase.is_in(text) else ""


def _phrase(context: Context) -> Phrase | None:
    found = context.get("phrase")
    return found if isinstance(found, Phrase) else None


def _marked_json(text: str, phrase: Phrase) -> SafeString:
    """Cut a text wherever a color or a hit begins or ends."""
    colors, hits = list(json_pieces(text)), list(phrase.pieces(text))
    color_ends = list(accumulate(len(piece) for piece, _ in colors))
    hit_ends = list(accumulate(len(piece.text) for piece in hits))
    drawn = []
    for start, end in pairwise([0, *sorted({*color_ends, *hit_ends} - {0})]):
        colored = in_color(text[start:end], colors[bisect_right(color_ends, start)][1])
        is_hit = hits[bisect_right(hit_ends, start)].hit
        drawn.append(format_html("<mark>{}</mark>", colored) if is_hit else colored)
    return format_html_join("", "{}", ((piece,) for piece in drawn))


def _marked(text: str, phrase: Phrase) -> SafeString:
    pieces = (format_html("<mark>{}</mark>" if piece.hit else "{}", piece.text) for piece in phrase.pieces(text))
    return format_html_join("", "{}", ((piece,) for piece in pieces))
