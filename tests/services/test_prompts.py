"""Prompts of sessions that others change or delete while they are built."""

from threading import Thread

import pytest
from django.db import connection

from sessions_app.domain.errors import NotFound
from sessions_app.models import Session, transcripts
from sessions_app.services.prompts import session_prompt
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, append_turns, make_session


@pytest.fixture
def fork():
    parent = make_session(public_id="parent", runs=4)
    fork = fork_session(session=parent, at=3, public_id="fork", now=NOW)
    append_turns(fork, 1)
    return Session.objects.select_related("project").get(public_id="fork")


def delete_parent():
    delete_session(session=Session.objects.get(public_id="parent"), now=NOW, children=Children.REPARENT)


def in_a_thread(work):
    def run():
        try:
            work()
        finally:
            connection.close()

    thread = Thread(target=run)
    thread.start()
    thread.join()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("where", ["lineage_of", "runs_in"])
def test_it_is_built_from_one_state_although_the_parent_is_deleted_meanwhile(fork, monkeypatch, where):
    before = session_prompt(session=fork)
    right = getattr(transcripts, where)
    deleted: list[bool] = []

    def delete_first(given):
        if not deleted:
            deleted.append(True)
            in_a_thread(delete_parent)
        return right(given)

    monkeypatch.setattr(transcripts, where, delete_first)
    prompt = session_prompt(session=fork)

    assert Session.objects.get().public_id == "fork"
    assert prompt.fingerprint == before.fingerprint
    assert prompt.fates == before.fates


@pytest.mark.django_db
def test_a_session_read_before_its_parent_was_deleted_has_the_same_prompt(fork):
    before = session_prompt(session=fork)
    delete_parent()

    assert session_prompt(session=fork).fingerprint == before.fingerprint


@pytest.mark.django_db
def test_a_session_that_was_deleted_meanwhile_is_not_found(fork):
    Session.objects.filter(pk=fork.pk).update(summary=None)
    delete_session(session=fork, now=NOW)

    with pytest.raises(NotFound, match="no such session"):
        session_prompt(session=fork)
