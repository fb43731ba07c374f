import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.plan import WarningCode
from sessions_app.domain.transcript import Event, EventKind, ToolCall
from sessions_app.models import Session, Summary, lineages
from sessions_app.queries.settings_controls import setting_rows
from sessions_app.services.prompts import effective_settings, session_plan, session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session
from sessions_app.templatetags.fates import warning_word
from tests.factories import NOW, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
HOSTILE = "</article><script>alert(1)</script>{{ 7 }} \"'&"


def page(client, path, status=200, **headers):
    response = client.get(path, headers=headers)
    assert response.status_code == status
    return response.content.decode()


def test_it_shows_what_was_said_and_what_the_next_prompt_needs(client, project):
    session = make_session(project, runs=3, title="Lost bag", settings={"strategy": "buffer"})
    shown = page(client, "/p/p/sessions/s/")
    prompt = session_prompt(session=session)
    assert "<h1>Lost bag</h1>" in shown
    assert "question 3" in shown
    assert f'<span class="num">{prompt.tokens.total}</span>' in shown
    assert f"of {prompt.budget:,} tokens" in shown


def test_another_projects_session_does_not_exist_here(client, project):
    make_session(make_project("strangers"), "theirs", runs=1)
    for path in ("", "fork/", "summary/", "tune/", "tune/why/", "tune/save/", "tune/default/"):
        assert client.get(f"/p/strangers/sessions/theirs/{path}").status_code in (404, 405)
        assert client.post(f"/p/p/sessions/theirs/{path}").status_code in (404, 405)
        assert client.get(f"/p/p/sessions/theirs/{path}").status_code in (404, 405)


@pytest.mark.parametrize("session_id", ["%00", "a%00b", "a b", "x" * 300])
@pytest.mark.parametrize("path", ["", "summary/", "tune/", "tune/why/", "tune/default/"])
def test_what_is_no_id_is_not_found(client, project, session_id, path):
    assert client.get(f"/p/p/sessions/{session_id}/{path}").status_code == 404
    assert client.post(f"/p/p/sessions/{session_id}/fork/", {"at": 1}).status_code == 404


def test_a_session_deep_in_a_tree_costs_what_its_parent_costs(client, project):
    costs = []
    session = make_session(project, "root", instructions="Be brief.")
    for depth in range(1, 60):
        session = make_session(project, f"d{depth}", parent=session, forked_at=0, instructions="Be brief.")
        if depth in (2, 59):
            costs.append(_cost(client, f"/p/p/sessions/d{depth}/"))
    assert costs[0]["queries"] == costs[1]["queries"]
    with CaptureQueriesContext(connection) as captured:
        client.get("/p/p/sessions/d59/")
    texts = [query["sql"] for query in captured if "instructions" in query["sql"]]
    assert all(sql.count('."instructions"') == 1 for sql in texts)


def test_it_sends_strangers_to_the_sign_in_page(client):
    make_session(runs=1)
    assert client.get("/p/p/sessions/s/")["Location"].startswith("/login/")


def test_text_of_runs_stays_text(client, project):
    session = make_session(project, title=HOSTILE, instructions=HOSTILE, settings={"strategy": "buffer"})
    append_runs(session=session, runs=[simple_turn(HOSTILE, HOSTILE)], now=NOW)
    for path in ("", "tune/", "tune/why/"):
        shown = page(client, f"/p/p/sessions/s/{path}")
        assert "<script>alert" not in shown
        assert "&lt;script&gt;alert(1)" in shown


def test_each_run_leads_to_what_the_model_saw_then(client, project):
    session = make_session(project, runs=5, settings={"last_n": 3})
    make_open_run(session)
    shown = page(client, "/p/p/sessions/s/")
    for position in range(1, 7):
        address = f"/p/p/sessions/s/then/?at={position}"
        link = f'href="{address}" aria-label="What the model saw at turn {position}"'
        assert link in shown


def test_a_warning_of_lost_runs_leads_to_the_ledger_where_they_can_be_summarized(client, project):
    make_session(project, runs=30, settings={"strategy": "summary", "max_input_tokens": 60, "on_gap": "warn"})
    link = '<a href="/p/p/sessions/s/summaries/">Summarize now, in the ledger</a>'
    assert link in page(client, "/p/p/sessions/s/")
    Session.objects.update(settings={"strategy": "summary", "max_input_tokens": 60, "on_gap": "warn", "offset": 30})
    assert link not in page(client, "/p/p/sessions/s/")


def test_the_labels_of_runs_are_said_to_be_for_the_next_prompt(client, project):
    session = make_session(project, runs=5)
    assert "Labels: for the next prompt, turn 6" in page(client, "/p/p/sessions/s/")
    make_open_run(session)
    assert "Labels: for the next prompt, turn 6" in page(client, "/p/p/sessions/s/")


def test_a_folded_line_opens_by_a_swap_and_by_a_plain_link(client, project):
    make_session(project, runs=100, settings={"strategy": "buffer"})
    swapped = page(client, "/p/p/sessions/s/?from=1&to=60", **HTMX)
    assert swapped.count("<article") == 40
    assert "Runs 1–20" in swapped
    assert "<html" not in swapped
    plain = page(client, "/p/p/sessions/s/?from=1&to=60")
    assert plain.count("<article") == 80


@pytest.mark.parametrize(
    "query", ["from=0&to=9", "from=9&to=1", "from=x&to=9", "from=5", "from=99999999999&to=1", "whole=x"]
)
def test_a_span_that_is_none_is_ignored(client, project, query):
    make_session(project, runs=3, settings={"strategy": "buffer"})
    assert page(client, f"/p/p/sessions/s/?{query}").count("<article") == 3


def test_filters_show_one_fate_and_count_all(client, project):
    session = make_session(project, runs=10, settings={"strategy": "buffer", "last_n": 4})
    assert session.last_position == 10
    shown = page(client, "/p/p/sessions/s/?show=unsent")
    assert shown.count("<article") == 6
    assert 'In the prompt <span class="num">4</span>' in shown
    assert 'Not sent <span class="num">6</span>' in shown


def test_the_strip_is_asked_for_after_the_page_has_opened(client, project):
    make_session(project, runs=5, settings={"strategy": "buffer"})
    assert '<svg class="strip"' not in page(client, "/p/p/sessions/s/")
    assert page(client, "/p/p/sessions/s/?strip=1", **HTMX).strip().startswith('<svg class="strip"')
    assert '<svg class="strip"' in page(client, "/p/p/sessions/s/?strip=1")


def test_the_page_opens_and_says_why_when_no_prompt_fits(client, project):
    make_session(project, runs=2, instructions="Answer at length. " * 20, settings={"max_input_tokens": 20})
    shown = page(client, "/p/p/sessions/s/")
    assert "No prompt can be built" in shown
    assert "the budget is 20" in shown
    assert shown.count("<article") == 2


@pytest.mark.parametrize("own", [{"max_input_tokens": 500}, {"strategy": "buffer", "model": "gpt-4"}])
def test_the_parts_of_the_budget_and_what_is_free_add_up(client, project, own):
    session = make_session(project, runs=9, settings=own, instructions="Be brief.")
    plan = session_plan(session=session)

    legend = page(client, "/p/p/sessions/s/").split('<table class="legend">')[1].split("</table>")[0]

    rows = re.findall(r'<th scope="row">.*?</span>(\w+).*?<td class="num">([\d,]+)</td>', legend)
    tokens = {word: int(number.replace(",", "")) for word, number in rows}
    reserve = tokens.pop("Reserve", 0)
    assert tokens["Overhead"] == plan.tokens.overhead
    assert (sum(tokens.values()), reserve) == (plan.budget, plan.reserve)


def test_lost_runs_are_named_with_ways_out(client, project):
    make_session(project, runs=30, settings={"strategy": "summary", "max_input_tokens": 60, "on_gap": "warn"})
    shown = page(client, "/p/p/sessions/s/")
    assert "are lost</b>" in shown
    assert "/p/p/sessions/s/tune/why/" in shown
    assert "tune/?max_input_tokens=" in shown


def test_it_says_how_summarizing_stands_and_tells_the_page_when_it_has_ended(client, project):
    session = make_session(project, runs=9)
    running = Summary.objects.create(session=session, number=1, covers_through=3, summarizer="x", created_at=NOW)
    assert "is summarizing runs 1–3" in strip_tags(page(client, "/p/p/sessions/s/"))
    assert 'hx-trigger="every 2s"' in page(client, "/p/p/sessions/s/summary/", **HTMX)
    running.status, running.error = "failed", "The endpoint did not answer."
    running.save()
    Session.objects.update(next_attempt_at=NOW)
    assert client.get("/p/p/sessions/s/summary/", headers=HTMX)["HX-Trigger"] == '{"look": {}}'
    assert "The endpoint did not answer." in page(client, "/p/p/sessions/s/")


SAID = simple_turn("What about it?", "It is fine.")
THOUGHT = replace(SAID, events=(*SAID.events, Event(EventKind.REASONING, "Hm.")))


@pytest.mark.parametrize("turn", [SAID, THOUGHT])
def test_ten_thousand_runs_cost_what_a_hundred_cost(client, project, turn):
    for name, batches in (("short", 1), ("long", 100)):
        session = make_session(project, name)
        for _ in range(batches):
            append_runs(session=session, runs=[turn] * 100, now=NOW)
    # Under the first, which are those that are built in, all runs are in the prompt.
    for settings in ({}, {"strategy": "buffer", "max_input_tokens": 800}):
        Session.objects.update(settings=settings)
        _assert_same_costs(client)


def _assert_same_costs(client):
    for path in ("", "?strip=1", "?show=unsent", "tune/why/", "tune/why/?max_runs=20", "tune/?max_runs=20"):
        short, long = (_cost(client, f"/p/p/sessions/{name}/{path}") for name in ("short", "long"))
        assert short["queries"] == long["queries"], path
        assert long["rows"] <= short["rows"] + (230 if "strip" in path else 3), path
        assert long["bytes"] < short["bytes"] * (3 if "strip" in path else 1.1), path
    # The whole prompt is built there, but what is shown of it does not grow.
    short, long = (_cost(client, f"/p/p/sessions/{name}/tune/") for name in ("short", "long"))
    assert short["queries"] == long["queries"]
    assert long["bytes"] < short["bytes"] * 1.1


def _cost(client, path):
    """Return what a page costs: queries, rows that the database answers with, bytes sent."""
    client.get(path)  # the first request also fills caches of the process
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
    assert response.status_code == 200
    selects = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    return {"queries": len(queries), "rows": sum(map(_row_count, selects)), "bytes": len(response.content)}


def _row_count(select):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM (SELECT 1 FROM ({select}) AS asked) AS counted".replace("%", "%%"))
        return cursor.fetchone()[0]


def test_a_fork_shows_its_parents_runs_dimmed(client, project):
    parent = make_session(project, runs=2, title="The parent", settings={"strategy": "buffer"})
    fork = fork_session(session=parent, at=2, now=NOW)
    shown = page(client, f"/p/p/sessions/{fork.public_id}/")
    assert "<span>Runs 1–2 from <a" in shown
    assert shown.count("run shared") == 2


def test_a_run_sent_without_its_tool_calls_says_so(client, project):
    session = make_session(project, settings={"format": "text", "strategy": "buffer"})
    called = replace(
        SAID, events=(*SAID.events, Event(EventKind.TOOL_CALL, tool=ToolCall("c", "look", "{}"), parent=1))
    )
    append_runs(session=session, runs=[SAID, called], now=NOW)

    shown = page(client, "/p/p/sessions/s/")

    assert shown.count("Sent without its tool calls") == 1
    assert "Word for word in the prompt: fits the budget; without its tool calls" in shown
    assert "<b>Tool calls are not sent</b>" in shown


@pytest.mark.parametrize("code", WarningCode)
def test_each_warning_has_a_heading(code):
    assert warning_word(code)


def test_a_setting_without_effect_is_gray_and_says_why_as_on_the_tune_page(client, project):
    settings = {"strategy": "buffer", "offset": 9, "max_runs": 3, "last_n": 5}
    make_session(project, runs=2, settings=settings)
    rows = re.findall(r"<dt>(\w+)</dt>(.*?)</div>", page(client, "/p/p/sessions/s/"), re.DOTALL)
    said = {name: strip_tags(rest).strip() for name, rest in rows}
    assert said["offset"].endswith("no effect: only summary uses it")
    assert said["last_n"].endswith("no effect: max_runs leaves no more runs anyway")
    assert "no effect" not in said["max_runs"]
    tuned = page(client, "/p/p/sessions/s/tune/")
    idle = set(re.findall(r'<p id="w-(\w+)"[^>]*class="ctl-why[^"]* off"', tuned))
    assert idle == {name for name, text in said.items() if "no effect" in text}


def test_reasons_of_settings_cost_no_query_where_there_is_no_parent(client, project, django_assert_num_queries):
    session = make_session(project, runs=2)
    saved = effective_settings(session=session)
    with django_assert_num_queries(0):
        rows = setting_rows(session, saved, saved)
    assert {row.name: row.no_effect for row in rows}["parent_depth"] == "no effect: this conversation has no parent"


@pytest.mark.parametrize("path", ["", "tune/", "tune/why/", "facts/?words=question", "then/?at=1"])
def test_a_page_at_work_while_the_parent_goes_answers_that_nothing_is_there(client, project, monkeypatch, path):
    parent = make_session(project, "parent", runs=3)
    make_session(project, "fork", parent=parent, forked_at=2)
    monkeypatch.setattr(lineages, "ancestors_of", lambda _session: [])
    assert client.get(f"/p/p/sessions/fork/{path}").status_code == 404
