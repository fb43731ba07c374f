import re
from html import unescape

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test.utils import CaptureQueriesContext

from sessions_app.services.prompts import session_prompt
from tests.factories import make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db

PATH = "/p/p/sessions/s/tune/compare/"
RESULT = {"HX-Request": "true", "HX-Target": "result"}


def page(client, query="", **headers):
    response = client.get(PATH + query, headers=headers)
    assert response.status_code == 200
    return unescape(response.content.decode())


def figures(shown):
    rows = re.findall(r'<th scope="row">(?:<span[^>]*></span>)?([^<]+)</th>((?:<td class="num">[^<]*</td>){3})', shown)
    return {name: re.findall(r">([^<]+)</td>", cells) for name, cells in rows}


def test_it_shows_the_figures_of_both_prompts_and_their_difference(client, project):
    session = make_session(project, runs=12, instructions="Be brief.", settings={"strategy": "buffer"})
    a, b = session_prompt(session=session), session_prompt(session=session, overrides={"last_n": 4})
    found = figures(page(client, "?last_n=4"))
    assert found["Runs the model cannot see"] == ["0", "8", "+8"]
    assert found["Runs in the prompt"] == ["12", "4", "\N{MINUS SIGN}8"]
    less = f"\N{MINUS SIGN}{a.tokens.total - b.tokens.total}"
    assert found["Prompt tokens"] == [str(a.tokens.total), str(b.tokens.total), less]
    assert found["Runs"] == [str(a.tokens.runs), str(b.tokens.runs), less]
    # gpt-4.1-mini asks $0.40 for a million tokens.
    assert found["Input cost"][0] == f"${a.tokens.total * 0.4e-6:.7f}"


def test_runs_that_fare_differently_are_listed_as_ranges_that_lead_to_why(client, project):
    make_session(project, runs=12, settings={"strategy": "buffer"})
    shown = page(client, "?last_n=4&max_runs=9")
    table = shown.split("Runs that fare differently")[1].split("</table>")[0]
    assert re.findall(r'class="num">([\d–]+)', table)[::2] == ["1–3", "4–8"]
    assert "Not sent: capped" in table
    assert "Not sent: skipped" in table
    assert 'href="/p/p/sessions/s/tune/why/?max_runs=9&last_n=4&only=changed"' in shown


def test_the_prompts_stand_side_by_side_with_what_both_send_told_in_a_line(client, project):
    make_session(project, runs=6, instructions="Be brief.", settings={"strategy": "buffer"})
    make_open_run(project.sessions.get(), "Where is it?")
    rows = page(client, "?last_n=4").split('aria-label="Prompts side by side"')[1]
    assert "System: instructions" in rows
    assert "Runs 3–6" in rows
    assert "question 1 → answer 1" in rows
    assert rows.count("not in this prompt") == 2
    assert "question 3" not in rows


def test_equal_texts_with_other_tokens_are_told_as_equal():
    row = {"kind": "same", "words": "System: summary", "tokens_a": 31, "tokens_b": 34}
    comparison = {"rows": [row], "is_same": False}
    told = render_to_string("tune/compare_rows.html", {"comparison": comparison, "sides": []})
    assert "System: summary: the same text, with other headings" in told
    assert "A 31, B 34 tokens" in told
    row["tokens_a"] = 34
    told = render_to_string("tune/compare_rows.html", {"comparison": comparison, "sides": []})
    assert "other headings" not in told
    assert "34 tokens" in told


def test_many_runs_that_one_alone_sends_are_folded(client, project):
    make_session(project, runs=60, settings={"strategy": "buffer"})
    rows = page(client, "?last_n=4").split('aria-label="Prompts side by side"')[1]
    assert rows.count("not in this prompt") == 7
    assert "Runs 4–53" in rows


def test_without_a_draft_both_are_the_same(client, project):
    make_session(project, runs=3)
    shown = page(client)
    assert "The draft does not differ from what is saved." in shown
    assert "Both send the same, word for word." in shown
    assert "Runs that fare differently" not in shown


def test_only_what_differs_is_listed_unless_everything_is_asked_for(client, project):
    make_session(project, runs=3, settings={"strategy": "buffer"})
    settings = re.compile(r"<code>(\w+)</code></th>")
    assert settings.findall(page(client, "?last_n=2")) == ["last_n"]
    everything = page(client, "?last_n=2&show=all")
    assert {"strategy", "model", "last_n", "format"} <= set(settings.findall(everything))
    assert 'href="/p/p/sessions/s/tune/compare/?last_n=2"' in everything


@pytest.mark.parametrize(("query", "said"), [("?max_runs=x", "max_runs must be"), ("?max_input_tokens=5", "Budget")])
def test_a_side_without_a_prompt_says_why_beside_the_figures_of_the_other(client, project, query, said):
    session = make_session(project, runs=3, instructions="Be brief.", settings={"strategy": "buffer"})
    shown = page(client, query)
    assert "Draft: no prompt" in shown
    assert said in shown
    assert figures(shown)["Prompt tokens"] == [str(session_prompt(session=session).tokens.total), "–", "–"]


def test_a_past_turn_is_compared_as_that_turn(client, project):
    make_session(project, runs=12, settings={"strategy": "buffer"})
    shown = page(client, "?last_n=2&at=5")
    assert "Outcome of turn 5" in shown
    assert figures(shown)["Runs the model cannot see"] == ["0", "2", "+2"]


def test_a_move_of_a_control_swaps_the_result_and_keeps_the_address(client, project):
    make_session(project, runs=6, settings={"strategy": "buffer"})
    response = client.post(PATH, {"last_n": "2", "query": "And?", "tab": "compare"}, headers=RESULT)
    assert response["HX-Replace-Url"] == f"{PATH}?last_n=2&query=And%3F"
    assert b'<section class="bench-main" id="result"' in response.content
    plain = client.post(PATH, {"last_n": "2", "query": "And?"})
    assert plain["Location"] == f"{PATH}?last_n=2&query=And%3F"


def test_tabs_keep_the_draft_and_the_question(client, project):
    make_session(project, runs=6)
    shown = page(client, "?last_n=2&query=And")
    for tab in ("", "why/", "compare/"):
        assert f'href="/p/p/sessions/s/tune/{tab}?last_n=2&query=And"' in shown


def test_it_asks_the_database_the_same_whatever_the_length(client, project):
    counts = []
    for name, runs in (("few", 60), ("many", 1200)):
        make_session(project, name, runs=runs, settings={"strategy": "buffer", "max_input_tokens": 500})
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(f"/p/p/sessions/{name}/tune/compare/?last_n=5").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_nobody_compares_what_is_not_theirs(client, project):
    make_session(make_project("other"), "s")
    assert client.get(PATH).status_code == 404
