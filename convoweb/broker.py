"""The embedded message broker: a kombu transport on one SQLite file, for installations without a service.

A message is leased to the consumer that takes it and deleted when acknowledged. A consumer renews its leases
as long as it polls; what a killed consumer held is delivered again when its lease ends, or at once after
`release_leases`. Delivery is thus at least once. A worker must keep polling while tasks run, so its pool may be
threads or prefork, never solo.
"""

import json
import os
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, virtual

from convoweb import private_files

SCHEME = "sqlite-queue"
LEASE_SECONDS = 30.0
POLLING_SECONDS = 0.05
LONGEST_DRAIN_SECONDS = 0.5
WAIT_SECONDS = 20.0
# A publisher sits inside a request: it gives up early, and the sweeper does the work later.
PUBLISH_WAIT_SECONDS = 0.8

SCHEMA = """
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    tag TEXT NOT NULL UNIQUE,
    visible_at REAL NOT NULL DEFAULT 0,
    owner TEXT,
    deliveries INTEGER NOT NULL DEFAULT 0,
    payload TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS message_ready ON message (queue, priority, id);
CREATE INDEX IF NOT EXISTS message_owner ON message (owner) WHERE owner IS NOT NULL;
"""
READY = "SELECT id FROM message WHERE queue = ? AND visible_at <= ? ORDER BY priority, id LIMIT 1"
TAKE = f"""
UPDATE message SET visible_at = ?, owner = ?, deliveries = deliveries + 1
WHERE id = ({READY}) RETURNING payload, deliveries
"""  # noqa: S608


def register() -> None:
    """Make the scheme of broker addresses known to kombu."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"


def release_leases(path: Path) -> None:
    """Make every message in the file deliverable at once; only for when no consumer is running."""
    queue_file = QueueFile(path)
    queue_file.execute("UPDATE message SET visible_at = 0, owner = NULL WHERE owner IS NOT NULL")
    queue_file.close()


class QueueFile:
    """The messages in one SQLite file, shared by any number of threads and processes of one machine."""

    def __init__(self, path: Path, lease_seconds: float = LEASE_SECONDS) -> None:
        self._path = path
        self._lease_seconds = lease_seconds
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def put(self, queue: str, *, tag: str, priority: int, payload: str) -> None:
        """Store a message; lower priorities are taken first."""
        self.execute(
            "INSERT INTO message (queue, tag, priority, payload) VALUES (?, ?, ?, ?)",
            (queue, tag, priority, payload),
            wait_seconds=PUBLISH_WAIT_SECONDS,
        )

    def take(self, queue: str, *, owner: str) -> tuple[str, int] | None:
        """Lease the next message to `owner`: its payload and how many times it has been delivered now."""
        now = time.time()
        # An idle consumer only reads, so that it never stands in the way of a writer.
        if not self.execute(READY, (queue, now)):
            return None
        rows = self.execute(TAKE, (now + self._lease_seconds, owner, queue, now))
        return (rows[0][0], rows[0][1]) if rows else None

    def renew(self, owner: str) -> None:
        """Let all leases of `owner` begin anew."""
        self.execute("UPDATE message SET visible_at = ? WHERE owner = ?", (time.time() + self._lease_seconds, owner))

    def release(self, tags: Sequence[str], *, owner: str) -> None:
        """Give back messages that `owner` holds, to be delivered again at once."""
        for tag in tags:
            self.execute("UPDATE message SET visible_at = 0, owner = NULL WHERE tag = ? AND owner = ?", (tag, owner))

    def delete(self, tag: str) -> None:
        """Forget a message that has been dealt with."""
        self.execute("DELETE FROM message WHERE tag = ?", (tag,))

    def purge(self, queue: str) -> int:
        """Delete all messages of a queue and return how many there were."""
        return len(self.execute("DELETE FROM message WHERE queue = ? RETURNING id", (queue,)))

    def size(self, queue: str) -> int:
        """Return how many messages of a queue are waiting or leased."""
        count: int = self.execute("SELECT count(*) FROM message WHERE queue = ?", (queue,))[0][0]
        return count

    def execute(self, sql: str, parameters: Sequence[Any] = (), *, wait_seconds: float = WAIT_SECONDS) -> list[Any]:
        """Run one statement in a transaction of its own, waiting at most so long for other writers."""
        with self._lock:
            connection = self._connection = self._connection or self._open(wait_seconds)
            connection.execute(f"PRAGMA busy_timeout = {int(wait_seconds * 1000)}")
            return connection.execute(sql, parameters).fetchall()

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self, wait_seconds: float) -> sqlite3.Connection:
        # The lock above makes it safe to share the connection between threads.
        path = private_files.database(self._path)
        connection = sqlite3.connect(path, timeout=wait_seconds, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(SCHEMA)
        return connection


class QoS(virtual.QoS):
    """Keeps track of what a channel has taken and not yet acknowledged."""

    channel: "Channel"
    _delivered: Any
    _flush: Any

    def ack(self, delivery_tag: str) -> None:
        """Delete the message."""
        self.channel.queue_file.delete(delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:  # noqa: FBT001, FBT002
        """Give the message back, or delete it."""
        if requeue:
            self.channel.release([delivery_tag])
        else:
            self.channel.queue_file.delete(delivery_tag)
        super().ack(delivery_tag)

    def restore_unacked(self) -> list[Any]:  # type: ignore[override]
        """Give everything back that is still held."""
        self._flush()
        self.channel.release(list(self._delivered))
        self._delivered.clear()
        return []


class Channel(virtual.Channel):
    """One consumer or publisher with its own handle on the file."""

    QoS = QoS
    connection: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        client = self.connection.client
        self._lease_seconds = float(client.transport_options.get("lease", LEASE_SECONDS))
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex}"
        self._renewed_at = time.monotonic()
        self.queue_file = QueueFile(Path(client.virtual_host), self._lease_seconds)

    def drain_events(self, timeout: float | None = None, callback: Any = None) -> Any:
        """Renew the leases in time, then deliver what there is."""
        # Here and not where messages are taken: a consumer with its hands full takes none, but must keep what it has.
        now = time.monotonic()
        if now - self._renewed_at > self._lease_seconds / 3:
            self._renewed_at = now
            self.queue_file.renew(self._owner)
        return super().drain_events(timeout=timeout, callback=callback)

    def release(self, tags: Sequence[str]) -> None:
        """Give back messages of this channel."""
        self.queue_file.release(tags, owner=self._owner)

    def close(self) -> None:
        """Give back what is held and close the file."""
        super().close()
        self.queue_file.close()

    def _put(self, queue: str, message: dict[str, Any], **_kwargs: Any) -> None:
        self.queue_file.put(
            queue,
            tag=message["properties"]["delivery_tag"],
            priority=self._get_message_priority(message, reverse=True),
            payload=json.dumps(message),
        )

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:  # noqa: ARG002
        taken = self.queue_file.take(queue, owner=self._owner)
        if taken is None:
            raise Empty
        message: dict[str, Any] = json.loads(taken[0])
        message["properties"]["delivery_info"]["redelivered"] = taken[1] > 1
        return message

    def _purge(self, queue: str) -> int:
        return self.queue_file.purge(queue)

    def _delete(self, queue: str, *_args: Any, **_kwargs: Any) -> None:
        self.queue_file.purge(queue)

    def _size(self, queue: str) -> int:
        return self.queue_file.size(queue)


class Transport(virtual.Transport):
    """Connects kombu to the file named by the path of the broker's address."""

    Channel = Channel
    polling_interval = POLLING_SECONDS
    driver_type = "sql"
    driver_name = "sqlite3"
    connection_errors = (*virtual.Transport.connection_errors, sqlite3.DatabaseError)

    def drain_events(self, connection: Any, timeout: float | None = None) -> Any:  # type: ignore[override]
        """Deliver a message, or time out early, so that a worker that is told to stop soon notices."""
        return super().drain_events(connection, timeout=timeout and min(timeout, LONGEST_DRAIN_SECONDS))

    def driver_version(self) -> str:
        """Return the version of SQLite."""
        return sqlite3.sqlite_version
