"""What an answer costs the database, in numbers that a slow machine does not change."""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest import mock

from django.db import connection
from django.db.backends.utils import CursorWrapper

STEPS_AT_ONCE = 100


@dataclass
class Cost:
    """How many queries there were, how many rows came, and how many steps SQLite took to find them."""

    queries: int = 0
    rows: int = 0
    steps: int = 0


@contextmanager
def counted():
    """Yield a Cost that is filled in while the block runs."""
    cost = Cost()
    with ExitStack() as stack:
        for name, rows_in in (("fetchone", _is_row), ("fetchmany", len), ("fetchall", len)):
            stack.enter_context(mock.patch.object(CursorWrapper, name, _counting(name, rows_in, cost), create=True))
        stack.enter_context(_steps(cost))
        stack.enter_context(connection.execute_wrapper(_counting_queries(cost)))
        yield cost


def _is_row(row):
    return row is not None


def _counting(name, rows_in, cost):
    def fetch(self, *given):
        found = getattr(self.cursor, name)(*given)
        cost.rows += rows_in(found)
        return found

    return fetch


def _counting_queries(cost):
    def execute(run, *given):
        cost.queries += 1
        return run(*given)

    return execute


@contextmanager
def _steps(cost):
    connection.ensure_connection()

    def progress():
        cost.steps += STEPS_AT_ONCE

    connection.connection.set_progress_handler(progress, STEPS_AT_ONCE)
    try:
        yield
    finally:
        connection.connection.set_progress_handler(None, 0)
