"""Runs and their events over the API."""

import pytest

from sessions_app.api import runs
from sessions_app.models import Run, Session
from tests.factories import append_turns, make_session

pytestmark = pytest.mark.django_db
CALL = {"id": "c1", "type": "function", "function": {"name": "fetch", "arguments": '{"a": 1}'}}


@pytest.fixture
def session(project):
    return make_session(project, "s")


def test_it_appends_an_input_and_an_output(bot, session):
    answer = bot.post("/sessions/s/runs", {"input": "Hello", "output": "Hi", "model": "m", "usage": {"input": 5}})

    run = answer.json()
    assert answer.status_code == 201
    assert (run["session_id"], run["position"], run["status"]) == ("s", 1, "completed")
    assert (run["input"], run["output"]) == ("Hello", "Hi")
    assert [(event["kind"], event["role"], event["text"]) for event in run["events"]] == [
        ("message", "user", "Hello"),
        ("message", "assistant", "Hi"),
    ]
    assert run["usage"] == {"input": 5, "cached": 0, "output": 0, "reasoning": 0}
    assert run["completed_at"] == run["created_at"]
    assert bot.get(f"/runs/{run['id']}").json() == run


def test_it_appends_the_messages_of_one_turn(bot, session):
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
        {"role": "assistant", "content": "It is 42."},
    ]

    run = bot.post("/sessions/s/runs", {"messages": messages}).json()

    call = run["events"][2]
    assert call["tool"] == {
        "call_id": "c1",
        "name": "fetch",
        "arguments": '{"a": 1}',
        "result": "42",
        "error": None,
    }
    assert call["parent_id"] == run["events"][1]["id"]
    assert (run["input"], run["output"]) == ("go", "It is 42.")


def test_content_in_parts_stays_in_parts(bot, session):
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]

    run = bot.post("/sessions/s/runs", {"input": parts, "output": "ok"}).json()

    assert run["events"][0]["content"] == parts
    assert run["input"] == "see"


def test_empty_is_not_the_same_as_missing(bot, session):
    assert bot.post("/sessions/s/runs", {"input": "", "output": ""}).json()["output"] == ""
    assert bot.post("/sessions/s/runs", {"input": ""}).json()["output"] is None
    assert bot.post("/sessions/s/runs", {"output": "hello"}).json()["input"] is None


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"input": "a", "messages": [{"role": "user", "content": "b"}]}, ""),
        ({"messages": []}, "/messages"),
        ({"messages": [{"role": "robot", "content": "b"}]}, "/messages/0/role"),
        ({"messages": [{"role": "user", "content": 5}]}, "/messages/0/content"),
        ({"input": "a", "id": ".."}, "/id"),
        ({"input": "a", "status": "done"}, "/status"),
        ({"input": "a", "usage": {"input": 2**31}}, "/usage/input"),
        ({"input": "a", "usage": {"input": -1}}, "/usage/input"),
        ({"input": "a", "created_at": "2026-05-04T12:00:00"}, "/created_at"),
        ({"input": "a", "created_at": 5}, "/created_at"),
        ({"input": "a", "model": "m" * 201}, "/model"),
        ({"input": "a", "colour": "blue"}, "/colour"),
    ],
)
def test_it_names_the_bad_field(bot, session, body, pointer):
    answer = bot.post("/sessions/s/runs", body)

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    batch = bot.post("/sessions/s/runs/batch", {"runs": [{"input": "fine"}, body]})
    assert batch.json()["errors"][0]["pointer"] == f"/runs/1{pointer}"
    assert bot.get("/sessions/s/runs").json()["items"] == []


def test_a_used_run_id_is_a_conflict(bot, session):
    assert bot.post("/sessions/s/runs", {"input": "a", "output": "b", "id": "mine"}).json()["id"] == "mine"

    assert bot.post("/sessions/s/runs", {"input": "a", "output": "b", "id": "mine"}).status_code == 409
    assert bot.get("/runs/mine").status_code == 200


def test_a_batch_is_stored_whole_or_not_at_all(bot, session):
    runs = [{"input": f"q{n}", "output": f"a{n}"} for n in range(1000)]

    assert bot.post("/sessions/s/runs/batch", {"runs": [*runs, runs[0]]}).status_code == 422
    twice = [{**runs[0], "id": "x"}, {**runs[1], "id": "x"}]
    assert bot.post("/sessions/s/runs/batch", {"runs": twice}).status_code == 409
    answer = bot.post("/sessions/s/runs/batch", {"runs": runs})

    assert answer.status_code == 201
    assert [run["position"] for run in answer.json()["runs"]] == list(range(1, 1001))
    assert bot.get("/sessions/s").json()["run_count"] == 1000


def test_runs_are_listed_along_the_lineage(bot, session):
    append_turns(session, 3)
    make_session(session.project, "f", parent=session, forked_at=2, runs=2)

    items = bot.get("/sessions/f/runs").json()["items"]

    assert [(run["position"], run["session_id"], run["input"]) for run in items] == [
        (1, "s", "question 1"),
        (2, "s", "question 2"),
        (3, "f", "question 3"),
        (4, "f", "question 4"),
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("after=3", [4, 5, 6]),
        ("before=3", [1, 2]),
        ("after=2&before=5", [3, 4]),
        ("after=6", []),
        ("before=1", []),
        ("before=0", []),
        ("after=2&limit=2", [3, 4]),
        ("after=2147483647", []),
    ],
)
def test_positions_bound_the_list(bot, session, query, expected):
    append_turns(session, 6)

    assert [run["position"] for run in bot.get(f"/sessions/s/runs?{query}").json()["items"]] == expected


def test_runs_are_paged(bot, session):
    append_turns(session, 5)
    pages = bot.pages("/sessions/s/runs?limit=2")
    seen = [[run["position"] for run in page["items"]] for page in pages]

    assert seen == [[1, 2], [3, 4], [5]]


@pytest.mark.parametrize("query", ["after=-1", "after=2147483648", "before=x", "cursor=WyJpZCJd", "limit=0"])
def test_a_bad_parameter_is_refused(bot, session, query):
    assert bot.get(f"/sessions/s/runs?{query}").status_code == 422


def test_the_queries_do_not_grow_with_the_session(bot, session, django_assert_num_queries):
    append_turns(session, 3)
    bot.get("/project")
    with django_assert_num_queries(5):
        bot.get("/sessions/s/runs?limit=2")
    append_turns(session, 200)
    with django_assert_num_queries(5):
        bot.get("/sessions/s/runs?limit=2")


@pytest.fixture
def run_id(bot, session):
    return bot.post("/sessions/s/runs", {"input": "question", "status": "running"}).json()["id"]


def test_behind_an_open_run_nothing_is_appended_and_it_is_named(bot, run_id):
    answer = bot.post("/sessions/s/runs", {"input": "next", "output": "no"})

    assert (answer.status_code, answer.json()["type"]) == (409, "urn:convoweb:problem:run-is-open")
    assert run_id in answer.json()["detail"]


def test_a_providers_messages_go_into_an_open_run_as_they_came(bot, run_id):
    message = {"role": "assistant", "content": None, "refusal": None, "annotations": [], "tool_calls": [CALL]}

    asked = bot.post(f"/runs/{run_id}/events", message)
    answered = bot.post(f"/runs/{run_id}/events", {"role": "tool", "tool_call_id": "c1", "content": "42"})

    assert (asked.status_code, answered.status_code) == (201, 201)
    assert [event["kind"] for event in asked.json()["events"]] == ["message", "tool_call"]
    assert answered.json()["events"][0]["id"] == asked.json()["events"][1]["id"]
    assert answered.json()["events"][0]["tool"]["result"] == "42"


def test_what_a_message_says_beyond_its_columns_is_kept(bot, run_id):
    bot.post(f"/runs/{run_id}/events", {"role": "assistant", "content": "a", "name": "helper"})

    assert Run.objects.get().extras == {"1": {"name": "helper"}}
    assert bot.get(f"/runs/{run_id}").json()["metadata"] == {}


def test_events_are_added_one_by_one_or_several_at_once(bot, run_id):
    one = bot.post(f"/runs/{run_id}/events", {"kind": "message", "role": "assistant", "text": "first"}).json()
    events = [
        {"kind": "reasoning", "text": "thinking"},
        {"kind": "note", "text": "noted"},
        {"kind": "message", "role": "assistant", "content": [{"type": "text", "text": "second"}]},
        {"kind": "tool_call", "tool": {"name": "t", "arguments": {"a": 1}}, "parent_id": one["events"][0]["id"]},
        {"kind": "tool_call", "tool": {"name": "t", "call_id": "x", "arguments": "{}", "result": {"n": 1}}},
    ]

    added = bot.post(f"/runs/{run_id}/events", {"events": events}).json()["events"]

    assert [event["text"] for event in added] == ["thinking", "noted", "second", "", ""]
    assert [event["parent_id"] for event in added[3:]] == [one["events"][0]["id"], added[2]["id"]]
    assert [event["tool"]["arguments"] for event in added[3:]] == ['{"a": 1}', "{}"]
    assert added[4]["tool"]["result"] == '{"n": 1}'
    assert [event["text"] for event in bot.get(f"/runs/{run_id}").json()["events"]] == [
        "question",
        "first",
        "thinking",
        "noted",
        "second",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"events": []}, "/events"),
        ({"events": [{"kind": "nonsense"}]}, "/events/0/kind"),
        ({"events": [{"kind": "message"}]}, "/events/0/role"),
        ({"kind": "message", "role": "assistant", "tool": {"name": "t"}}, "/tool"),
        ({"kind": "tool_call"}, "/tool"),
        ({"kind": "tool_call", "tool": {"name": "t"}, "parent_id": "evt_0"}, "/parent_id"),
        ({"kind": "message", "role": "assistant", "content": [{"text": "x"}]}, "/content/0"),
        ({"kind": "reasoning", "content": [{"type": "opaque", "format": "text", "part": {}}]}, "/content/0/format"),
        ({"kind": "reasoning", "content": [{"type": "opaque", "format": "gemini"}]}, "/content/0/part"),
        ({"messages": [{"role": "robot"}]}, "/messages/0/role"),
        ({"role": "assistant", "content": 5}, "/content"),
    ],
)
def test_it_names_what_is_wrong_with_an_event(bot, run_id, body, pointer):
    answer = bot.post(f"/runs/{run_id}/events", body)

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


RESULT = {"role": "tool", "tool_call_id": "nobody", "content": "x"}
SAID = {"role": "assistant", "content": "a"}
ASKED = {"kind": "message", "role": "user", "text": "b"}
ANSWERED = {"kind": "message", "role": "assistant", "text": "a"}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (RESULT, ""),
        ({"messages": [SAID, RESULT]}, "/messages/1"),
        ({"messages": [SAID | {"tool_calls": [CALL]}, RESULT | {"tool_call_id": "c1"}, SAID, RESULT]}, "/messages/3"),
        ({"kind": "tool_call", "tool": {"call_id": "nobody", "name": "", "result": "x"}}, ""),
        (
            {"events": [ANSWERED, {"kind": "tool_call", "tool": {"call_id": "nobody", "name": "", "result": "x"}}]},
            "/events/1",
        ),
        ({"events": [ANSWERED, ASKED]}, "/events/1/role"),
    ],
)
def test_it_points_to_what_does_not_go_with_the_run_so_far(bot, run_id, body, pointer):
    answer = bot.post(f"/runs/{run_id}/events", body)

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_it_points_to_a_parent_that_is_no_answer_and_to_a_question_behind_one(bot, run_id):
    question = bot.get(f"/runs/{run_id}").json()["events"][0]["id"]
    call = {"kind": "tool_call", "tool": {"name": "t"}, "parent_id": question}

    assert bot.post(f"/runs/{run_id}/events", call).json()["errors"][0]["pointer"] == "/parent_id"
    bot.post(f"/runs/{run_id}/events", SAID)
    assert bot.post(f"/runs/{run_id}/events", ASKED).json()["errors"][0]["pointer"] == "/role"
    asked = bot.post(f"/runs/{run_id}/events", {"role": "user", "content": "b"})
    assert asked.json()["errors"][0]["pointer"] == "/role"


@pytest.mark.parametrize(("given", "pointer"), [({"result": "x"}, "/result"), ({"error": "x"}, "/error")])
def test_it_points_to_a_result_that_cannot_be_taken(bot, run_id, given, pointer):
    events = [ANSWERED, {"kind": "tool_call", "tool": {"call_id": "c", "name": "t"}}]
    said, call = (event["id"] for event in bot.post(f"/runs/{run_id}/events", {"events": events}).json()["events"])

    refused = bot.patch(f"/events/{said}", given)
    bot.patch(f"/events/{call}", {"result": "first"})
    again = bot.patch(f"/events/{call}", given)

    assert (refused.status_code, again.status_code) == (422, 409)
    assert [answer.json()["errors"][0]["pointer"] for answer in (refused, again)] == [pointer, pointer]


@pytest.mark.parametrize("body", [{}, [], "text", 5, {"role": "tool", "tool_call_id": "nobody", "content": "x"}])
def test_what_is_no_event_at_all_is_refused(bot, run_id, body):
    assert bot.post(f"/runs/{run_id}/events", body).status_code == 422


def test_the_next_prompt_comes_with_the_events_on_request(bot, run_id):
    bot.post(f"/runs/{run_id}/events", {"role": "assistant", "content": None, "tool_calls": [CALL]})

    answer = bot.post(
        f"/runs/{run_id}/events?prompt=true", {"role": "tool", "tool_call_id": "c1", "content": "42"}
    ).json()

    assert answer["messages"] == bot.post("/sessions/s/prompt", {}).json()["messages"]
    assert answer["messages"][-1]["content"] == "42"
    assert answer["events"][0]["tool"]["result"] == "42"
    assert answer["settings"]["strategy"] == {"value": "summary", "from": "built-in"}


def test_reasoning_comes_back_unchanged_in_the_format_that_it_came_from(bot, run_id):
    thinking = {"type": "thinking", "thinking": "42, surely.", "signature": "Er8C"}
    opaque = {"type": "opaque", "format": "anthropic", "part": thinking}
    bot.post(f"/runs/{run_id}/events", {"kind": "reasoning", "content": [opaque]})
    bot.patch(f"/runs/{run_id}", {"output": "It is 42."})

    built = {
        name: bot.post("/sessions/s/prompt", {"settings": {"format": name}}).json() for name in ("anthropic", "openai")
    }

    assert built["anthropic"]["messages"][1]["content"] == [thinking, {"type": "text", "text": "It is 42."}]
    assert built["openai"]["messages"][1]["content"] == "It is 42."
    event = bot.get(f"/runs/{run_id}").json()["events"][1]
    assert (event["content"], event["text"]) == ([opaque], "42, surely.")


def test_a_prompt_that_cannot_be_built_stores_no_events_either(bot, run_id):
    Session.objects.update(settings={"max_input_tokens": 1})

    answer = bot.post(f"/runs/{run_id}/events?prompt=true", {"role": "assistant", "content": "hello"})

    assert answer.status_code == 422
    assert len(bot.get(f"/runs/{run_id}").json()["events"]) == 1


def test_a_result_is_set_later(bot, run_id):
    asked = bot.post(f"/runs/{run_id}/events", {"kind": "tool_call", "tool": {"name": "t"}}).json()
    event_id = asked["events"][0]["id"]

    answer = bot.patch(f"/events/{event_id}", {"result": {"n": 1}, "error": "half"})

    assert answer.status_code == 200
    assert answer.json()["tool"] | {} == {
        "call_id": "",
        "name": "t",
        "arguments": "",
        "result": '{"n": 1}',
        "error": "half",
    }
    assert answer.json()["parent_id"] == bot.get(f"/runs/{run_id}").json()["events"][1]["id"]
    assert bot.patch(f"/events/{event_id}", {"result": "other"}).status_code == 409
    assert bot.patch(f"/events/{event_id}", {}).status_code == 422


@pytest.mark.parametrize("event_id", ["1", "evt_", "evt_x", "evt_01", "evt_٣", "evt_99999999999999999999", "evt_0"])
def test_an_event_that_does_not_exist_is_not_found(bot, run_id, event_id):
    assert bot.patch(f"/events/{event_id}", {"result": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "output", "error"),
    [
        ({"output": "done"}, "completed", "done", ""),
        ({"status": "completed"}, "completed", None, ""),
        ({"error": "boom"}, "failed", None, "boom"),
        ({"status": "failed"}, "failed", None, ""),
        ({"status": "cancelled", "output": "half"}, "cancelled", "half", ""),
        ({"status": "running"}, "running", None, ""),
        ({"metadata": {"k": 1}}, "running", None, ""),
    ],
)
def test_a_run_ends_as_it_is_told(bot, run_id, body, status, output, error):
    answer = bot.patch(f"/runs/{run_id}", body)

    run = answer.json()
    assert answer.status_code == 200
    assert (run["status"], run["output"], run["error"]) == (status, output, error)
    assert (run["completed_at"] is None) == (status == "running")


def test_a_late_finish_is_refused_and_says_that_a_fork_is_the_way(bot, run_id):
    bot.patch(f"/runs/{run_id}", {"output": "the whole"})

    for late in (
        bot.patch(f"/runs/{run_id}", {"output": "the"}),
        bot.patch(f"/runs/{run_id}", {"metadata": {}}),
        bot.post(f"/runs/{run_id}/events", {"role": "assistant", "content": "more"}),
    ):
        assert (late.status_code, late.json()["type"]) == (409, "urn:convoweb:problem:run-has-ended")
        assert "POST /sessions/s/fork with at = 0" in late.json()["detail"]


def test_illegal_characters_are_replaced_and_counted(bot, session):
    answer = bot.post("/sessions/s/runs", b'{"input": "a\\u0000b\\ud800", "output": "ok"}')

    assert answer.json()["input"] == "a\ufffdb\ufffd"
    assert answer["Convoweb-Replaced-Characters"] == "2"


def test_a_bots_metadata_named_openai_stay_its_own(bot, session):
    said = {"role": "assistant", "content": "hi", "name": "bob"}
    run_id = bot.post("/sessions/s/runs", {"input": "q", "status": "running", "metadata": {"openai": "abc"}}).json()[
        "id"
    ]

    assert bot.post(f"/runs/{run_id}/events", said).status_code == 201
    assert bot.patch(f"/runs/{run_id}", {"metadata": {"openai": {"0": 5}}}).status_code == 200

    run = Run.objects.get()
    assert (run.metadata, run.extras) == ({"openai": {"0": 5}}, {"1": {"name": "bob"}})


def test_a_call_of_a_hostile_type_is_refused(bot, session):
    calls = {"role": "assistant", "tool_calls": [{"type": [], "function": {"name": "f"}}]}

    answer = bot.post("/sessions/s/runs", {"messages": [{"role": "user", "content": "q"}, calls]})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/messages/1/tool_calls/0"


def test_a_note_does_not_turn_a_run_back_that_another_request_started_meanwhile(bot, session, monkeypatch):
    run_id = bot.post("/sessions/s/runs", {"input": "q", "status": "pending"}).json()["id"]
    find_run = runs.find_run
    found: list[Run] = []

    def find_and_let_another_start_it(request, public_id):
        run = find_run(request, public_id)
        if not found:
            found.append(run)
            bot.patch(f"/runs/{public_id}", {"status": "running"})
        return run

    monkeypatch.setattr(runs, "find_run", find_and_let_another_start_it)

    assert bot.patch(f"/runs/{run_id}", {"metadata": {"a": 1}}).json()["status"] == "running"


def test_a_running_run_does_not_become_pending_again(bot, run_id):
    answer = bot.patch(f"/runs/{run_id}", {"status": "pending"})

    assert answer.status_code == 409
    assert "cannot become pending again" in answer.json()["detail"]
    assert bot.get(f"/runs/{run_id}").json()["status"] == "running"
    assert bot.patch(f"/runs/{run_id}", {"status": "running"}).status_code == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, "completed"),
        ({"error": ""}, "completed"),
        ({"error": "boom"}, "failed"),
        ({"error": "boom", "output": "half"}, "failed"),
        ({"error": "boom", "status": "cancelled"}, "cancelled"),
    ],
)
def test_a_new_run_with_an_error_has_failed(bot, session, body, status):
    run = bot.post("/sessions/s/runs", {"input": "q", **body}).json()

    assert (run["status"], run["error"]) == (status, body.get("error", ""))


@pytest.mark.parametrize("status", ["completed", "running", "pending"])
def test_only_failed_and_cancelled_runs_have_an_error(bot, session, run_id, status):
    told = {"status": status, "error": "boom"}
    other = make_session(session.project, "other")

    answers = [
        bot.patch(f"/runs/{run_id}", told),
        bot.post(f"/sessions/{other.public_id}/runs", {"input": "q", **told}),
        bot.post(f"/sessions/{other.public_id}/runs/batch", {"runs": [{"input": "q", **told}]}),
    ]

    assert [answer.status_code for answer in answers] == [422] * 3
    pointers = [answer.json()["errors"][0]["pointer"] for answer in answers]
    assert pointers == ["/error", "/error", "/runs/0/error"]


def test_a_refused_batch_points_to_each_bad_field(bot, session):
    bot.post("/sessions/s/runs", {"input": "q", "id": "known"})

    def refused(*turns):
        answer = bot.post("/sessions/s/runs/batch", {"runs": [{"input": "q", **turn} for turn in turns]})
        return answer.status_code, [error["pointer"] for error in answer.json()["errors"]]

    assert refused({"id": "a"}, {"id": "b"}, {"id": "a"}) == (409, ["/runs/0/id", "/runs/2/id"])
    assert refused({"id": "new"}, {"id": "known"}) == (409, ["/runs/1/id"])
    assert refused({}, {"status": "running"}, {}) == (422, ["/runs/1/status"])


def test_a_taken_id_of_a_single_run_is_pointed_to(bot, session):
    answers = [bot.post("/sessions/s/runs", {"input": "q", "id": "mine"}) for _ in range(2)]

    assert answers[1].status_code == 409
    assert answers[1].json()["errors"] == [{"pointer": "/id", "detail": "A run with the id mine exists already."}]
