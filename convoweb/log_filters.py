"""Keeps out of the log what would fill it without telling anything; each says whether a record stays."""

import logging


def not_a_sweep(record: logging.LogRecord) -> bool:
    """Drop the lines on the task that comes around again and again."""
    return "sessions_app.tasks.sweep" not in record.getMessage()


def not_a_request_start(record: logging.LogRecord) -> bool:
    """Drop the announcement of a request; the line on its answer says the same and more."""
    return "'event': 'request_started'" not in record.getMessage()
