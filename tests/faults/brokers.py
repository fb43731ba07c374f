"""What is left in the broker and at the database when all work is done and all workers have left."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any

from amqp.exceptions import ChannelError
from django.db import connection as database

from convoweb.celery import app

SWEEP = "sessions_app.tasks.sweep"
PATIENCE_SECONDS = 60
OTHERS_AT_THE_DATABASE = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


def wait_until_empty() -> None:
    """Wait for a moment in which nothing waits in the queue, at most some seconds: workers sweep all the time."""
    with _queue() as queue:
        _wait_until(lambda: not _size(queue))


def left_overs() -> Iterator[str]:
    """Take everything out of the queue, and yield what should not have been there or is still open.

    Sweeps may be there: every worker asks for one at each interval, and one asked for in its last moment waits.
    """
    found = _emptied()
    yield from (f"{number} of {name} in the queue" for name, number in found.items() if name != SWEEP)
    yield from (f"{number} {what}" for what, number in _held().items() if number)


def _emptied() -> Counter[str]:
    found: Counter[str] = Counter()
    with _queue() as queue:
        try:
            while True:
                message = queue.get_nowait()
                found[message.headers["task"]] += 1
                message.ack()
        except Empty:
            return found


def _held() -> dict[str, int]:
    """Return what workers that have left hold at the broker and at the database; some seconds are given to let go."""
    held: dict[str, Callable[[], int]] = {}
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        if connection.transport.driver_type == "redis":
            held["messages that are not acknowledged"] = lambda: channel.client.hlen("unacked")
        if connection.transport.driver_type == "amqp":
            queue = app.conf.task_default_queue
            held["consumers"] = lambda: channel.queue_declare(queue, passive=True).consumer_count
        if database.vendor == "postgresql":
            held["connections to the database"] = _others_at_the_database
        _wait_until(lambda: not any(count() for count in held.values()))
        return {what: count() for what, count in held.items()}


def _size(queue: Any) -> int:
    try:
        return int(queue.qsize())
    except ChannelError:  # Redis knows no empty queues
        return 0


def _others_at_the_database() -> int:
    with database.cursor() as cursor:
        cursor.execute(OTHERS_AT_THE_DATABASE)
        (number,) = cursor.fetchone()
    return int(number)


@contextmanager
def _queue() -> Iterator[Any]:
    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue(app.conf.task_default_queue)
        yield queue
        queue.close()


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
