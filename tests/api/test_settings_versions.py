"""Versions of settings: what bots see of them, and going back."""

import pytest

from sessions_app.models import SettingsVersion
from sessions_app.services.settings import save_project_settings
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db


def test_saves_over_the_api_are_versions_of_the_key(bot):
    bot.put("/sessions/s", {"settings": {"offset": 2}})
    bot.post("/sessions/s/fork", {"at": 0, "id": "fork"})
    bot.patch("/sessions/s", {"settings": {"offset": 3}})
    bot.patch("/project", {"settings": {"last_n": 4}})

    listed = [bot.get(f"{path}/settings/versions").json() for path in ("/sessions/s", "/sessions/fork", "/project")]

    assert [[row["number"] for row in page["items"]] for page in listed] == [[2, 1], [1], [1]]
    newest = listed[0]["items"][0]
    assert newest.pop("saved_at").endswith("Z")
    told = {"number": 2, "settings": {"offset": 3}, "origin": "saved", "actor": "bot", "note": ""}
    assert newest == told | {"sessions_changed": None}
    assert listed[2]["items"][0]["sessions_changed"] == 2
    assert [page["items"][-1]["origin"] for page in listed] == ["created", "created", "saved"]
    assert {row["actor"] for page in listed for row in page["items"]} == {"bot"}


def test_it_pages_newest_first_at_the_same_cost(bot, project, django_assert_num_queries):
    for offset in range(1, 7):
        save_project_settings(project=project, changes={"offset": offset if offset != 6 else 7}, now=NOW)

    pages = list(bot.pages("/project/settings/versions?limit=4"))

    assert [[row["number"] for row in page["items"]] for page in pages] == [[6, 5, 4, 3], [2, 1]]
    with django_assert_num_queries(2):
        bot.get("/project/settings/versions")


def test_it_goes_back_to_a_version(bot, project):
    make_session(project, "s", settings={"offset": 2})
    bot.patch("/sessions/s", {"settings": {"offset": None, "last_n": 4}})

    restored = bot.post("/sessions/s/settings/restore", {"to": 1, "note": "It was better."})

    assert restored.status_code == 200
    row = restored.json()
    assert (row["number"], row["settings"], row["note"]) == (3, {"offset": 2}, "It was better.")
    assert bot.get("/sessions/s").json()["settings"] == {"offset": 2}


def test_it_goes_back_to_a_version_of_the_project_once(bot):
    bot.patch("/project", {"settings": {"offset": 2}})
    headers = {"Idempotency-Key": "k"}

    answers = [bot.post("/project/settings/restore", {"to": 0}, headers=headers) for _ in range(2)]

    assert [answer.json()["number"] for answer in answers] == [2, 2]
    assert bot.get("/project").json()["settings"] == {}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({"to": 9}, "/to"), ({"to": -1}, "/to"), ({}, "/to"), ({"to": 1, "note": "w" * 501}, "/note")],
)
def test_it_names_the_bad_field(bot, project, body, pointer):
    make_session(project, "s", settings={"offset": 2})
    for path in ("/sessions/s", "/project"):
        answer = bot.post(f"{path}/settings/restore", body)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == pointer


def test_the_versions_of_others_do_not_exist(bot, make_bot):
    other = make_project("q")
    make_session(other, "theirs", settings={"offset": 2})

    assert bot.get("/sessions/theirs/settings/versions").status_code == 404
    assert bot.post("/sessions/theirs/settings/restore", {"to": 1}).status_code == 404
    assert SettingsVersion.objects.count() == 1


def test_who_may_only_write_does_not_change_the_project(project, make_bot):
    writer = make_bot(project, "read", "write")

    assert writer.post("/project/settings/restore", {"to": 0}).status_code == 403
    assert writer.get("/project/settings/versions").json() == {"items": [], "next_cursor": None}


def test_saves_over_the_api_take_a_note(bot, project):
    make_session(project, "s")
    bot.patch("/sessions/s", {"settings": {"offset": 3}, "note": "Longer."})
    bot.patch("/project", {"settings": {"last_n": 4}, "note": "Shorter."})

    assert bot.get("/sessions/s/settings/versions").json()["items"][0]["note"] == "Longer."
    assert bot.get("/project/settings/versions").json()["items"][0]["note"] == "Shorter."


@pytest.mark.parametrize("path", ["/sessions/s", "/project"])
def test_a_note_may_not_be_too_long(bot, project, path):
    make_session(project, "s")
    answer = bot.patch(path, {"settings": {"offset": 3}, "note": "x" * 501})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/note"
