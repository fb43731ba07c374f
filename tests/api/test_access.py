"""Keys, scopes, projects and rates."""

import time
from datetime import UTC, datetime

import pytest
from django.core.cache import cache
from django.utils import timezone

from sessions_app.models import ApiKey
from sessions_app.services.keys import create_api_key
from tests.api.conftest import Bot
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db


def test_without_a_key_nothing_is_answered(anyone):
    answer = anyone.get("/sessions")

    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer["Content-Type"] == "application/problem+json"


def test_an_expired_key_is_refused_and_told_why(project, bot):
    ApiKey.objects.update(expires_at=datetime(2026, 11, 29, 23, 59, 59, tzinfo=UTC))
    answer = bot.get("/project")

    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["type"].endswith("key-expired")
    assert answer.json()["detail"] == "This key expired at 2026-11-29T23:59:59Z. Its project can make another one."
    assert bot.post("/sessions", {}).status_code == 401
    assert ApiKey.objects.get().last_used_at is None


def test_a_revoked_key_is_wrong(project, bot):
    assert bot.get("/project").status_code == 200
    ApiKey.objects.update(revoked_at=timezone.now())

    assert bot.get("/project").status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "body", "scope"),
    [
        ("GET", "/sessions", None, "read"),
        ("POST", "/sessions/s/prompt", {}, "read"),
        ("POST", "/sessions/s/prompt/compare", {"b": {}}, "read"),
        ("POST", "/sessions/s/replay", {}, "read"),
        ("POST", "/sessions", {}, "write"),
        ("POST", "/sessions/s/runs", {"input": "a", "output": "b"}, "write"),
        ("DELETE", "/sessions/s", None, "admin"),
        ("PATCH", "/project", {"name": "New"}, "admin"),
    ],
)
def test_each_call_needs_its_scope_alone(project, make_bot, method, path, body, scope):
    make_session(project, "s")
    others = make_bot(project, *({"read", "write", "admin"} - {scope}))

    refused = others.call(method, path, body)
    assert refused.status_code == 403
    assert scope in refused.json()["detail"]
    assert make_bot(project, scope).call(method, path, body).status_code < 300


def test_a_missing_scope_stores_nothing_under_an_idempotency_key(project, make_bot):
    reader = make_bot(project, "read")

    for _ in range(2):
        assert reader.post("/sessions", {"id": "a"}, headers={"Idempotency-Key": "k"}).status_code == 403


def test_anothers_session_looks_like_none(make_bot):
    make_session(make_project("mine"), "mine")
    stranger = make_bot(make_project("other"))

    theirs, none = stranger.get("/sessions/mine"), stranger.get("/sessions/nobody")

    assert (theirs.status_code, theirs.content) == (404, none.content)


def test_a_key_may_send_so_many_requests(bot, settings, monkeypatch):
    settings.CONVOWEB_API_RATE = "3/m"
    cache.clear()
    monkeypatch.setattr(time, "time", lambda: 1_000_000_045.0)

    answers = [bot.get("/project") for _ in range(5)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    # The minute that began at 1,000,000,020 ends 35 seconds later.
    assert answers[-1]["Retry-After"] == "35"
    assert answers[-1]["Content-Type"] == "application/problem+json"


def test_keys_do_not_share_their_rate(project, make_bot, settings):
    settings.CONVOWEB_API_RATE = "1/h"
    cache.clear()
    first, second = make_bot(project), make_bot(project)

    assert [bot.get("/project").status_code for bot in (first, second, first)] == [200, 200, 429]


def test_a_header_of_another_kind_is_no_key(project):
    _, text = create_api_key(project=project, name="k", scopes=["read"])
    bot = Bot("")
    bot.headers = {"Authorization": f"Basic {text}"}

    assert bot.get("/project").status_code == 401
