"""The cases of both packages' own tests that are about keeping conversations, as a bot meets them over the API."""

import pytest

from tests.factories import append_turns, make_session

pytestmark = pytest.mark.django_db

TURN = {"input": "test", "output": "mock output"}
PROPERTIES = ["A", "A", "A", "B", "B"]


def ids(answer):
    return sorted(item["id"] for item in answer.json()["items"])


def test_griptape_load(bot):
    bot.post("/sessions", {"id": "s", "metadata": {"foo": "bar"}, "settings": {"max_runs": 5}})
    for _ in range(2):
        bot.post("/sessions/s/runs", TURN)

    assert bot.get("/sessions/s").json()["metadata"] == {"foo": "bar"}
    assert [(run["input"], run["output"]) for run in bot.get("/sessions/s/runs").json()["items"]] == [
        ("test", "mock output"),
        ("test", "mock output"),
    ]


def test_griptape_autoload(bot, make_bot, project):
    make_session(project, "s", runs=2)

    messages = make_bot(project).post("/sessions/s/prompt").json()["messages"]

    assert [each["content"] for each in messages] == ["question 1", "answer 1", "question 2", "answer 2"]


def test_griptape_load_empty(bot):
    bot.put("/sessions/s", {})

    assert (bot.get("/sessions/s/runs").json()["items"], bot.get("/sessions/s").json()["metadata"]) == ([], {})


def test_griptape_buffering(bot, project):
    """Five runs under max_runs 2: two are remembered, and none is deleted."""
    make_session(project, "s", runs=5, settings={"max_runs": 2, "strategy": "buffer"})

    messages = bot.post("/sessions/s/prompt").json()["messages"]

    assert [each["content"] for each in messages] == ["question 4", "answer 4", "question 5", "answer 5"]
    assert bot.get("/sessions/s").json()["run_count"] == 5


def test_chuk_save_and_get(bot):
    bot.post("/sessions", {"id": "s"})
    bot.post("/sessions/s/runs", {"input": "Hello", "output": "Hi"})

    (run,) = bot.get("/sessions/s/runs").json()["items"]
    assert (run["input"], run["output"]) == ("Hello", "Hi")


def test_chuk_get_of_what_is_missing(bot):
    assert bot.get("/sessions/nobody").status_code == 404


def test_chuk_delete(bot, project):
    make_session(project, "s", runs=1)

    assert bot.delete("/sessions/s").status_code == 204
    assert bot.get("/sessions/s").status_code == 404


def test_chuk_list_and_prefix(bot, project):
    for name in ("test_1", "test_2", "test_3", "other_1", "other_2"):
        make_session(project, name)

    assert len(ids(bot.get("/sessions"))) == 5
    assert ids(bot.get("/sessions?prefix=test_")) == ["test_1", "test_2", "test_3"]


def test_chuk_update(bot, project):
    session = make_session(project, "s", runs=1)
    append_turns(session, 2)

    assert bot.get("/sessions/s").json()["run_count"] == 3


@pytest.mark.parametrize(("kind", "count"), [("A", 3), ("B", 2), ("C", 0)])
def test_chuk_list_by_property(bot, project, kind, count):
    for number, each in enumerate(PROPERTIES):
        make_session(project, f"s{number}", metadata={"kind": each})

    assert len(ids(bot.get(f"/sessions?metadata.kind={kind}"))) == count


def test_chuk_child_is_listed_once(bot, project):
    make_session(project, "parent")
    for _ in range(2):
        bot.put("/sessions/c1", {"parent_id": "parent"})

    assert ids(bot.get("/sessions?parent_id=parent")) == ["c1"]
    assert bot.get("/sessions/c1").json()["parent_id"] == "parent"
    bot.delete("/sessions/c1")
    assert ids(bot.get("/sessions?parent_id=parent")) == []


def test_chuk_ancestors_and_descendants(bot, project):
    """Level by level and each once, where the package lists the last child first and some twice."""
    root = make_session(project, "root")
    first = make_session(project, "c1", parent=root)
    second = make_session(project, "c2", parent=root)
    make_session(project, "g1", parent=first)
    make_session(project, "g2", parent=second)

    tree = bot.get("/sessions/g1/tree").json()["items"]

    assert [(node["id"], node["parent_id"]) for node in tree] == [
        ("root", None),
        ("c1", "root"),
        ("c2", "root"),
        ("g1", "c1"),
        ("g2", "c2"),
    ]


def test_chuk_nonexistent_parent_is_refused(bot):
    """The package creates it all the same."""
    refused = bot.post("/sessions", {"id": "s", "parent_id": "nobody"})

    assert (refused.status_code, bot.get("/sessions/s").status_code) == (422, 404)


def test_chuk_existing_id_is_refused(bot, project):
    """The package replaces the conversation by an empty one."""
    make_session(project, "s", runs=1)

    assert bot.post("/sessions", {"id": "s"}).status_code == 409
    assert bot.get("/sessions/s").json()["run_count"] == 1


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_chuk_marks_of_a_run(bot, project, status):
    """An ended run starts no second time, where the package lets it."""
    make_session(project, "s")
    run = bot.post("/sessions/s/runs", {"input": "q", "status": "pending"}).json()
    assert bot.patch(f"/runs/{run['id']}", {"status": "running"}).json()["status"] == "running"

    ended = bot.patch(f"/runs/{run['id']}", {"status": status}).json()

    assert ended["status"] == status
    assert ended["completed_at"] >= ended["created_at"]
    assert bot.patch(f"/runs/{run['id']}", {"status": "running"}).status_code == 409


def test_chuk_state(bot):
    """Get, a value that is missing, remove."""
    bot.post("/sessions", {"id": "s", "metadata": {"step": 1, "k": [2, None]}})

    assert bot.patch("/sessions/s", {"metadata": {"step": None}}).json()["metadata"] == {"k": [2, None]}
