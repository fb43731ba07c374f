"""Sessions over the API."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Session
from sessions_app.services.runs import append_runs
from tests.factories import NOW, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db


def test_it_creates_a_session_and_says_where(bot):
    answer = bot.post("/sessions", {"id": "a:b@c", "title": "T", "tags": ["x", "x"], "metadata": {"k": 1}})

    assert answer.status_code == 201
    assert answer["Location"] == "/api/v1/sessions/a:b@c"
    assert bot.get("/sessions/a:b@c").json() == answer.json()
    body = answer.json()
    assert body | {"created_at": None, "updated_at": None} == {
        "id": "a:b@c",
        "title": "T",
        "parent_id": None,
        "forked_at": None,
        "instructions": "",
        "user_id": "",
        "tags": ["x"],
        "metadata": {"k": 1},
        "settings": {},
        "run_count": 0,
        "own_run_count": 0,
        "tokens": 0,
        "summary": None,
        "created_at": None,
        "updated_at": None,
    }
    assert body["created_at"].endswith("Z")


def test_it_makes_an_id(bot):
    assert bot.post("/sessions", {}).json()["id"].startswith("ses_")


def test_an_id_that_exists_is_a_conflict(bot):
    bot.post("/sessions", {"id": "a"})

    answer = bot.post("/sessions", {"id": "a"})

    assert answer.status_code == 409
    assert answer.json()["errors"][0]["pointer"] == "/id"


@pytest.mark.parametrize("legal", ["~", "a+b=c", "x" * 200, "..a", "%41"[1:]])
def test_every_id_that_is_accepted_can_be_addressed(bot, legal):
    assert bot.post("/sessions", {"id": legal}).status_code == 201
    assert bot.get(f"/sessions/{legal}").json()["id"] == legal


@pytest.mark.parametrize("illegal", ["", "..", "a/b", "ä", "a b"])
def test_an_illegal_id_is_refused_with_the_rule(bot, illegal):
    answer = bot.post("/sessions", {"id": illegal})

    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {
            "pointer": "/id",
            "detail": "An id is 1-200 of A-Z a-z 0-9 . _ ~ : @ + = -, not only dots, compared byte by byte.",
        }
    ]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"parent_id": "nobody"}, "/parent_id"),
        ({"forked_at": 0}, "/forked_at"),
        ({"parent_id": "p", "forked_at": 3}, "/forked_at"),
        ({"forked_at": 2**31}, "/forked_at"),
        ({"forked_at": "1"}, "/forked_at"),
        ({"title": "x" * 501}, "/title"),
        ({"tags": ["ok", ""]}, "/tags/1"),
        ({"settings": {"max_runs": 0}}, "/settings/max_runs"),
        ({"settings": {"nope": 0}}, "/settings/nope"),
        ({"nope": 1}, "/nope"),
        ({"metadata": []}, "/metadata"),
    ],
)
def test_it_names_the_bad_field(bot, project, body, pointer):
    make_session(project, "p", runs=2)

    answer = bot.post("/sessions", body)

    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_an_unknown_setting_is_refused_with_the_known_ones(bot):
    detail = bot.post("/sessions", {"settings": {"max_run": 1}}).json()["errors"][0]["detail"]

    assert "max_run is not a setting; known are strategy, model, format, max_input_tokens" in detail


def test_put_gets_or_creates(bot):
    first = bot.put("/sessions/thread-1", {"title": "First"})
    second = bot.put("/sessions/thread-1", {"title": "Second"})
    third = bot.put("/sessions/thread-1")

    assert [first.status_code, second.status_code, third.status_code] == [201, 200, 200]
    assert first.json() == second.json() == third.json()


def test_put_of_an_existing_session_elsewhere_in_the_tree_is_a_conflict(bot, project):
    make_session(project, "p", runs=2)
    bot.put("/sessions/c", {"parent_id": "p", "forked_at": 1})

    assert bot.put("/sessions/c", {"parent_id": "p", "forked_at": 1}).status_code == 200
    assert bot.put("/sessions/c", {"parent_id": "p", "forked_at": 2}).status_code == 409
    assert bot.put("/sessions/c", {"parent_id": None}).status_code == 409


def test_put_refuses_an_illegal_id(bot):
    assert bot.put("/sessions/a%20b", {}).status_code == 422


def test_patch_is_a_merge_patch(bot):
    bot.post("/sessions", {"id": "a", "title": "T", "metadata": {"x": 1, "y": {"z": 2}}, "settings": {"offset": 1}})

    answer = bot.patch(
        "/sessions/a",
        {"title": None, "metadata": {"x": None, "y": {"w": 3}}, "settings": {"offset": None}, "tags": ["t"]},
        content_type="application/merge-patch+json",
    )

    body = answer.json()
    assert answer.status_code == 200
    assert (body["title"], body["metadata"], body["settings"]) == ("", {"y": {"z": 2, "w": 3}}, {})
    assert body["tags"] == ["t"]
    assert bot.get("/sessions/a").json() == body


def test_delete_is_refused_with_children_unless_it_says_what_becomes_of_them(bot, project):
    parent = make_session(project, "p", runs=2)
    make_session(project, "c", parent=parent, forked_at=1)

    refused = bot.delete("/sessions/p")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:convoweb:problem:session-has-children")
    assert bot.delete("/sessions/p?children=nonsense").status_code == 422
    assert bot.delete("/sessions/p?children=reparent").status_code == 204
    assert bot.get("/sessions/c").json()["run_count"] == 1
    assert bot.delete("/sessions/c?children=delete").status_code == 204
    assert bot.delete("/sessions/c").status_code == 404


def test_the_tree_is_flat(bot, project):
    root = make_session(project, "r", runs=2)
    fork = make_session(project, "f", parent=root, forked_at=1)
    make_session(project, "g", parent=fork)
    make_session(project, "other")

    tree = bot.get("/sessions/g/tree").json()

    assert [(node["id"], node["parent_id"], node["depth"]) for node in tree["items"]] == [
        ("r", None, 0),
        ("f", "r", 1),
        ("g", "f", 2),
    ]
    assert tree["truncated"] is False


def test_a_long_tree_is_cut_but_shows_the_session_itself(bot, project, monkeypatch):
    monkeypatch.setattr("sessions_app.queries.tree_listing.MOST_NODES", 3)
    root = make_session(project, "r")
    for name in "abcd":
        child = make_session(project, name, parent=root)
    make_session(project, "deep", parent=child)

    tree = bot.get("/sessions/deep/tree").json()

    assert tree["truncated"] is True
    assert {node["id"] for node in tree["items"]} == {"r", "d", "deep"}


@pytest.mark.parametrize("path", ["/sessions?limit=200", "/sessions/child", "/sessions/child/tree"])
def test_no_long_texts_are_read_that_an_answer_does_not_show(bot, project, path):
    make_session(project, "child", parent=make_session(project, "r", runs=9, settings={"summarize_at": 0}))
    with CaptureQueriesContext(connection) as captured:
        assert bot.get(path).status_code == 200
    read = " ".join(query["sql"] for query in captured)
    assert read.count('."instructions"') == 1
    assert '"sessions_app_summary"."text"' not in read


def test_a_fork_shares_runs(bot, project):
    make_session(project, "s", runs=3, title="Original", instructions="Be kind.")

    answer = bot.post("/sessions/s/fork", {"at": 2, "id": "f"})

    assert (answer.status_code, answer["Location"]) == (201, "/api/v1/sessions/f")
    fork = answer.json()
    assert (fork["parent_id"], fork["forked_at"], fork["run_count"], fork["own_run_count"]) == ("s", 2, 2, 0)
    assert (fork["title"], fork["instructions"]) == ("Original", "Be kind.")
    assert bot.post("/sessions/s/fork", {"at": 4}).json()["errors"][0]["pointer"] == "/at"


@pytest.fixture
def listed(project):
    root = make_session(project, "app.1", title="Refund for Anna", user_id="anna", tags=["blue", "red"])
    make_session(project, "app.2", parent=root, title="100% sure", metadata={"env": "prod", "n": 1, "on": True})
    turn = replace(simple_turn("My red umbrella", "ok"), model="gpt-4o")
    append_runs(session=Session.objects.get(public_id="app.2"), runs=[turn], now=NOW)
    make_session(
        project,
        "App.3",
        tags=["blue"],
        metadata={"env": "test", "0": "zero", 'q"': "quoted", "ä": "umlaut", "b\\": "slash"},
    )
    Session.objects.filter(public_id="App.3").update(lost_runs=1)
    Session.objects.filter(public_id="app.2").update(cut_results=3)
    Session.objects.filter(public_id="app.1").update(settings={"max_runs": 2})
    make_session(make_project("other"), "app.9", title="Refund", user_id="anna", tags=["blue"])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["app.1", "app.2", "App.3"]),
        ("prefix=app.", ["app.1", "app.2"]),
        ("prefix=%", []),
        ("prefix=ä", []),
        ("q=refund", ["app.1"]),
        ("q=100%25", ["app.2"]),
        ("q=app.3", ["App.3"]),
        ("q=ANNA+refund", ["app.1"]),
        ("q=umbrella", ["app.2"]),
        ('q="red+umbrella"', ["app.2"]),
        ('q="umbrella+red"', []),
        ("q=umbrella&roots=true", []),
        ("q=umbrella&metadata.env=prod", ["app.2"]),
        ("q=" + "x" * 5000, []),
        ("q=%22%27(*OR", []),
        ("q=%00", []),
        ("user_id=anna", ["app.1"]),
        ("tag=blue", ["app.1", "App.3"]),
        ("tag=blue&tag=red", ["app.1"]),
        ("parent_id=app.1", ["app.2"]),
        ("parent_id=nobody", []),
        ("roots=true", ["app.1", "App.3"]),
        ("metadata.env=prod", ["app.2"]),
        ("metadata.n=1", ["app.2"]),
        ("metadata.n=1.0", ["app.2"]),
        ("metadata.n=true", []),
        ("metadata.on=true", ["app.2"]),
        ("metadata.on=1", []),
        ("metadata.on=false", []),
        ("metadata.q%22=quoted", ["App.3"]),
        ("metadata.b%5C=slash", ["App.3"]),
        ("metadata.0=zero", ["App.3"]),
        ("metadata.ä=umlaut", ["App.3"]),
        ("metadata.env=prod&metadata.n=6", []),
        ("metadata.nope=1e999", []),
        ("metadata.nope=99999999999999999999", []),
        ("metadata.a'b=x", []),
        ("status=completed", ["app.2"]),
        ("status=failed", []),
        ("model=gpt-4o", ["app.2"]),
        ("model=gpt-4o&status=failed", []),
        ("has_children=true", ["app.1"]),
        ("has_lost_runs=true", ["App.3"]),
        ("has_cut_results=true", ["app.2"]),
        ("has_own_settings=true", ["app.1"]),
        ("has_own_settings=false", ["app.1", "app.2", "App.3"]),
        ("since=2026-05-04T12:00:00Z", ["app.1", "app.2", "App.3"]),
        ("since=2026-05-04T14:00:01%2B02:00", []),
        ("until=2026-05-04T12:00:00Z", []),
    ],
)
def test_filters(bot, listed, query, expected):
    answer = bot.get(f"/sessions?{query}")

    assert answer.status_code == 200
    assert sorted(item["id"] for item in answer.json()["items"]) == sorted(expected)


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("limit=0", "/limit"),
        ("limit=201", "/limit"),
        ("limit=x", "/limit"),
        ("cursor=nonsense", "/cursor"),
        ("cursor=WyJpZCJd", "/cursor"),
        ("sort=size", "/sort"),
        ("since=yesterday", "/since"),
        ("since=2026-05-04T12:00:00", "/since"),
        ("until=0001-01-01T00:00:00%2B14:00", "/until"),
        ("tagg=blue", "/tagg"),
        ("roots=maybe", "/roots"),
        ("status=odd", "/status"),
        ("prefix=" + "x" * 501, "/prefix"),
        ("tag=x&" * 11, "/tag"),
        ("&".join(f"metadata.{n}=x" for n in range(11)), "/metadata.KEY"),
    ],
)
def test_a_bad_parameter_is_named(bot, query, pointer):
    answer = bot.get(f"/sessions?{query}")

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize("sort", ["id", "-id", "created_at", "-created_at", "updated_at", "-updated_at"])
def test_a_walk_skips_and_repeats_nothing_while_rows_are_added(bot, project, sort):
    before = {make_session(project, f"old-{n}").public_id for n in range(7)}
    seen = []
    for page in bot.pages(f"/sessions?limit=2&sort={sort}"):
        seen += [item["id"] for item in page["items"]]
        if Session.objects.count() < 12:
            make_session(project, f"new-{len(seen)}")

    assert len(seen) == len(set(seen))
    assert before <= set(seen)


def test_a_cursor_of_another_order_is_refused(bot, project):
    for n in range(3):
        make_session(project, f"s{n}")
    cursor = bot.get("/sessions?limit=1&sort=id").json()["next_cursor"]

    assert bot.get(f"/sessions?limit=1&sort=-id&cursor={cursor}").status_code == 422


@pytest.mark.parametrize("path", ["/sessions?limit=200", "/sessions/s0", "/sessions/s0/tree"])
def test_the_queries_do_not_grow_with_what_is_listed(bot, project, path, django_assert_max_num_queries):
    for n in range(12):
        append_turns(make_session(project, f"s{n}", tags=["t"]), 5)
    bot.get(path)

    with django_assert_max_num_queries(4):
        assert bot.get(path).status_code == 200


@pytest.mark.parametrize("value", [None, 5])
def test_a_patch_of_a_setting_that_is_none_is_refused(bot, project, value):
    make_session(project, "a", settings={"offset": 1})

    answer = bot.patch("/sessions/a", {"settings": {"bogus": value, "offset": 2}})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/settings/bogus"
    assert Session.objects.get().settings == {"offset": 1}


def test_a_cut_tree_holds_every_ancestor_of_what_it_holds(bot, project, monkeypatch):
    monkeypatch.setattr("sessions_app.queries.tree_listing.MOST_NODES", 6)
    root = session = make_session(project, "t0")
    for number in range(3):
        make_session(project, f"a{number}", parent=root)
    for number in range(1, 6):
        session = make_session(project, f"t{number}", parent=session)

    items = bot.get("/sessions/t4/tree").json()["items"]

    names = [node["id"] for node in items]
    assert names == ["t0", "a0", "t1", "t2", "t3", "t4"]
    assert {node["parent_id"] for node in items} <= {None, *names}


def test_of_more_ancestors_than_a_tree_may_hold_it_holds_the_nearest(bot, project, monkeypatch):
    monkeypatch.setattr("sessions_app.queries.tree_listing.MOST_NODES", 3)
    session = make_session(project, "t0")
    for number in range(1, 6):
        session = make_session(project, f"t{number}", parent=session)

    tree = bot.get("/sessions/t4/tree").json()

    assert ([node["id"] for node in tree["items"]], tree["truncated"]) == (["t2", "t3", "t4"], True)
