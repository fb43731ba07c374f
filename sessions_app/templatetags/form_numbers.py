"""The number by which a form that makes something is known when it is sent twice."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions_app.services.forms_sent_twice import new_form_number

register = template.Library()


@register.simple_tag
def form_number() -> SafeString:
    """Draw a hidden field with a new number."""
    return format_html('<input type="hidden" name="form_number" value="{}">', new_form_number())
