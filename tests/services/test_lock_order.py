"""Whoever changes several rows of a tree takes its root first; on PostgreSQL others would wait in a circle."""

import threading
import time

import pytest
from django.db import connection, transaction

from sessions_app.models import Session
from sessions_app.services.sessions import create_session, fork_session
from sessions_app.services.summaries import advance
from sessions_app.services.trees import lock_tree
from tests.factories import NOW, append_turns, make_session
from tests.services.summarizing import AT_ONCE, advance_all

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only on PostgreSQL are rows locked"),
]
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def is_anybody_waiting():
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return cursor.fetchone()[0] > 0


def check_that_the_root_is_waited_for_first(root, below):
    """Take the next step of the session below while somebody else holds the root."""

    def step():
        advance(session_pk=below.pk, now=NOW)
        connection.close()

    worker = threading.Thread(target=step)
    with transaction.atomic():
        lock_tree(session=root, now=NOW)
        worker.start()
        end = time.monotonic() + 20
        while not is_anybody_waiting():
            assert time.monotonic() < end
            time.sleep(0.05)
        # Fails at once if the worker holds it.
        Session.objects.select_for_update(nowait=True).get(pk=below.pk)
    worker.join()


def test_a_summary_that_comes_into_use_waits_for_the_root_before_it_takes_a_row_below(scripted):
    scripted()
    root = make_session(runs=1)
    below = create_session(
        project=root.project, public_id="below", parent=root, now=NOW, settings=AT_ONCE | {"offset": 1}
    )
    append_turns(below, 5)
    check_that_the_root_is_waited_for_first(root, below)
    assert below.summaries.get().status == "completed"


def test_so_does_one_that_is_adopted(scripted):
    scripted()
    root = make_session(runs=9, settings=AT_ONCE | {"offset": 1})
    fork = fork_session(session=root, at=9, now=NOW)
    advance_all(root)
    check_that_the_root_is_waited_for_first(root, fork)
    assert fork.summaries.get().origin == "adopted"
