"""Case C56: sessions with thousands of runs, huge answers, hundreds of tool calls, thousands of children."""

import json
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_session
from tests.queries.test_sessions import bulk_sessions

pytestmark = pytest.mark.django_db

CASE = json.loads((Path(__file__).parents[1] / "data" / "cases" / "C56-thousands-of-messages.json").read_text())
L1, L2, L3, MANY, L4 = CASE["input"]["generate"]
BUDGET = CASE["settings"]["token_budget"]
MEGABYTES = 3_000_000
CODE = "\n".join(f"    line {n}" for n in range(20))
LONG = {"strategy": "buffer", "max_input_tokens": BUDGET}


def look(client, path):
    """Return the page and how many queries it took, once what is found once is found."""
    client.get(path)
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(path)
    assert answer.status_code == 200
    assert len(answer.content) < MEGABYTES
    return answer.content.decode(), len(queries)


def talk(session, count):
    new_runs = [
        simple_turn(
            L1["input"].format(n=n), f"answer {n} with **bold**, a table\n\n|a|b|\n|-|-|\n|1|2|\n\n```\n{CODE}\n```"
        )
        for n in range(1, count + 1)
    ]
    append_runs(session=session, runs=new_runs, now=NOW)


def test_a_page_of_thousands_of_runs_shows_a_part_with_a_way_to_the_rest(client, project):
    session, short = make_session(project, "l1", settings=LONG), make_session(project, "short", settings=LONG)
    talk(session, L1["runs"])
    talk(short, 300)

    shown, queries = look(client, "/p/p/sessions/l1/")
    assert queries == look(client, "/p/p/sessions/short/")[1]
    assert "question 3000" in shown
    assert "question 1500" not in shown
    assert "question 1500" in look(client, "/p/p/sessions/l1/?run=1500")[0]
    assert 'id="run-2222"' in look(client, "/p/p/sessions/l1/?find=%22question+2222%22")[0]
    for tab in ("", "why/", "compare/?last_n=5", "replay/"):
        assert look(client, f"/p/p/sessions/l1/tune/{tab}")[1] == look(client, f"/p/p/sessions/short/tune/{tab}")[1], (
            tab
        )


def test_its_prompt_is_built_from_the_runs_that_fit(client, project):
    session = make_session(project, "l1", settings=LONG | {"model": "gpt-4"})
    talk(session, L1["runs"])
    prompt = session_prompt(session=session)
    assert (prompt.encoding, prompt.tokens.total <= BUDGET) == (CASE["settings"]["encoding"], True)
    assert [(each.last, each.fate) for each in prompt.fates][-1] == (L1["runs"], "kept")
    with CaptureQueriesContext(connection) as queries:
        session_prompt(session=session)
    assert len(queries) < 20


def test_texts_of_megabytes_are_shortened_with_a_way_to_all_of_them(client, project):
    characters = int(re.search(r"[\d,]+", L2["output"]).group(0).replace(",", ""))
    session = make_session(project, "l2", settings=LONG)
    append_runs(session=session, runs=[simple_turn("Go on.", "x" * characters) for _ in range(L2["runs"])], now=NOW)
    for path in ("", "tune/", "tune/why/", "tune/compare/?last_n=1", "tune/replay/", "then/?at=2"):
        look(client, f"/p/p/sessions/l2/{path}")


def test_hundreds_of_tool_calls_in_a_run_do_not_swell_its_page(client, project):
    costs = []
    for name, count in (("few", 20), ("l3", L3["tool_calls"])):
        session = make_session(project, name, settings=LONG)
        calls = [
            {"id": f"c{n}", "type": "function", "function": {"name": "search", "arguments": "{}"}} for n in range(count)
        ]
        results = [{"role": "tool", "tool_call_id": call["id"], "content": "r" * 5_000} for call in calls]
        asked = [{"role": "user", "content": "Search."}, {"role": "assistant", "content": None, "tool_calls": calls}]
        said = turn([*asked, *results, {"role": "assistant", "content": "Found."}])
        append_runs(session=session, runs=[said], now=NOW)
        costs.append(
            [look(client, f"/p/p/sessions/{name}/{tab}")[1] for tab in ("", "tune/", "tune/why/", "then/?at=1")]
        )
    assert costs[0] == costs[1]


def test_thousands_of_sessions_and_children_come_in_pages(client, project):
    few, many = make_session(project, "few", runs=1), make_session(project, "l4", runs=1)
    bulk_sessions(project, 300, parent=few)
    bulk_sessions(project, L4["children"], parent=many)
    bulk_sessions(project, MANY["sessions"], title="session {n}")
    for path in ("/p/p/sessions/", "/p/p/sessions/?q=session", "/p/p/sessions/?open=l4", "/p/p/sessions/l4/"):
        look(client, path)
    assert look(client, "/p/p/sessions/l4/")[1] == look(client, "/p/p/sessions/few/")[1]
