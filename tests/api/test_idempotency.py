"""Repeated requests."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import IntegrityError, connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from sessions_app.models import IdempotentAnswer, Run, Session
from tests.factories import make_session

pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "k1"}
TURN = {"input": "q", "output": "a"}


@pytest.fixture
def session(project):
    return make_session(project, "s")


def test_the_same_request_is_answered_the_same_and_done_once(bot, session):
    first = bot.post("/sessions/s/runs", TURN, headers=KEY)
    second = bot.post("/sessions/s/runs", TURN, headers=KEY)

    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert (second.status_code, second.content, second["Content-Type"]) == (201, first.content, first["Content-Type"])
    assert Run.objects.count() == 1


def test_the_place_of_what_was_created_is_said_again(bot, project):
    answers = [bot.post("/sessions", {"id": "a"}, headers=KEY) for _ in range(2)]

    assert [answer["Location"] for answer in answers] == ["/api/v1/sessions/a"] * 2


def test_another_body_is_a_conflict(bot, session):
    bot.post("/sessions/s/runs", TURN, headers=KEY)

    answer = bot.post("/sessions/s/runs", {"input": "other"}, headers=KEY)

    assert answer.status_code == 409
    assert Run.objects.count() == 1


def test_another_path_or_key_or_project_is_another_request(bot, session, make_bot):
    make_session(session.project, "t")
    assert bot.post("/sessions/s/runs", TURN, headers=KEY).status_code == 201
    assert bot.post("/sessions/t/runs", TURN, headers=KEY).status_code == 201
    assert bot.post("/sessions/s/runs", TURN, headers={"Idempotency-Key": "k2"}).status_code == 201
    assert make_bot(session.project).post("/sessions/s/runs", TURN, headers=KEY).status_code == 201
    assert Run.objects.count() == 4


def test_only_success_is_kept(bot, session):
    assert bot.post("/sessions/s/runs", {"input": 5}, headers=KEY).status_code == 422
    assert bot.post("/sessions/nobody/runs", TURN, headers=KEY).status_code == 404
    assert IdempotentAnswer.objects.count() == 0

    assert bot.post("/sessions/s/runs", TURN, headers=KEY).status_code == 201


def test_a_patch_is_repeated_too(bot, session):
    run_id = bot.post("/sessions/s/runs", {"input": "q", "status": "running"}).json()["id"]

    answers = [bot.patch(f"/runs/{run_id}", {"output": "a"}, headers=KEY) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content


def test_an_answer_is_kept_for_a_day(bot, session):
    bot.post("/sessions/s/runs", TURN, headers=KEY)
    IdempotentAnswer.objects.update(created_at=timezone.now() - timedelta(hours=24))

    assert "Idempotent-Replayed" not in bot.post("/sessions/s/runs", TURN, headers=KEY)
    assert Run.objects.count() == 2


def test_it_goes_with_the_session_it_is_about(bot, session):
    bot.post("/sessions", {"id": "new", "title": "Secret"}, headers=KEY)
    bot.post("/sessions/new/runs", TURN, headers=KEY)
    assert IdempotentAnswer.objects.count() == 2

    bot.delete("/sessions/new")

    assert IdempotentAnswer.objects.count() == 0


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_bounds(bot, key):
    assert bot.post("/sessions", {}, headers={"Idempotency-Key": key}).status_code == 422
    assert Session.objects.count() == 0


def test_a_repeat_that_only_reads_needs_no_key(bot, session):
    answers = [bot.post("/sessions/s/prompt", {}, headers=KEY) for _ in range(2)]

    assert "Idempotent-Replayed" not in answers[1]


def test_a_path_may_be_of_any_length(bot, project):
    assert bot.post(f"/sessions/{'x' * 400}/runs", TURN, headers=KEY).status_code == 404


def test_repeats_count_towards_the_rate(bot, session, settings):
    settings.CONVOWEB_API_RATE = "2/h"
    cache.clear()

    answers = [bot.post("/sessions/s/runs", TURN, headers=KEY) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [201, 201, 429, 429]
    assert "Idempotent-Replayed" in answers[1]


def test_what_the_key_may_not_do_is_refused_before_anything_is_written(session, make_bot):
    reader = make_bot(session.project, "read")
    reader.get("/project")

    with CaptureQueriesContext(connection) as queries:
        assert reader.post("/sessions/s/runs", TURN, headers=KEY).status_code == 403

    assert all(query["sql"].startswith("SELECT") for query in queries)


def test_a_place_that_goes_with_its_session_just_now_is_free_again(bot, session, monkeypatch):
    create = QuerySet.create
    refused: list[str] = []

    def taken_for_a_moment(rows, **columns):
        if not refused:
            refused.append(columns["key"])
            raise IntegrityError
        return create(rows, **columns)

    monkeypatch.setattr(QuerySet, "create", taken_for_a_moment)

    answer = bot.post("/sessions/s/runs", {"input": "q", "output": "a"}, headers={"Idempotency-Key": "k"})

    assert (answer.status_code, refused) == (201, ["k"])
