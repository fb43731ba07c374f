"""Cases made after public reports of faults in other products, over the API. Their names are those of their files."""

import json
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from django.utils import timezone

from sessions_app.models import Run, Session, Summary
from sessions_app.services.runs import close_interrupted_runs

pytestmark = pytest.mark.django_db
CASES = Path(__file__).parents[1] / "data" / "cases"


def case_of(name):
    return json.loads((CASES / f"{name}.json").read_text())


def messages_of(run):
    """One turn of a case as chat messages."""
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in run["tool_calls"]
    ]
    asked = [{"role": "assistant", "content": None, "tool_calls": calls}] if calls else []
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": call["result"]}
        for call in run["tool_calls"]
        if "result" in call
    ]
    end = [] if run.get("output") is None else [{"role": "assistant", "content": run["output"]}]
    return [{"role": "user", "content": run["input"]}, *asked, *results, *end]


def inputs_of(bot, session_id):
    return [run["input"] for run in bot.get(f"/sessions/{session_id}/runs?limit=200").json()["items"]]


def texts_of(prompt):
    return [message["content"] for message in prompt["messages"]]


def test_c20_order_is_that_of_arrival_whatever_the_clock_says(bot):
    case = case_of("C20-same-second")
    given = list(case["input"]["messages"])
    bulk = case["input"]["generate_messages"]
    roles = ("user", "assistant")
    given += [
        {"role": roles[n % 2], "content": f"bulk {n}", "created_at": bulk["created_at"]} for n in range(bulk["count"])
    ]
    bot.post("/sessions", {"id": "s", "settings": {"strategy": "buffer", "max_input_tokens": 8000}})
    runs = [{"messages": given[place : place + 2]} for place in range(0, len(given), 2)]

    assert bot.post("/sessions/s/runs/batch", {"runs": runs}).status_code == 201

    expected = [message["content"] for message in given]
    for _ in range(10):
        listed = bot.get("/sessions/s/runs?limit=200").json()["items"]
        assert [text for run in listed for text in (run["input"], run["output"])] == expected
        assert texts_of(bot.get("/sessions/s/prompt").json()) == expected
    assert len(listed) == case["computed"]["runs"]


def test_c20_decreasing_times_do_not_change_the_order(bot):
    bot.post("/sessions", {"id": "s"})
    for n in range(5):
        turn = {"input": f"Ping {n}", "output": f"Pong {n}", "created_at": f"2026-05-04T12:00:0{9 - n}Z"}
        assert bot.post("/sessions/s/runs", turn).status_code == 201

    assert inputs_of(bot, "s") == [f"Ping {n}" for n in range(5)]


def test_c22_a_fork_is_independent(bot):
    case = case_of("C22-fork-is-independent")
    (original,) = case["input"]["sessions"]
    bot.post("/sessions", {"id": "S1", "title": original["title"], "tags": original["meta"]["tags"]})
    for run in original["runs"]:
        stored = {"id": run["id"], "messages": messages_of(run), "metadata": run["meta"]}
        assert bot.post("/sessions/S1/runs", stored).status_code == 201
    before = [bot.get(f"/runs/r{n}").json() for n in range(1, 6)]

    fork = bot.post("/sessions/S1/fork", {"at": 3, "id": "S2"}).json()
    shared = bot.get("/sessions/S2/runs").json()["items"]
    assert fork["parent_id"] == "S1"
    assert [run["id"] for run in shared] == case["computed"]["S2_after_fork"]
    assert shared == before[:3]

    refused = bot.patch("/runs/r2", {"output": "changed"})
    assert refused.status_code == 409
    assert "Changing history is a fork: POST /sessions/S1/fork with at = 1" in refused.json()["detail"]
    assert bot.delete("/runs/r1").status_code == 405
    bot.patch("/sessions/S2", {"tags": ["blue", "red"]})
    bot.post("/sessions/S1/runs", {"input": "in 6", "output": "out 6"})
    assert bot.delete("/sessions/S2").status_code == 204
    bot.post("/sessions/S1/fork", {"at": 6, "id": "S3"})
    bot.post("/sessions/S3/fork", {"at": 2, "id": "S4"})

    assert [bot.get(f"/runs/r{n}").json() for n in range(1, 6)] == before
    s1 = bot.get("/sessions/S1").json()
    assert (s1["run_count"], s1["tags"], s1["title"]) == (case["computed"]["S1_final_count"], ["blue"], "Original")
    assert len(inputs_of(bot, "S3")) == 6
    assert [run["id"] for run in bot.get("/sessions/S4/runs").json()["items"]] == case["computed"]["S4"]
    tree = {node["id"]: node["parent_id"] for node in bot.get("/sessions/S4/tree").json()["items"]}
    assert tree == {"S1": None, "S3": "S1", "S4": "S3"}


@pytest.mark.parametrize("strategy", ["buffer", "summary"])
def test_c38_empty_texts_are_stored_as_they_are_and_never_sent_empty(bot, strategy):
    case = case_of("C38-empty-texts")
    settings = {"strategy": strategy, "max_input_tokens": case["settings"]["token_budget"]}
    bot.post("/sessions", {"id": "s", "instructions": case["input"]["system"], "settings": settings})
    for run in case["input"]["runs"]:
        opened = bot.post("/sessions/s/runs", {"id": run["id"], "messages": messages_of(run), "status": "running"})
        assert opened.status_code == 201
        if "reasoning" in run:
            bot.post(f"/runs/{run['id']}/events", {"kind": "reasoning", "text": run["reasoning"]})
        assert bot.patch(f"/runs/{run['id']}", {"status": "completed"}).status_code == 200

    listed = bot.get("/sessions/s/runs").json()["items"]
    assert [(run["input"], run["output"]) for run in listed] == [
        ("Make a folder.", ""),
        ("", "You sent nothing."),
        ("Think about it.", None),
        ("", "  "),
        ("Still there?", "Yes."),
    ]
    assert listed[0]["events"][2]["tool"]["result"] == ""
    assert listed[2]["events"][1]["text"] == "long inner text"

    prompt = bot.post("/sessions/s/prompt", {"query": case["input"]["next_input"]}).json()
    messages = prompt["messages"]
    assert messages[0]["role"] == "user"
    assert all(message["content"].strip() for message in messages if not message.get("tool_calls"))
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == [
        call["id"] for message in messages for call in message.get("tool_calls", ())
    ]
    spoken = [(message["role"], message["content"]) for message in messages if message["role"] in ("user", "assistant")]
    asked = spoken.index(("user", "Think about it."))
    assert spoken[asked + 1] == ("assistant", "[no answer]")
    assert bot.post("/sessions/s/prompt", {"query": " "}).status_code == 422


def c43_sessions(bot):
    case = case_of("C43-parent-deleted")
    for session in case["input"]["sessions"]:
        bot.post("/sessions", {"id": session["id"], "title": session["title"], "parent_id": session["parent"]})
        runs = [
            {"input": f"{session['id']} asks {n}", "output": f"{session['id']} hears {n}"}
            for n in range(session["runs"])
        ]
        bot.post(f"/sessions/{session['id']}/runs/batch", {"runs": runs})
    parent = Session.objects.get(public_id="P")
    parent.summary = Summary.objects.create(
        session=parent,
        number=1,
        status="completed",
        covers_through=3,
        text=case["input"]["sessions"][0]["summary"],
        summarizer="extractive",
        created_at=parent.created_at,
    )
    parent.save()
    return case


CONTEXT = {"settings": {"include_parent_context": True, "parent_depth": 5}}


def test_c39_arguments_and_results_that_are_not_json_come_back_as_they_came(bot, client, django_user_model):
    runs = case_of("C39-arguments-that-are-not-json")["input"]["runs"]
    bot.post("/sessions", {"id": "s"})
    for run in runs:
        assert bot.post("/sessions/s/runs", {"messages": messages_of(run)}).status_code == 201

    stored = bot.get("/sessions/s/runs").json()["items"]

    calls = [event["tool"] for run in stored for event in run["events"] if event["tool"]]
    given = [call for run in runs for call in run["tool_calls"]]
    assert [(call["arguments"], call["result"]) for call in calls] == [
        (call["arguments"], call["result"]) for call in given
    ]
    client.force_login(django_user_model.objects.create_superuser("u"), "django.contrib.auth.backends.ModelBackend")
    project = Session.objects.get(public_id="s").project.slug
    for page in ("", "tune/", "tune/why/"):
        assert client.get(f"/p/{project}/sessions/s/{page}").status_code == 200


def test_c43_children_of_a_deleted_parent_stay_reachable_without_its_text(bot):
    case = c43_sessions(bot)
    assert "the barn is green" in json.dumps(bot.post("/sessions/C1/prompt", CONTEXT).json()["messages"])
    unrelated = bot.get("/sessions/U").json()

    assert bot.delete("/sessions/P").status_code == 409
    assert bot.delete("/sessions/P?children=reparent").status_code == 204

    listed = {item["id"] for item in bot.get("/sessions").json()["items"]}
    assert listed == {*case["computed"]["descendants_of_P"], "U"}
    assert [bot.get(f"/sessions/{name}").json()["parent_id"] for name in ("C1", "C2", "G")] == [None, None, "C1"]
    for name in ("C1", "G"):
        prompt = bot.post(f"/sessions/{name}/prompt", CONTEXT)
        assert prompt.status_code == 200
        assert "barn" not in prompt.content.decode()
    assert bot.get("/sessions?q=Parent").json()["items"] == []
    assert bot.get("/sessions/U").json() == unrelated
    assert bot.delete("/sessions/C1?children=delete").status_code == 204
    assert {item["id"] for item in bot.get("/sessions").json()["items"]} == {"C2", "U"}


def test_c43_or_all_descendants_go_with_it(bot):
    c43_sessions(bot)

    assert bot.delete("/sessions/P?children=delete").status_code == 204

    assert [item["id"] for item in bot.get("/sessions").json()["items"]] == ["U"]
    assert set(Run.objects.values_list("session__public_id", flat=True)) == {"U"}


@pytest.mark.parametrize("payload", case_of("C47-html-in-messages")["input"]["payloads"])
def test_c47_html_comes_back_as_the_text_it_is(bot, payload):
    call = {"id": payload, "type": "function", "function": {"name": payload, "arguments": payload}}
    messages = [
        {"role": "user", "content": payload},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": payload, "content": payload},
        {"role": "assistant", "content": payload},
    ]
    fields = {"title": payload, "instructions": payload, "user_id": payload, "tags": [payload]}
    session = bot.post("/sessions", {"id": "s", "metadata": {payload: payload}, **fields}).json()
    run = bot.post("/sessions/s/runs", {"messages": messages}).json()

    assert {name: session[name] for name in fields} == fields
    assert session["metadata"] == {payload: payload}
    assert (run["input"], run["output"]) == (payload, payload)
    assert run["events"][2]["tool"] == {
        "call_id": payload,
        "name": payload,
        "arguments": payload,
        "result": payload,
        "error": None,
    }
    answer = bot.post("/sessions/s/prompt", {})
    assert answer["Content-Type"].startswith("application/json")
    assert payload in texts_of(answer.json())
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.fixture
def c53(bot):
    """The case's session: one answered run, and one whose answer is half written."""
    first, second = case_of("C53-interrupted-stream")["input"]["sessions"][0]["runs"]
    settings = {"strategy": "buffer", "max_input_tokens": 2000}
    bot.post("/sessions", {"id": "S1", "settings": settings})
    bot.post("/sessions/S1/runs", {"id": "r1", "messages": messages_of(first)})
    bot.post("/sessions/S1/runs", {"id": "r2", "status": "running", "input": second["input"]})
    bot.post("/runs/r2/events", messages_of(second)[1])
    bot.post("/runs/r2/events", {"role": "assistant", "content": second["output_so_far"]})
    return second


def check_c53_prompt(bot, *, partial):
    """The question and the half text are there, the open call is answered, and a half answer is marked as one."""
    messages = bot.post("/sessions/S1/prompt", {"query": "And then?"}).json()["messages"]
    roles = [message["role"] for message in messages]
    assert "Tell me the long story" in texts_of({"messages": messages})
    assert not any(pair == ("user", "user") for pair in pairwise(roles))
    assert roles.count("tool") == sum(len(message.get("tool_calls", ())) for message in messages)
    (half,) = [text for text in texts_of({"messages": messages}) if text and "Once upon a ti" in text]
    assert (half != "Once upon a ti") == partial


@pytest.mark.parametrize(
    ("finish", "status"),
    [({"status": "cancelled"}, "cancelled"), ({"status": "failed", "error": "The stream broke."}, "failed")],
)
def test_c53_what_was_said_is_kept_and_marked(bot, c53, finish, status):
    run = bot.patch("/runs/r2", finish).json()

    assert (run["status"], run["input"], run["output"]) == (status, c53["input"], c53["output_so_far"])
    check_c53_prompt(bot, partial=True)


def test_c53_a_run_that_nobody_ends_is_closed_as_interrupted(bot, c53):
    assert close_interrupted_runs(now=timezone.now() + timedelta(days=1)) == 1

    run = bot.get("/runs/r2").json()
    assert (run["status"], run["error"], run["output"]) == ("failed", "interrupted", c53["output_so_far"])
    check_c53_prompt(bot, partial=True)


def test_c53_a_late_finish_goes_into_its_run_and_comes_once(bot, c53):
    whole = "Once upon a time there was an end."
    assert bot.patch("/runs/r2", {"output": whole}).json()["output"] == whole

    late = bot.patch("/runs/r2", {"output": c53["output_so_far"]})

    assert late.status_code == 409
    assert bot.get("/runs/r2").json()["output"] == whole
    assert inputs_of(bot, "S1") == ["Hello", c53["input"]]
    assert c53["output_so_far"] not in [event["text"] for event in bot.get("/runs/r2").json()["events"]]


def test_c53_nothing_is_appended_behind_a_running_run(bot, c53):
    refused = bot.post("/sessions/S1/runs", {"id": "r3", "input": "next", "output": "no"})
    assert refused.status_code == 409
    assert "r2" in refused.json()["detail"]

    bot.patch("/runs/r2", {"status": "cancelled"})
    assert bot.post("/sessions/S1/runs", {"id": "r3", "input": "next", "output": "yes"}).status_code == 201
    assert [run["id"] for run in bot.get("/sessions/S1/runs").json()["items"]] == ["r1", "r2", "r3"]
