"""A database that others are writing to: reading goes on, and what cannot be written is told as such."""

import sqlite3
import time

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError, connection
from django.http import HttpResponse

from sessions_app.models import ApiKey, Membership, Run
from sessions_app.services import sessions
from sessions_app.services.keys import create_api_key
from sessions_app.views import tune_saving
from sessions_app.views.accounts import SignIn
from tests.api.conftest import Bot
from tests.factories import make_project, make_session

TURN = {"input": "q", "output": "a"}
BUSY = (503, "1", "application/problem+json")


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def session(project):
    return make_session(project, runs=1)


@pytest.fixture
def bot(project):
    return Bot(create_api_key(project=project, name="bot", scopes=["read", "write"])[1])


@pytest.fixture
def reader(client, project):
    user = get_user_model().objects.create_user("reader")
    Membership.objects.create(project=project, user=user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def writer(session, bot, monkeypatch):
    """Somebody else who holds the write lock of SQLite."""
    if connection.vendor != "sqlite":
        pytest.skip("only on SQLite does one writer keep all others")
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.2)
    connection.close()
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()
    connection.close()


def told(answer):
    return answer.status_code, answer["Retry-After"], answer["Content-Type"]


@pytest.mark.django_db(transaction=True)
def test_a_write_is_told_to_be_tried_again_with_and_without_an_idempotency_key(writer, bot, session):
    for headers in ({}, {"Idempotency-Key": "k"}):
        assert told(bot.post("/sessions/s/runs", TURN, headers=headers)) == BUSY

    writer.execute("ROLLBACK")
    assert bot.post("/sessions/s/runs", TURN, headers={"Idempotency-Key": "k"}).status_code == 201
    assert Run.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_reading_does_not_wait_for_the_note_that_a_key_was_used(writer, bot, session, monkeypatch):
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 20)
    connection.close()
    started = time.monotonic()

    assert bot.get("/sessions/s").status_code == 200
    assert bot.post("/sessions/s/prompt", {}).status_code == 200

    assert time.monotonic() - started < 5
    assert ApiKey.objects.get().last_used_at is None
    writer.execute("ROLLBACK")
    assert bot.get("/sessions/s").status_code == 200
    assert ApiKey.objects.get().last_used_at is not None


@pytest.mark.django_db(transaction=True)
def test_other_writes_are_as_patient_as_before_after_the_note(bot, session):
    bot.get("/sessions/s")
    if connection.vendor != "sqlite":
        pytest.skip("only on SQLite does one writer keep all others")
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (20_000,)


def refuse(*_args, **_named):
    raise OperationalError("deadlock detected")


@pytest.mark.django_db
def test_a_page_says_that_the_database_is_busy(reader, session, monkeypatch):
    monkeypatch.setattr(tune_saving, "update_session", refuse)

    answer = reader.post("/p/p/sessions/s/tune/save/", {"offset": "3", "sure": "1"})

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "The database is busy" in answer.content.decode()


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.django_db(transaction=True)
def test_a_login_that_cannot_be_saved_says_that_the_database_is_busy(writer, client, monkeypatch, is_new):
    """The login is saved behind the view, where its errors do not pass."""
    if not is_new:
        writer.execute("ROLLBACK")
        client.session.save()
        writer.execute("BEGIN IMMEDIATE")

    def change_login(_view, request):
        request.session["changed"] = True
        return HttpResponse("done")

    monkeypatch.setattr(SignIn, "dispatch", change_login)

    answer = client.get("/login/")

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "The database is busy" in answer.content.decode()


@pytest.mark.django_db
def test_the_api_says_that_the_database_is_busy(bot, session, monkeypatch):
    monkeypatch.setattr(sessions, "check_session_fields", refuse)

    assert told(bot.patch("/sessions/s", {"title": "T"}, headers={"Idempotency-Key": "k"})) == BUSY


@pytest.mark.django_db
def test_any_other_error_stays_one(reader, session, monkeypatch):
    def fail(**given):
        raise ZeroDivisionError

    monkeypatch.setattr(tune_saving, "update_session", fail)
    with pytest.raises(ZeroDivisionError):
        reader.post("/p/p/sessions/s/tune/save/", {"offset": "3", "sure": "1"})
