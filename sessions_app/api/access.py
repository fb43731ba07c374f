"""Who asks: bearer keys, their scopes and their rate."""

import time
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.utils import timezone
from ninja.errors import AuthorizationError
from ninja.security import HttpBearer
from ninja.throttling import BaseThrottle

from sessions_app.models import ApiKey, Scope
from sessions_app.services.keys import key_of

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class ApiRequest(HttpRequest):
    """A request whose key is known; `written_session` is the key of the session row it writes to."""

    auth: ApiKey
    written_session: int | None


class BearerKey(HttpBearer):
    """Asks for a key with one scope."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Return the key of a token, None if it is wrong; raise if it lacks the scope."""
        key = remembered_key(request, token)
        if key is not None and self.scope not in key.scopes:
            raise AuthorizationError(403, f"This needs a key with the scope {self.scope.value}.")
        return key


READ, WRITE, ADMIN = (BearerKey(scope) for scope in (Scope.READ, Scope.WRITE, Scope.ADMIN))


def remembered_key(request: HttpRequest, token: str) -> ApiKey | None:
    """Return the key of a token, looked up once a request."""
    if not hasattr(request, "_api_key"):
        request._api_key = key_of(text=token, now=timezone.now())  # type: ignore[attr-defined]  # noqa: SLF001
    return request._api_key  # type: ignore[attr-defined]  # noqa: SLF001


@lru_cache
def parse_rate(text: str) -> tuple[int, int] | None:
    """Read a rate such as `600/m` into requests and seconds; None if it is empty, which means no limit."""
    if not text:
        return None
    count, _, unit = text.partition("/")
    if not count.isascii() or not count.isdigit() or int(count) < 1 or unit not in _SECONDS:
        raise ImproperlyConfigured(f"CONVOWEB_API_RATE is a number and s, m, h or d, as in 600/m; this is {text!r}.")
    return int(count), _SECONDS[unit]


class KeyThrottle(BaseThrottle):
    """Counts the requests of each key in windows that begin at multiples of the rate's period."""

    def allow_request(self, request: HttpRequest) -> bool:
        """Count the request, once however often this is asked, and tell whether it is within the rate."""
        rate = parse_rate(settings.CONVOWEB_API_RATE)
        key = getattr(request, "auth", None)
        if rate is None or not isinstance(key, ApiKey) or hasattr(request, "_is_counted"):
            return True
        request._is_counted = True  # type: ignore[attr-defined]  # noqa: SLF001
        most, seconds = rate
        name = f"api-rate-{key.pk}-{int(time.time()) // seconds}"
        cache.add(name, 0, timeout=seconds * 2)
        return _counted(name) <= most

    def wait(self) -> float | None:
        """Return the seconds until the next window."""
        rate = parse_rate(settings.CONVOWEB_API_RATE)
        return None if rate is None else rate[1] - time.time() % rate[1]


def _counted(name: str) -> int:
    try:
        return cache.incr(name)
    except ValueError:
        # The cache has dropped the count in between.
        return 1
