"""Pieces of query strings."""

from collections.abc import Iterable

from django import template

register = template.Library()


@register.filter
def toggled(ids: Iterable[str], public_id: str) -> str:
    """Write a comma-separated list of ids with this one added, or taken away if it was there."""
    return ",".join(sorted(set(ids) ^ {public_id}))
