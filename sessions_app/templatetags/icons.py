"""Icons from the one cached sprite file."""

from functools import cache

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, css_class: str = "") -> SafeString:
    """Draw the symbol `name` of static/icons.svg; it takes the color of the text around it and is never read out."""
    classes = f"i {css_class}".strip()
    return format_html('<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>', classes, _sprite(), name)


@cache
def _sprite() -> str:
    """Return the address of the file, which a process looks up once: pages draw hundreds of icons."""
    return static("icons.svg")
