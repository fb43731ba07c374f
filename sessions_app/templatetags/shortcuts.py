"""The help sheet of the keyboard."""

from typing import Any

from django import template

from sessions_app.queries.shortcuts import shortcuts_everywhere, shortcuts_of

register = template.Library()


@register.inclusion_tag("components/shortcuts.html", takes_context=True)
def shortcuts(context: template.Context) -> dict[str, Any]:
    """List the keys that do something on the page that is shown, then those that do everywhere."""
    match = context["request"].resolver_match
    of_page = shortcuts_of(match.url_name or "") if match else ()
    everywhere = shortcuts_everywhere(in_project=bool(context.get("project")))
    return {"lists": [shown for shown in (of_page, everywhere) if shown]}
