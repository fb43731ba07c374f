"""How long a write waits and what a row of reads sees, on either database."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

IMPATIENT_MILLISECONDS = 50


@contextmanager
def impatient() -> Iterator[None]:
    """Let a write fail soon, by an OperationalError, while others write; only SQLite makes it wait for all of them."""
    if connection.vendor != "sqlite":
        yield
        return
    _set_patience(IMPATIENT_MILLISECONDS)
    try:
        yield
    finally:
        _set_patience(int(connection.settings_dict["OPTIONS"]["timeout"] * 1000))


@contextmanager
def one_state() -> Iterator[None]:
    """Read from one state of the database, whatever others write meanwhile; a transaction that is open decides itself.

    Also a decorator of functions that only read.
    """
    if connection.in_atomic_block:
        yield
        return
    with _deferred(), transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


@contextmanager
def _deferred() -> Iterator[None]:
    """Begin transactions on SQLite without the write lock, which ours take from the start."""
    connection.ensure_connection()
    usual = getattr(connection, "transaction_mode", None)
    connection.transaction_mode = "DEFERRED"  # type: ignore[attr-defined]
    try:
        yield
    finally:
        connection.transaction_mode = usual  # type: ignore[attr-defined]


def _set_patience(milliseconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")
