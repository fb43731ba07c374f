"""Many at once: real threads in real processes against one database."""

import json
from pathlib import Path

import pytest
from django.db import connection

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Event, Run, Session
from sessions_app.services.keys import create_api_key
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_project, make_session
from tests.services.processes import send_in_parallel

pytestmark = pytest.mark.django_db(transaction=True)
CASES = Path(__file__).parents[1] / "data" / "cases"
BASE = "/api/v1"


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def asks(project):
    """Make a request with a key of the project."""
    _, text = create_api_key(project=project, name="k", scopes=["read", "write", "admin"])

    def ask(method, path, body=None, **headers):
        return [method, BASE + path, body or {}, {"Authorization": f"Bearer {text}", **headers}]

    return ask


def in_two_processes(clients):
    return send_in_parallel([clients[::2], clients[1::2]])


def check_books(session):
    session.refresh_from_db()
    runs = list(session.runs.order_by("position"))
    assert [run.position for run in runs] == list(range(session.first_position, session.last_position + 1))
    before = session.shared_tokens_o200k
    for run in runs:
        assert run.tokens_before_o200k == before
        before += run.tokens_o200k
    assert session.lineage_tokens == before


def test_c18_twenty_clients_append_and_rename(asks, project):
    case = json.loads((CASES / "C18-twenty-parallel-appends.json").read_text())
    session = make_session(project, "S1")
    append_runs(session=session, runs=[simple_turn("Start", "Ready")], now=NOW)

    def request_of(operation):
        if operation == "rename S1":
            return asks("PATCH", "/sessions/S1", {"title": "Renamed"})
        return asks("POST", "/sessions/S1/runs", {"input": operation.split("'")[1], "output": "ok"})

    clients = [[request_of(each) for each in client["operations"]] for client in case["input"]["parallel"]]
    answers = in_two_processes(clients)

    assert {status for client in answers for status, *_ in client} == {200, 201}
    check_books(session)
    assert (session.last_position, session.title) == (case["computed"]["final_runs"], "Renamed")
    places = dict(Event.objects.filter(run__session=session, index=0).values_list("text", "run__position"))
    assert len(places) == case["computed"]["final_runs"]
    assert all(places[f"par-{n}-a"] < places[f"par-{n}-b"] for n in range(20))
    answered = {json.loads(body)["id"] for client in answers for status, body, _ in client if status == 201}
    assert answered < set(session.runs.values_list("public_id", flat=True))


def test_sixteen_threads_in_two_processes_lose_nothing(asks, project):
    session = make_session(project, "s", runs=1)
    fork = make_session(project, "f", parent=session, forked_at=1)
    append = [asks("POST", f"/sessions/{name}/runs", {"input": "q", "output": "a"}) for name in "sf"]

    answers = in_two_processes([[append[client % 2]] * 8 for client in range(16)])

    assert [status for client in answers for status, *_ in client] == [201] * 128
    check_books(session)
    check_books(fork)
    assert (session.last_position, fork.last_position) == (65, 65)


def test_a_parallel_repeat_waits_for_the_first_and_answers_the_same(asks, project):
    make_session(project, "s")
    request = asks("POST", "/sessions/s/runs", {"input": "q", "output": "a"}, **{"Idempotency-Key": "once"})

    answers = in_two_processes([[request]] * 12)

    assert [status for ((status, *_),) in answers] == [201] * 12
    assert len({body for ((_, body, _),) in answers}) == 1
    assert sum(headers.get("Idempotent-Replayed") == "true" for ((*_, headers),) in answers) == 11
    assert Run.objects.count() == 1


def test_one_of_many_puts_creates_and_the_others_get(asks):
    answers = in_two_processes([[asks("PUT", "/sessions/thread", {"title": "T"})]] * 12)

    assert sorted(status for ((status, *_),) in answers) == [200] * 11 + [201]
    assert len({body for ((_, body, _),) in answers}) == 1


def test_only_one_of_many_can_open_a_run(asks, project):
    make_session(project, "s")
    request = asks("POST", "/sessions/s/runs", {"input": "q", "status": "running"})

    answers = in_two_processes([[request]] * 8)

    assert sorted(status for ((status, *_),) in answers) == [201] + [409] * 7


def test_a_run_ends_once(asks, project):
    make_session(project, "s")
    run = append_runs(session=Session.objects.get(), runs=[simple_turn("q", None)], now=NOW)[0]
    Run.objects.update(status="running")
    finish = [asks("PATCH", f"/runs/{run.public_id}", {"output": f"answer {n}"}) for n in range(8)]

    answers = in_two_processes([[request] for request in finish])

    assert sorted(status for ((status, *_),) in answers) == [200] + [409] * 7
    assert Event.objects.filter(role="assistant").count() == 1
    check_books(Session.objects.get())


@pytest.mark.parametrize("children", ["delete", "reparent"])
def test_c43_no_child_is_orphaned_that_is_created_while_its_parent_is_deleted(asks, project, children):
    for n in range(8):
        parent = make_session(project, f"p{n}", runs=2)
        make_session(project, f"c{n}", parent=parent, forked_at=1)
    deletes = [asks("DELETE", f"/sessions/p{n}?children={children}") for n in range(8)]
    creates = [
        [
            asks("POST", "/sessions", {"id": f"{client}-{n}", "parent_id": f"p{n}", "forked_at": 1}),
            asks("POST", f"/sessions/c{n}/runs", {"input": "q", "output": "a"}),
        ]
        for client in range(3)
        for n in range(8)
    ]

    answers = in_two_processes([deletes, *creates])

    assert {status for client in answers for status, *_ in client} <= {201, 204, 404, 422}
    connection.check_constraints()
    for session in Session.objects.select_related("parent", "root"):
        check_books(session)
        assert session.root == (session.parent.root if session.parent else session)
    assert not Session.objects.filter(public_id__startswith="p").exists()


def test_twenty_who_ask_for_a_summary_at_once_get_one_entry(asks, project):
    session = make_session(project, "S", runs=9, settings={"offset": 2})
    answers = in_two_processes([[asks("POST", "/sessions/S/summaries")]] * 20)
    assert [status for ((status, _, _),) in answers] == [202] * 20
    entry = session.summaries.get()
    assert {json.loads(body)["id"] for ((_, body, _),) in answers} == {entry.public_id}
    assert (entry.status, entry.covers_through) == ("pending", 7)
