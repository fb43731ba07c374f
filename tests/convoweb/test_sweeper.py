"""The thread that asks for sweeps, beside a pool that forks."""

import os
import threading
import time

from convoweb import celery


def test_a_child_forked_while_a_sweep_is_asked_for_inherits_no_lock_of_the_brokers(monkeypatch):
    of_the_broker, is_asking = threading.Lock(), threading.Event()

    def ask():
        with of_the_broker:
            is_asking.set()
            time.sleep(0.3)

    monkeypatch.setattr(celery, "ask_for_sweep", ask)
    sweeper = celery.Sweeper(None)
    sweeper.start(None)
    assert is_asking.wait(10)
    child = os.fork()
    if not child:
        os._exit(of_the_broker.locked())
    sweeper.stop(None)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_it_starts_when_the_pool_has_forked():
    assert celery.Sweeper.requires == ("celery.worker.components:Pool",)
