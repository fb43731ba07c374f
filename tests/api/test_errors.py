"""What cannot be read is refused with a problem document, never with a 5xx."""

import pytest
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.http import HttpRequest

from sessions_app.models import Session
from tests.factories import make_session

pytestmark = pytest.mark.django_db


def check_problem(answer, status):
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    document = answer.json()
    assert document["status"] == status
    assert set(document) >= {"type", "title", "status", "detail", "errors"}
    return document


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b'{"id": "a"} x', 400),
        (b'{"metadata": {"x": NaN}}', 400),
        (b'{"metadata": {"x": Infinity}}', 400),
        (b'{"metadata": {"x": 1e999}}', 400),
        (b'{"metadata": {"x": ' + b"9" * 5000 + b"}}", 400),
        (b'{"title": "\xff"}', 400),
        (b'{"title": 5}', 422),
        (b"[]", 422),
        (b"null", 422),
        (b'"text"', 422),
        (b'{"metadata": ' + b'{"a":' * 100 + b"1" + b"}" * 100 + b"}", 422),
        (b"[" * 100_000 + b"]" * 100_000, 422),
        ('{"title": "\ufeff"}'.encode("utf-16"), 400),
    ],
)
def test_a_bad_body_is_refused(bot, body, status):
    check_problem(bot.post("/sessions", body), status)
    assert Session.objects.count() == 0


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_another_content_type_is_refused(bot, content_type):
    check_problem(bot.post("/sessions", {}, content_type=content_type), 415)


def test_a_content_type_may_name_utf_8(bot):
    assert bot.post("/sessions", {}, content_type="application/json; charset=utf-8").status_code == 201


def test_a_body_that_is_too_large_is_refused(bot, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    for headers in ({}, {"Idempotency-Key": "k"}):
        check_problem(bot.post("/sessions", {"title": "x" * 100}, headers=headers), 413)


def test_an_unknown_address_is_a_problem_too(bot):
    check_problem(bot.get("/nothing/here"), 404)


def test_an_unknown_method_is_a_problem_too(bot):
    answer = bot.delete("/sessions")

    check_problem(answer, 405)
    assert set(answer["Allow"].split(", ")) == {"GET", "POST"}


@pytest.mark.parametrize("path", ["/sessions/a%00b", "/runs/a%00b", "/sessions/%FF", "/runs/" + "x" * 300])
def test_an_id_that_cannot_be_is_not_found(bot, path):
    check_problem(bot.get(path), 404)


def test_a_database_that_is_busy_says_try_again(bot, monkeypatch):
    def busy(**_):
        raise OperationalError("database is locked")

    monkeypatch.setattr("sessions_app.api.sessions.create_session", busy)

    answer = bot.post("/sessions", {})

    check_problem(answer, 503)
    assert answer["Retry-After"] == "1"


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
def test_an_error_that_nobody_foresaw_is_a_problem_too(bot, monkeypatch, headers):
    def fail(**_):
        raise KeyError(311)

    monkeypatch.setattr("sessions_app.api.sessions.create_session", fail)
    bot.client.raise_request_exception = False

    problem = check_problem(bot.post("/sessions", {}, headers=headers), 500)

    assert "311" not in problem["detail"]


def test_a_body_that_breaks_off_is_too_large_only_by_its_own_word(bot, monkeypatch):
    def too_big(_):
        raise RequestDataTooBig

    monkeypatch.setattr(HttpRequest, "body", property(too_big))

    check_problem(bot.post("/sessions", {}), 413)


def test_text_comes_back_as_text(bot, project):
    make_session(project, "s")
    html = "<script>window.pwned=1</script>{{ 7*7 }}"

    answer = bot.post("/sessions/s/runs", {"input": html, "output": html})

    assert answer["Content-Type"].startswith("application/json")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer.json()["input"] == html
