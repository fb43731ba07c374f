"""Profiles over the API: kept by name, and asked for by name."""

import pytest

from sessions_app.domain.memory_settings import SETTINGS
from sessions_app.models import Profile
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.settings import save_project_settings
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(project):
    return make_session(project, "s", runs=9, settings={"strategy": "buffer"})


@pytest.fixture
def short(bot, session):
    assert bot.post("/profiles", {"name": "Short", "settings": {"strategy": "buffer", "last_n": 2}}).status_code == 201


def test_a_profile_copies_all_values_over_the_defaults_of_the_project(bot, project):
    save_project_settings(project=project, changes={"offset": 3}, now=NOW)
    answer = bot.post("/profiles", {"name": " Short  one ", "settings": {"last_n": 2, "max_runs": None}})
    assert answer.status_code == 201
    made = answer.json()
    assert (made["name"], made["actor"]) == ("Short one", "bot")
    assert set(made["settings"]) == {setting.name for setting in SETTINGS}
    assert (made["settings"]["offset"], made["settings"]["last_n"], made["settings"]["max_runs"]) == (3, 2, "unlimited")
    assert bot.get("/profiles").json() == {"items": [made], "next_cursor": None}


def test_it_pages(bot, project):
    for name in ("c", "a", "b"):
        bot.post("/profiles", {"name": name})
    names = [[each["name"] for each in page["items"]] for page in bot.pages("/profiles?limit=2")]
    assert names == [["c", "a"], ["b"]]


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"name": "Short"}, 409, "/name"),
        ({"name": " "}, 422, "/name"),
        ({"name": "x" * 101}, 422, "/name"),
        ({"name": "New", "settings": {"last_n": -1}}, 422, "/settings/last_n"),
        ({"name": "New", "settings": {"profile": "Short"}}, 422, "/settings/profile"),
    ],
)
def test_it_names_the_bad_field(bot, short, body, status, pointer):
    answer = bot.post("/profiles", body)
    assert answer.status_code == status
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_prompt_is_built_under_a_profile_and_settings_over_it(bot, short):
    built = bot.post("/sessions/s/prompt", {"settings": {"profile": "Short"}}).json()
    assert built["fingerprint"] == bot.post("/sessions/s/prompt", {"settings": {"last_n": 2}}).json()["fingerprint"]
    assert built["settings"]["last_n"] == {"value": 2, "from": "request"}
    over = bot.post("/sessions/s/prompt", {"settings": {"profile": "Short", "last_n": 5}}).json()
    assert over["unseen"] == 4
    assert bot.get("/sessions/s/prompt?profile=Short&last_n=5").json()["fingerprint"] == over["fingerprint"]


def test_profiles_are_compared(bot, short):
    compared = bot.post("/sessions/s/prompt/compare", {"a": {"profile": "Short"}, "b": {}}).json()
    assert (compared["a"]["unseen"], compared["b"]["unseen"]) == (7, 0)


def test_profiles_are_replayed(bot, short):
    replayed = bot.post("/sessions/s/replay", {"a": {}, "b": {"profile": "Short"}}).json()
    assert (replayed["a"]["columns"]["kept"][-1], replayed["b"]["columns"]["kept"][-1]) == (8, 2)
    assert (
        bot.post("/sessions/s/replay", {"settings": {"profile": "Short"}}).json()["columns"] == replayed["b"]["columns"]
    )


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("prompt", {"settings": {"profile": "Theirs"}}, "/settings/profile"),
        ("prompt", {"settings": {"profile": 3}}, "/settings/profile"),
        ("prompt/compare", {"a": {"profile": "None"}, "b": {}}, "/a/profile"),
        ("prompt/compare", {"b": {"profile": ["x"]}}, "/b/profile"),
        ("replay", {"settings": {"profile": "short"}}, "/settings/profile"),
    ],
)
def test_a_name_that_is_none_of_the_project_is_refused(bot, short, path, body, pointer):
    save_new_profile(project=make_project("other"), name="Theirs", settings={}, actor="", now=NOW)
    answer = bot.post(f"/sessions/s/{path}", body)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_a_profile_is_no_setting_to_be_saved(bot, short):
    for path in ("/sessions/s", "/project"):
        assert bot.patch(path, {"settings": {"profile": "Short"}}).status_code == 422


def test_who_may_only_read_saves_none(project, make_bot):
    assert make_bot(project, "read").post("/profiles", {"name": "Short"}).status_code == 403
    assert not Profile.objects.exists()


def names():
    return sorted(Profile.objects.values_list("name", flat=True))


def test_a_profile_is_renamed(bot, short):
    answer = bot.patch("/profiles/Short", {"name": " Very  short/now? "})
    assert (answer.status_code, answer.json()["name"]) == (200, "Very short/now?")
    assert bot.get("/profiles").json()["items"] == [answer.json()]
    assert bot.patch("/profiles/Very%20short/now%3F", {"name": "Short"}).json()["name"] == "Short"


def test_a_rename_that_is_repeated_is_answered_the_same(bot, short):
    first, again = (
        bot.patch("/profiles/Short", {"name": "Long"}, headers={"Idempotency-Key": "once"}) for _ in range(2)
    )
    assert (again.status_code, again.json()) == (200, first.json())
    assert again["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({"name": "Other"}, 409, "/name"),
        ({"name": " "}, 422, "/name"),
        ({"name": "x" * 101}, 422, "/name"),
        ({}, 422, "/name"),
        ({"name": "New", "settings": {}}, 422, "/settings"),
    ],
)
def test_what_cannot_be_its_name_is_refused(bot, short, body, status, pointer):
    bot.post("/profiles", {"name": "Other"})
    answer = bot.patch("/profiles/Short", body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer)
    assert names() == ["Other", "Short"]


def test_a_profile_is_deleted_and_settings_stay(bot, short, session):
    answer = bot.delete("/profiles/Short")
    assert (answer.status_code, answer.content, names()) == (204, b"", [])
    session.refresh_from_db()
    assert session.settings == {"strategy": "buffer"}
    assert bot.delete("/profiles/Short").status_code == 404


@pytest.mark.parametrize("name", ["Theirs", "short", "a%00b", "%ED%A0%80", ".", "x" * 300])
def test_what_is_no_profile_of_the_project_is_not_found(bot, short, name):
    save_new_profile(project=make_project("other"), name="Theirs", settings={}, actor="", now=NOW)
    for answer in (bot.patch(f"/profiles/{name}", {"name": "New"}), bot.delete(f"/profiles/{name}")):
        assert (answer.status_code, answer.json()["detail"]) == (404, "There is no such profile.")
    assert names() == ["Short", "Theirs"]


def test_renaming_and_deleting_take_the_scope_that_saving_takes(project, make_bot, bot, short):
    reader, writer = make_bot(project, "read"), make_bot(project, "write")
    assert reader.patch("/profiles/Short", {"name": "New"}).status_code == 403
    assert reader.delete("/profiles/Short").status_code == 403
    assert writer.patch("/profiles/Short", {"name": "New"}).status_code == 200
    assert writer.delete("/profiles/New").status_code == 204
