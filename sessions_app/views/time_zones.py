"""The clock of whoever looks: pages write times, and read days, in the time zone that their browser tells of."""

from collections.abc import Callable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

COOKIE = "zone"


class BrowserTimeZone:
    """Middleware; without a zone that is known here, that of the settings stays."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer with the clock of the browser."""
        name = request.COOKIES.get(COOKIE, "")
        if name not in _known():
            return self._get_response(request)
        with timezone.override(ZoneInfo(name)):
            return self._get_response(request)


@cache
def _known() -> frozenset[str]:
    """Return the names of all zones; whatever else comes in a cookie never becomes the path of a file."""
    return frozenset(available_timezones())
