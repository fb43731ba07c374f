"""Ids that the server makes."""

import secrets
import string

RANDOM_LETTERS = 20

_ALPHABET = string.digits + string.ascii_letters


def new_session_id() -> str:
    """Return a fresh id for a session that came without one."""
    return _random("ses")


def new_run_id() -> str:
    """Return a fresh id for a run that came without one."""
    return _random("run")


def _random(prefix: str) -> str:
    return f"{prefix}_{''.join(secrets.choice(_ALPHABET) for _ in range(RANDOM_LETTERS))}"
