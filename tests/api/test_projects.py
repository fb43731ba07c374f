"""The key's own project, and health."""

import pytest

from sessions_app.api import access, health
from sessions_app.models import Project

pytestmark = pytest.mark.django_db


def test_it_shows_the_project(bot):
    project = bot.get("/project").json()

    assert project | {"created_at": ""} == {"slug": "p", "name": "P", "settings": {}, "created_at": ""}


def test_it_changes_name_and_defaults_by_a_merge_patch(bot):
    bot.patch("/project", {"name": "Mine", "settings": {"offset": 3, "max_runs": 5}})

    changed = bot.patch("/project", {"settings": {"offset": None}}).json()

    assert (changed["name"], changed["settings"]) == ("Mine", {"max_runs": 5})
    assert bot.get("/project").json() == changed


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({"settings": {"offset": -1}}, "/settings/offset"), ({"name": ""}, "/name"), ({"slug": "x"}, "/slug")],
)
def test_it_names_the_bad_field(bot, body, pointer):
    answer = bot.patch("/project", body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_project_that_is_deleted_while_its_key_is_read_is_not_found(bot, monkeypatch):
    looked_up = access.key_of

    def gone_since(**asked):
        found = looked_up(**asked)
        Project.objects.all().delete()
        return found

    monkeypatch.setattr(access, "key_of", gone_since)

    assert bot.patch("/project", {"name": "Other"}).status_code == 404


def test_it_is_alive(anyone):
    assert anyone.get("/health/live").json() == {"status": "ok"}


def test_it_is_ready_when_database_and_broker_answer(anyone):
    answer = anyone.get("/health/ready")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "database": "ok", "broker": "ok"})


def test_it_is_not_ready_without_the_broker(anyone, monkeypatch):
    def no_connection(**_):
        raise OSError("no broker")

    monkeypatch.setattr(health.current_app, "connection_for_write", no_connection)

    answer = anyone.get("/health/ready")

    assert (answer.status_code, answer.json()["broker"]) == (503, "does not answer")
