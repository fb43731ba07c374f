"""A publisher or consumer in a process of its own."""

import contextlib
import sqlite3
import sys
from typing import Any

from kombu import Connection, Consumer, Queue

from convoweb import broker

END = -1
QUEUE = Queue("celery", durable=True)


def connect(url, **options):
    broker.register()
    return Connection(url, transport_options=options)


def publish(connection, first, count, size):
    """Send messages one by one; one that was refused under load must not have been stored, and is sent again."""
    producer = connection.Producer()
    numbers = list(range(first, first + count))
    while numbers:
        with contextlib.suppress(sqlite3.OperationalError):
            producer.publish({"number": numbers[0], "text": "ü" * size}, routing_key=QUEUE.name)
            numbers.pop(0)


def consume(connection, count):
    """Print the number of every message that was taken and acknowledged, until there were so many or END came."""
    numbers = []

    def accept(body, message):
        assert set(body["text"]) <= {"ü"}
        message.ack()
        numbers.append(body["number"])

    with Consumer(connection, [QUEUE], callbacks=[accept], prefetch_count=4):
        drain(connection, lambda: len(numbers) >= count or END in numbers)
    print(*numbers)


def hold(connection):
    """Take messages, print their numbers and never acknowledge them."""

    def keep(body, message):
        print(body["number"], flush=True)

    with Consumer(connection, [QUEUE], callbacks=[keep], prefetch_count=4):
        drain(connection, lambda: False)


def drain(connection, is_done):
    while not is_done():
        with contextlib.suppress(TimeoutError):
            connection.drain_events(timeout=0.1)


ROLES: dict[str, Any] = {"publish": publish, "consume": consume, "hold": hold}


def main(url, role, *numbers):
    # Long enough for a busy machine, but for the one that is to be killed.
    with connect(url, lease=2 if role == "hold" else 100) as connection:
        ROLES[role](connection, *map(int, numbers))


if __name__ == "__main__":
    main(*sys.argv[1:])
