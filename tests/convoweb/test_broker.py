import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import kombu
import pytest

from convoweb import broker
from tests.convoweb import broker_peer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def url(tmp_path):
    return f"sqlite-queue://localhost/{tmp_path}/queue.sqlite3"


@pytest.fixture
def peer(url):
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.convoweb.broker_peer", url, *map(str, arguments)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return [int(line) for line in out.split()]


def put(url, *numbers, size=1, **options):
    with broker_peer.connect(url) as connection:
        producer = connection.Producer()
        for number in numbers:
            producer.publish({"number": number, "text": "ü" * size}, routing_key="celery", **options)


def take(connection):
    """Return the next message, or None."""
    return connection.default_channel.basic_get("celery")


def size(url):
    with broker_peer.connect(url) as connection:
        return connection.default_channel._size("celery")


def take_number(connection):
    message = take(connection)
    return None if message is None else message.payload["number"]


@pytest.mark.parametrize(("count", "characters"), [(1000, 1000), (100, 100_000)])
def test_four_publishers_and_three_consumers_lose_and_double_nothing(url, peer, count, characters):
    consumers = [peer("consume", 4 * count) for _ in range(3)]
    publishers = [peer("publish", first, count, characters) for first in range(0, 4 * count, count)]
    for publisher in publishers:
        finish(publisher)
    put(url, *[broker_peer.END] * 3)
    seen = Counter(number for consumer in consumers for number in finish(consumer))
    assert seen == Counter(range(4 * count)) + Counter({broker_peer.END: 3})
    assert size(url) == 0


def test_many_processes_may_make_the_file_at_once(url, peer):
    for process in [peer("publish", first, 5, 1) for first in range(0, 60, 5)]:
        finish(process)
    assert size(url) == 60


def test_messages_come_in_the_order_they_were_sent(url):
    put(url, *range(20))
    with broker_peer.connect(url) as connection:
        assert [take_number(connection) for _ in range(21)] == [*range(20), None]


def test_a_higher_priority_comes_first(url):
    put(url, 1)
    put(url, 2, priority=9)
    put(url, 3, priority=5)
    with broker_peer.connect(url) as connection:
        assert [take_number(connection) for _ in range(3)] == [2, 3, 1]


def test_a_message_of_four_megabytes_arrives_whole(url):
    put(url, 7, size=4_000_000)
    with broker_peer.connect(url) as connection:
        assert take(connection).payload == {"number": 7, "text": "ü" * 4_000_000}


def test_what_a_killed_consumer_held_is_delivered_again_when_its_lease_ends(url, peer):
    put(url, *range(6))
    victim = peer("hold")
    held = [int(victim.stdout.readline()) for _ in range(4)]
    assert held == [0, 1, 2, 3]
    victim.kill()
    victim.wait()
    assert sorted(finish(peer("consume", 6))) == list(range(6))


def test_release_leases_makes_it_deliverable_at_once(url, peer):
    put(url, *range(4))
    victim = peer("hold")
    for _ in range(4):
        victim.stdout.readline()
    victim.kill()
    victim.wait()
    with broker_peer.connect(url, lease=1000) as connection:
        assert take_number(connection) is None
        broker.release_leases(Path(connection.virtual_host))
        message = take(connection)
        assert message.payload["number"] == 0
        assert message.delivery_info["redelivered"] is True


def test_a_stopped_consumer_gives_back_what_it_has_not_acknowledged(url):
    put(url, 1, 2)
    with broker_peer.connect(url, lease=1000) as first:
        take(first).ack()
        assert take_number(first) == 2
        with broker_peer.connect(url) as second:
            assert take_number(second) is None
    with broker_peer.connect(url) as second:
        assert take_number(second) == 2
        assert size(url) == 1


def test_an_acknowledged_message_is_gone(url):
    put(url, 1)
    with broker_peer.connect(url) as connection:
        take(connection).ack()
    assert size(url) == 0


def test_a_rejected_message_is_gone_and_a_requeued_one_comes_again(url):
    put(url, 1, 2)
    with broker_peer.connect(url, lease=1000) as connection:
        take(connection).reject()
        take(connection).requeue()
        again = take(connection)
        assert again.payload["number"] == 2
        assert again.delivery_info["redelivered"] is True
    assert size(url) == 1


def test_a_busy_consumer_keeps_its_lease_while_it_polls(url):
    put(url, *range(3))
    with broker_peer.connect(url, lease=2) as busy, broker_peer.connect(url) as other:
        taken = []
        with kombu.Consumer(
            busy,
            [broker_peer.QUEUE],
            callbacks=[lambda body, message: taken.append(message)],
            prefetch_count=3,
        ):
            end = time.monotonic() + 5
            while time.monotonic() < end:
                try:
                    busy.drain_events(timeout=0.1)
                except TimeoutError:
                    assert len(taken) == 3
                    assert take_number(other) is None


def test_a_lapsed_lease_cannot_be_released_by_its_former_owner(url):
    put(url, 1)
    with broker_peer.connect(url, lease=0.1) as slow, broker_peer.connect(url, lease=1000) as quick:
        message = take(slow)
        time.sleep(0.15)
        assert take_number(quick) == 1
        message.requeue()
        with broker_peer.connect(url) as third:
            assert take_number(third) is None


def test_messages_outlive_every_process(url, peer):
    finish(peer("publish", 0, 10, 10))
    assert sorted(finish(peer("consume", 10))) == list(range(10))


def test_an_acknowledgement_may_come_from_another_thread(url):
    put(url, 1)
    with broker_peer.connect(url) as connection:
        message = take(connection)
        thread = threading.Thread(target=message.ack)
        thread.start()
        thread.join()
    assert size(url) == 0


def test_a_publisher_soon_gives_up_when_the_file_is_locked(url):
    put(url, 1)
    with broker_peer.connect(url) as connection:
        locker = sqlite3.connect(connection.virtual_host, isolation_level=None)
        locker.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.Producer().publish({}, routing_key="celery")
        assert time.monotonic() - started < 1.5
        locker.close()


def test_a_purge_tells_how_many_messages_there_were(url):
    put(url, 1, 2, 3)
    with broker_peer.connect(url) as connection:
        assert connection.default_channel.queue_purge("celery") == 3
    assert size(url) == 0


def test_the_file_may_lie_in_a_folder_with_unusual_characters(tmp_path):
    folder = tmp_path / "a b%20ü"
    folder.mkdir()
    put(f"sqlite-queue://localhost/{quote(str(folder / 'q'))}", 1)
    assert (folder / "q").exists()
