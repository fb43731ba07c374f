"""A draft that is sent when nobody is signed in any more: it is led through signing in, in the address."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.http import urlencode
from django_htmx.http import HttpResponseClientRedirect

from sessions_app.domain.memory_settings import SETTINGS_BY_NAME
from sessions_app.domain.setting_values import setting_from_text
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.workbench import seen_values, texts_of

LONGEST = 4_000
_NO_DRAFT = frozenset({"csrfmiddlewaretoken", "seen", "sure", "note"})

View = Callable[..., HttpResponseBase]


def login_required_keeping_drafts(view: View) -> View:
    """Ask for signing in, and lead from there to the page with what was sent to it."""
    usual = login_required(view)

    @wraps(view)
    def ask(request: HtmxRequest, *args: Any, **named: Any) -> HttpResponseBase:
        if request.user.is_authenticated or request.method != "POST":
            return usual(request, *args, **named)
        address = f"{request.path}?{urlencode(list(_texts(request)))}"
        came_from = address if len(address) <= LONGEST else request.path
        login = f"{resolve_url('login')}?{urlencode({'next': came_from})}"
        return HttpResponseClientRedirect(login) if request.htmx else HttpResponseRedirect(login)

    return ask


def _texts(request: HtmxRequest) -> Iterator[tuple[str, str]]:
    """Yield what was sent, but not the settings that were left as they had been seen."""
    given = texts_of(request)
    seen = seen_values(given.get("seen", ""))
    for name, values in given.lists():
        if name in SETTINGS_BY_NAME:
            if name not in seen or setting_from_text(name, values[-1]) != seen[name]:
                yield name, values[-1]
        elif name not in _NO_DRAFT:
            yield from ((name, value) for value in values if value)
