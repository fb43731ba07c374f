"""The convention that one view answers with a full page or with a fragment of it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request as the htmx middleware hands it on."""

    htmx: HtmxDetails


def address_of_page(htmx: HtmxDetails) -> SplitResult:
    """Return path and query of the page that a swap came from; empty if it came from elsewhere or from nonsense."""
    try:
        return urlsplit(htmx.current_url_abs_path or "")
    except ValueError:
        return urlsplit("")


def render_page(
    request: HtmxRequest, template: str, partial: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render the template, or for an htmx swap only its partial; history restores and boosted links get the page."""
    swap = request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request
    response = render(request, f"{template}#{partial}" if swap else template, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
