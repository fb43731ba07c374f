"""A publisher or consumer in a process of its own."""

import contextlib
import sqlite3
import sys
import time
from typing import Any

from kombu import Connection, Consumer, Queue

from convoweb import broker

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


def consume(connection, seconds, prefetch=4):
    """Print the number of every message that was taken and acknowledged until none came for `seconds`."""

    def accept(body, message):
        assert set(body["text"]) <= {"ü"}
        message.ack()
        print(body["number"], flush=True)

    with Consumer(connection, [QUEUE], callbacks=[accept], prefetch_count=prefetch):
        drain(connection, seconds)


def hold(connection):
    """Take messages, print their numbers and never acknowledge them."""

    def keep(body, message):
        print(body["number"], flush=True)

    with Consumer(connection, [QUEUE], callbacks=[keep], prefetch_count=4):
        drain(connection, 60)


def drain(connection, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            connection.drain_events(timeout=0.1)
        except TimeoutError:
            continue
        end = time.monotonic() + seconds


ROLES: dict[str, Any] = {"publish": publish, "consume": consume, "hold": hold}


def main(url, role, *numbers):
    with connect(url, lease=2) as connection:
        ROLES[role](connection, *map(int, numbers))


if __name__ == "__main__":
    main(*sys.argv[1:])
