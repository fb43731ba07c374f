"""What is left in the broker when all work is done."""

import time
from collections import Counter
from queue import Empty

from convoweb.celery import app

SWEEP = "sessions_app.tasks.sweep"
PATIENCE_SECONDS = 20


def wait_until_empty() -> None:
    """Wait for a moment in which nothing waits in the queue, at most some seconds: workers sweep all the time."""
    end = time.monotonic() + PATIENCE_SECONDS
    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue(app.conf.task_default_queue)
        while queue.qsize() and time.monotonic() < end:
            time.sleep(0.05)
        queue.close()


def empty_queue() -> list[str]:
    """Take everything out of the queue and return what should not have been there.

    A sweep may: every worker asks for one at each interval, and one asked for in its last moment waits for the next.
    """
    found: Counter[str] = Counter()
    with app.connection_for_read() as connection:
        queue = connection.SimpleQueue(app.conf.task_default_queue)
        try:
            while True:
                message = queue.get_nowait()
                found[message.headers["task"]] += 1
                message.ack()
        except Empty:
            queue.close()
    return [f"{number} of {name}" for name, number in found.items() if name != SWEEP]
