"""Summarizing in the background, with workers that are started, doubled and killed."""

import socket
import time

import pytest

from sessions_app import clients
from sessions_app.clients import broker
from sessions_app.models import Session, SummaryStatus
from tests.factories import append_turns, make_session
from tests.tasks.conftest import wait_until

# The first poke loads modules besides; the others wait for the broker alone, unless a busy machine holds them up.
TIMED_POKES = """
import time
def poke():
    start = time.monotonic()
    hurry(1)
    return time.monotonic() - start
poke()
took = min(poke() for _ in range(4))
assert 0.5 < took < 1, took
"""
AT_ONCE = {"summarize_at": 0, "max_input_tokens": 4000, "offset": 2}


def settled(session):
    session.refresh_from_db()
    return session.summary_wanted_at is None and session.prompt_snapshot is not None


def covered(session):
    return session.summary.covers_through


def is_working(session):
    return session.summaries.filter(status=SummaryStatus.RUNNING).exists()


def test_work_that_was_pending_is_done_after_a_start(workers):
    session = make_session(runs=9, settings=AT_ONCE)
    workers.start()
    wait_until(lambda: settled(session), workers)
    assert covered(session) == 7
    assert "question 1" in session.summary.text
    assert session.prompt_snapshot["position"] == 9
    assert session.prompt_snapshot["summary"] == 7


def test_a_poke_gets_it_done_without_a_sweep(workers):
    workers.environment["CONVOWEB_SWEEP_INTERVAL"] = "600"
    workers.start()
    time.sleep(3)  # the sweep at the start is over
    session = make_session(runs=5, settings=AT_ONCE)
    workers.python(f"hurry({session.pk})")
    wait_until(lambda: settled(session), workers)
    assert covered(session) == 3


def test_a_worker_killed_while_summarizing_loses_nothing(workers):
    session = make_session(runs=9, settings=AT_ONCE)
    doomed = workers.start("tests.tasks.slow_worker")
    wait_until(workers.slow_mark.exists, workers)  # killed any earlier, the next worker would be the slow one
    append_turns(session)
    doomed.kill()
    doomed.wait()
    assert is_working(session)
    session.refresh_from_db()
    assert session.summary is None
    assert session.summary_wanted_at is not None
    workers.start("tests.tasks.slow_worker")
    wait_until(lambda: settled(session), workers)
    assert covered(session) == 8
    assert session.summaries.count() == 1
    assert session.summaries.get().attempts == 2


def test_a_lease_is_renewed_as_long_as_the_work_takes(workers):
    session = make_session(runs=9, settings=AT_ONCE)
    workers.start("tests.tasks.slow_worker")
    wait_until(workers.slow_mark.exists, workers)
    token = session.summaries.get().lease_token
    workers.start("tests.tasks.slow_worker")
    time.sleep(6)  # three leases long
    entry = session.summaries.get()
    assert (entry.status, entry.attempts, entry.lease_token) == (SummaryStatus.RUNNING, 1, token)
    workers.processes[0].kill()
    wait_until(lambda: settled(session), workers)
    assert session.summaries.get().attempts == 2


def test_two_workers_and_many_pokes_give_one_chain(workers):
    sessions = [make_session(runs=3, settings=AT_ONCE)]
    sessions += [make_session(sessions[0].project, f"s{n}", runs=9, settings=AT_ONCE) for n in range(4)]
    workers.start()
    workers.start()
    keys = [session.pk for session in sessions] * 5
    workers.python(f"[hurry(key) for key in {keys}]")
    wait_until(lambda: all(map(settled, sessions)), workers)
    for session in sessions:
        assert session.summaries.count() == 1
        assert covered(session) == session.last_position - 2
    assert not Session.objects.exclude(next_attempt_at=None).exists()


@pytest.mark.django_db
def test_a_poke_that_cannot_be_published_is_logged_within_a_second_and_never_raises(monkeypatch, caplog):
    def refuse(*args, **options):
        raise OSError("no broker")

    monkeypatch.setattr(broker.current_app, "send_task", refuse)
    clients.publish(clients.Work.SUMMARIZE, 1)
    assert "no broker" in caplog.text


def test_a_poke_to_a_broker_that_does_not_answer_gives_up_within_a_second(workers):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        workers.environment["CELERY_BROKER_URL"] = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        workers.python(TIMED_POKES)
