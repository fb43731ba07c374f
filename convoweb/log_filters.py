"""Keeps out of the log what would fill it without telling anything, and what nobody shall read there."""

import logging
import re
from collections.abc import MutableMapping
from typing import Any

# Also inside another address, where it is where signing in leads to.
_INVITATION = re.compile(r"(invitations(?:/|%2F))[\w-]+", re.IGNORECASE)


def not_a_sweep(record: logging.LogRecord) -> bool:
    """Drop the lines on the task that comes around again and again."""
    return "sessions_app.tasks.sweep" not in record.getMessage()


def not_a_request_start(record: logging.LogRecord) -> bool:
    """Drop the announcement of a request; the line on its answer says the same and more."""
    return "'event': 'request_started'" not in record.getMessage()


def without_others_tracebacks(record: logging.LogRecord) -> bool:
    """Let what is wrong with a request, such as its host, stand in a line: anybody could fill the log with the rest."""
    if record.name.startswith("django.security."):
        record.exc_info = None
    return True


def without_invitations(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cut the tokens by which people join projects out of a line, whoever writes it."""
    return {name: _INVITATION.sub(r"\1…", value) if isinstance(value, str) else value for name, value in line.items()}
