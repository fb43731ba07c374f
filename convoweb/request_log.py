"""The line that the log has on each request."""

import re

from django.http import HttpRequest
from django_structlog.middlewares import RequestMiddleware

# Also inside another address, where it is where signing in leads to.
_INVITATION = re.compile(r"(invitations(?:/|%2F))[\w-]+", re.IGNORECASE)


class RequestLog(RequestMiddleware):
    """Writes the line; whoever reads it does not get at the invitations of others."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Return method and address, without the token by which somebody joins a project."""
        return _INVITATION.sub(r"\1…", f"{request.method} {request.get_full_path()}")
