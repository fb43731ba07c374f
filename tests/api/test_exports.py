"""Exports over the API: the file, its name, and that importing it elsewhere gives the same runs."""

import json
from pathlib import Path

import pytest

from sessions_app.domain.export_formats.openai import OPENAI as OPENAI_FILES
from sessions_app.domain.file_formats.openai import OPENAI
from sessions_app.domain.json_streams import Found
from sessions_app.models import ImportOutcome, Session
from sessions_app.services.downloads import MOST_AT_ONCE, Download
from sessions_app.services.imports import import_row, prepare_row
from tests.api.test_cases import c43_sessions
from tests.factories import NOW, append_turns, make_project, make_session

pytestmark = pytest.mark.django_db
REAL = Path(__file__).parents[3] / "shared" / "data" / "airline-support.jsonl"
UNLIKE = {"id", "session_id", "parent_id", "completed_at"}


def text_of(answer):
    assert answer.status_code == 200
    return answer.getvalue().decode()


def row_of(bot, session_id):
    return json.loads(text_of(bot.get(f"/sessions/{session_id}/export")))


def test_where_too_many_are_sent_it_says_when_to_ask_again(bot, project):
    make_session(project, "s", runs=1)
    begun = [Download(session_pks=[], project=project, file_format=OPENAI_FILES) for _ in range(MOST_AT_ONCE)]

    answer = bot.get("/sessions/s/export")

    assert (answer.status_code, answer.json()["type"]) == (429, "urn:convoweb:problem:export-is-busy")
    assert int(answer["Retry-After"]) > 0
    for each in begun:
        each.close()
    assert text_of(bot.get("/sessions/s/export"))


def bring_in(project, row):
    imported = import_row(
        project=project, file_format=OPENAI, row=prepare_row(file_format=OPENAI, found=Found(1, row)), now=NOW
    )
    assert imported.outcome in {ImportOutcome.IMPORTED, ImportOutcome.UNCHANGED}, imported
    return imported


def bare(value):
    """The answer of the API without what another project must have of its own."""
    if isinstance(value, dict):
        return {name: bare(each) for name, each in value.items() if name not in UNLIKE}
    return [bare(each) for each in value] if isinstance(value, list) else value


def runs_of(bot, session_id):
    pages = bot.pages(f"/sessions/{session_id}/runs?limit=200")
    return [bare(run) for page in pages for run in page["items"]]


def test_it_is_a_file_of_openai_messages_unless_asked_otherwise(bot, project):
    make_session(project, "s", runs=1, title='a "b"\r\nSet-Cookie: x=1; ../../etc/passwd \u202egnp.exe ' + "x" * 300)

    answer = bot.get("/sessions/s/export")

    assert answer["Content-Type"] == "application/jsonl; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"
    name = "a-b-Set-Cookie-x-1-etc-passwd-gnp-exe-"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}{"x" * (80 - len(name))}.jsonl"'
    assert json.loads(text_of(answer))["messages"][0] == {"role": "user", "content": "question 1"}


def test_markdown_is_a_file_too_and_others_are_refused_by_name(bot, project):
    make_session(project, "s", runs=1, title="Überfahrt")

    answer = bot.get("/sessions/s/export?file_format=markdown")

    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''%C3%9Cberfahrt.md"
    assert text_of(answer).startswith("# Überfahrt\n")
    refused = bot.get("/sessions/s/export?file_format=word")
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/file_format")
    assert "'openai' or 'markdown'" in refused.content.decode()


def test_it_needs_the_scope_read_and_the_project(bot, make_bot, project):
    make_session(project, "s")

    assert make_bot(project, "write").get("/sessions/s/export").status_code == 403
    assert make_bot(make_project("other")).get("/sessions/s/export").status_code == 404


TOOL_TURN = [
    {"role": "user", "content": [{"type": "text", "text": "In Lisbon."}, {"type": "image_url", "image_url": "x"}]},
    {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "find", "arguments": "not json"}},
            {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}},
        ],
    },
    {"role": "tool", "tool_call_id": "c", "content": ""},
    {"role": "tool", "tool_call_id": "c", "content": '{"desk":  4}'},
    {"role": "assistant", "content": None, "refusal": "I cannot say."},
]


def test_importing_it_into_another_project_gives_the_same_runs(bot, make_bot, project):
    fields = {"title": "T", "user_id": "u", "tags": ["a"], "metadata": {"openai": {"x": 1}}, "instructions": "Brief."}
    bot.post("/sessions", {"id": "s", **fields})
    usage = {"input": 420, "cached": 20, "output": 12, "reasoning": 3}
    bot.post("/sessions/s/runs", {"input": "never answered", "error": "down", "created_at": "2026-01-01T00:00:00Z"})
    bot.post("/sessions/s/runs", {"messages": TOOL_TURN, "model": "gpt-4.1", "usage": usage, "metadata": {"k": 1}})
    bot.post("/sessions/s/runs", {"id": "open", "status": "running", "input": "Weigh it."})
    calls = [{"id": "c", "type": "function", "function": {"name": "weigh", "arguments": "{}"}}]
    opened = bot.post("/runs/open/events", {"role": "assistant", "content": None, "tool_calls": calls}).json()
    bot.patch(f"/events/{opened['events'][1]['id']}", {"error": "the scale is broken"})
    bot.patch("/runs/open", {"status": "cancelled", "error": "by the user"})

    other = make_project("other")
    row = row_of(bot, "s")
    bring_in(other, row)

    there = make_bot(other)
    before, after = runs_of(bot, "s"), runs_of(there, "s")
    assert len(before) == 3
    for run in (*before, *after):
        for event in run["events"]:
            if event["kind"] == "tool_call":
                del event["created_at"]
    assert after == before
    again = there.get("/sessions/s").json()
    assert {name: again[name] for name in fields} == fields
    assert row_of(there, "s") == row
    assert bring_in(other, row).outcome == ImportOutcome.UNCHANGED


@pytest.mark.skipif(not REAL.exists(), reason=f"NOT RUN: {REAL.name} does not lie in ../shared/data")
def test_what_came_from_a_real_file_is_exported_message_by_message(bot, project):
    given = [json.loads(line) for line in REAL.read_text().split("\n")[:-1]]
    for row in given:
        bring_in(project, row)

    exported = {row["id"]: row_of(bot, row["id"]) for row in given}

    assert len(exported) == 100
    for row in given:
        # The name of a tool is that of the call; a result does not repeat it.
        messages = [{k: v for k, v in m.items() if (m["role"], k) != ("tool", "name")} for m in row["messages"]]
        assert exported[row["id"]]["messages"] == messages
        assert exported[row["id"]]["metadata"] == row["metadata"]


def test_c43_the_export_of_a_child_without_its_parent_can_be_imported(bot, make_bot):
    c43_sessions(bot)
    assert bot.delete("/sessions/P?children=reparent").status_code == 204

    row = row_of(bot, "C1")
    empty = make_project("empty")
    bring_in(empty, row)

    assert "barn" not in json.dumps(row)
    assert runs_of(make_bot(empty), "C1") == runs_of(bot, "C1")
    assert Session.objects.get(project=empty).parent is None


def test_a_fork_becomes_a_session_of_its_own_with_its_whole_lineage(bot, make_bot, project):
    trip = make_session(project, "trip", runs=2)
    hotel = make_session(project, "hotel", parent=trip, forked_at=1)
    append_turns(hotel, 2)
    other = make_project("other")

    bring_in(other, row_of(bot, "hotel"))

    assert runs_of(make_bot(other), "hotel") == runs_of(bot, "hotel")
    assert make_bot(other).get("/sessions/hotel").json()["own_run_count"] == 3
