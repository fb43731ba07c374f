import csv
import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.domain.replays import replay as domain_replay
from sessions_app.services import replays
from sessions_app.services.kept_replays import KeptReplays
from sessions_app.services.prompts import session_prompt
from sessions_app.services.replays import replay_session
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import update_session
from sessions_app.views import tune_replay
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db

PATH = "/p/p/sessions/s/tune/replay/"
RESULT = {"HX-Request": "true", "HX-Target": "result"}


def page(client, query="", **headers):
    response = client.get(PATH + query, headers=headers)
    assert response.status_code == 200
    return unescape(response.content.decode())


def totals(shown):
    boxes = re.findall(r'<div class="total"><h2[^>]*>([^<]+)</h2>(.*?)</div>', shown, re.DOTALL)
    return {name: re.findall(r'<span class="num">([^<]+)</span>', lines) for name, lines in boxes}


def test_it_sums_up_what_would_have_happened_under_both(client, project):
    session = make_session(project, runs=12, settings={"strategy": "buffer"})
    a, b = replay_session(session=session, settings={"/a": {}, "/b": {"last_n": 4}}, now=NOW)
    found = totals(page(client, "?last_n=4"))
    assert found["Cannot see, last turn"] == ["0 runs", "7 runs"]
    assert found["Prompt tokens, all turns"] == [f"{a.totals.tokens:,}", f"{b.totals.tokens:,}"]
    assert found["Turns with lost runs"] == ["0", "0"]
    assert found["Summaries"] == ["none", "none"]


def every_replay_is_long(monkeypatch):
    for module in (tune_replay, replays):
        monkeypatch.setattr(module, "LIVE", 0)
    monkeypatch.setattr(replays, "_KEPT", KeptReplays())


def test_without_a_draft_there_is_one_line(client, project):
    make_session(project, runs=5, settings={"strategy": "buffer"})
    shown = page(client)
    assert totals(shown)["Cannot see, last turn"] == ["0 runs"]
    assert 'class="line-a"' in shown
    assert 'class="line-b"' not in shown


def test_every_turn_is_a_column_that_tells_its_figures_and_leads_to_them(client, project):
    session = make_session(project, runs=12, settings={"strategy": "buffer"})
    shown = page(client, "?last_n=4&query=And")
    assert shown.count('<a class="col"') == 12
    a, b = (session_prompt(session=session, overrides=each, at=8).tokens.total for each in ({}, {"last_n": 4}))
    words = f"turn 8: A {a} tokens, cannot see 0 · B {b} tokens, cannot see 3"
    assert f"<title>{words}</title>" in shown
    assert f'href="{PATH}?last_n=4&query=And&turn=8#turn-x"' in shown
    assert words in page(client, "?last_n=4&turn=8").split('id="readout"')[1].split("</output>")[0]


def test_a_turn_is_shown_exactly_with_the_ways_to_its_prompt(client, project):
    session = make_session(project, runs=12, settings={"strategy": "buffer"})
    turn = page(client, "?last_n=4&turn=8").split('id="turn-x"')[1].split("</section>")[0]
    rows = [
        re.findall(r'<td class="num(?: bad)?">([^<]+)</td>', row) for row in turn.split("<tbody>")[1].split("</tr>")[:2]
    ]
    tokens = [session_prompt(session=session, overrides=each, at=8).tokens.total for each in ({}, {"last_n": 4})]
    # Tokens, cannot see, in the prompt, in the summary, capped, skipped, pruned, lost.
    assert rows[0][:8] == [str(tokens[0]), "0", "7", "0", "0", "0", "0", "0"]
    assert rows[1][:8] == [str(tokens[1]), "3", "4", "0", "0", "3", "0", "0"]
    assert 'href="/p/p/sessions/s/tune/?last_n=4&at=8"' in turn
    assert 'href="/p/p/sessions/s/tune/compare/?last_n=4&at=8"' in turn
    assert f'href="{PATH}?last_n=4&turn=9"' in turn


def test_the_table_has_a_hundred_turns_a_page(client, project):
    make_session(project, runs=230, settings={"strategy": "buffer"})
    shown = page(client, "?last_n=4&as=table&first=150")
    turns = re.findall(r'<tr id="turn-(\d+)">', shown)
    assert (turns[0], turns[-1], len(turns)) == ("101", "200", 100)
    assert "question 150" in shown
    assert 'href="/p/p/sessions/s/tune/?last_n=4&at=150"' in shown
    for name, first in (("first", 1), ("before", 1), ("after", 201), ("last", 201)):
        assert f'id="page-{name}" href="{PATH}?last_n=4&as=table&first={first}"' in shown
    assert 'class="plots"' not in shown


def looked_up(result):
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    asked = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    return turn([*asked, {"role": "tool", "tool_call_id": "c", "content": result}])


def test_cut_tool_results_stand_at_each_turn_and_in_the_table_where_there_are_any(client, project):
    session = make_session(project, settings={"strategy": "buffer", "tool_result_max_tokens": 20})
    append_runs(session=session, runs=[looked_up("long " * 60), simple_turn("Bye.", "Bye.")], now=NOW)
    shown = page(client, "?tool_result_max_tokens=unlimited")
    assert totals(shown)["Turns with cut tool results"] == ["1", "0"]
    for text in (shown, page(client, "?tool_result_max_tokens=unlimited&as=table")):
        assert "Results cut" in text
    lines = client.get("/p/p/sessions/s/tune/replay.csv?tool_result_max_tokens=unlimited").getvalue().decode()
    rows = list(csv.DictReader(lines.splitlines()))
    assert [(row["a_cut_results"], row["b_cut_results"]) for row in rows] == [("0", "0"), ("1", "0")]


def test_how_long_summaries_are_taken_to_be_is_told_of_each(client, project):
    make_session(project, runs=3, settings={"max_summary_tokens": 300})
    assert "as long as <code>max_summary_tokens</code> allows: 300 tokens. A" in page(client)
    assert "allows: A 300 tokens, B 80 tokens. A" in page(client, "?max_summary_tokens=80")
    assert "allows: A 300 tokens. A" in page(client, "?strategy=buffer")


def test_what_it_takes_for_granted_is_told_for_each(client, project):
    session = make_session(project, runs=3, settings={"strategy": "buffer"})
    shown = page(client, "?strategy=summary")
    for replay in replay_session(session=session, settings={"/a": {}, "/b": {"strategy": "summary"}}, now=NOW):
        for sentence in replay.assumptions:
            assert sentence in shown


def test_ten_thousand_turns_stay_a_few_hundred_columns(client, project, monkeypatch):
    make_session(project, runs=1000, settings={"strategy": "buffer", "max_input_tokens": 300})
    shown = page(client, "?last_n=4")
    assert shown.count('<a class="col"') == 200
    assert "<title>turns 996–1,000: A " in shown
    assert "5 a column" in shown


def test_both_need_as_many_queries_whatever_the_length(client, project):
    counts = []
    for name, runs in (("few", 60), ("many", 1200)):
        make_session(project, name, runs=runs, settings={"strategy": "buffer", "max_input_tokens": 500})
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/p/p/sessions/{name}/tune/replay/?last_n=5").status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("query", ["?as=chart", "?as=table"])
def test_a_long_replay_is_computed_when_somebody_asks_for_it(client, project, monkeypatch, query):
    every_replay_is_long(monkeypatch)
    make_session(project, runs=12, settings={"strategy": "buffer"})
    shown = page(client, f"{query}&last_n=4")
    assert "Replay 12 turns" in shown
    assert "12 prompts each are decided" in shown
    assert 'class="totals"' not in shown
    (go,) = re.findall(r'id="replay-go" href="([^"]+)"', shown)
    done = unescape(client.get(go).content.decode())
    assert 'class="totals"' in done
    # A changed draft asks anew.
    assert 'name="go"' not in done.split('id="settings"')[1].split("</form>")[0]
    assert f"last_n=4&{'as=table&' if 'table' in query else ''}go=1" in go


def test_one_long_replay_is_computed_at_a_time(client, project, monkeypatch):
    every_replay_is_long(monkeypatch)
    make_session(project, runs=3, settings={"strategy": "buffer"})
    with replays._LONG_ONES:
        assert "Another long replay is being computed" in page(client, "?go=1")
    assert "Another long replay is being computed" not in page(client, "?go=1")


def test_a_long_replay_is_computed_once_for_its_charts_table_turns_and_files(client, project, monkeypatch):
    every_replay_is_long(monkeypatch)
    make_session(project, runs=12, settings={"strategy": "buffer"})
    computed = []

    def listening(*given, **more):
        computed.append(1)
        return domain_replay.replay(*given, **more)

    monkeypatch.setattr(replays, "replay", listening)
    for query in ("?last_n=4&go=1", "?last_n=4&go=1&as=table", "?last_n=4&go=1&turn=3"):
        assert 'class="totals"' in page(client, query)
    assert client.get("/p/p/sessions/s/tune/replay.csv?last_n=4").status_code == 200
    assert computed == [1]


def test_what_would_take_too_long_is_not_replayed_and_the_other_is(client, project, monkeypatch):
    monkeypatch.setattr(tune_replay, "LONGEST", 5)
    make_session(project, runs=12, settings={"strategy": "buffer"})
    shown = page(client, "?strategy=task")
    assert "Draft: not replayed" in shown
    assert "To replay 12 turns under these settings takes about" in shown
    assert totals(shown)["Cannot see, last turn"] == ["0 runs"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?keep_tool_results=3", "keep_tool_results 3 cannot be replayed with buffer"),
        ("?format=seed&strategy=task", "In the format seed, task cannot be replayed"),
        ("?max_runs=x", "max_runs must be a whole number from 1"),
        ("?model=unheard-of&max_input_tokens=unlimited", "unheard-of"),
    ],
)
def test_a_draft_that_cannot_be_replayed_says_why_beside_the_saved_settings(client, project, query, said):
    make_session(project, runs=4, settings={"strategy": "buffer"})
    shown = page(client, query)
    assert "Draft: not replayed" in shown
    assert said in shown.split('id="view"')[1]
    assert totals(shown)["Cannot see, last turn"] == ["0 runs"]


def test_turns_without_a_prompt_are_counted_and_the_first_says_why(client, project):
    make_session(project, runs=6, settings={"strategy": "buffer"})
    shown = page(client, "?autoprune=false&max_input_tokens=40")
    assert "Draft: 3 turns without a prompt" in shown
    assert "Turn 4 is the first." in shown
    assert "B no prompt" in shown


def test_a_conversation_without_runs_has_nothing_to_replay(client, project):
    make_session(project)
    shown = page(client, "?last_n=4")
    assert "No turns to replay yet" in shown
    assert client.get("/p/p/sessions/s/tune/replay.csv").status_code == 200


def test_the_open_run_is_the_last_turn(client, project):
    session = make_session(project, runs=3, settings={"strategy": "buffer"})
    make_open_run(session, "Where is it?")
    assert "of 4</span>" in page(client)


def test_the_files_have_what_the_replay_has(client, project):
    session = make_session(project, runs=12, settings={"strategy": "buffer"})
    a, b = replay_session(session=session, settings={"/a": {}, "/b": {"last_n": 4}}, now=NOW)
    shown = page(client, "?last_n=4")
    response = client.get("/p/p/sessions/s/tune/replay.csv?last_n=4")
    assert 'href="/p/p/sessions/s/tune/replay.csv?last_n=4"' in shown
    rows = list(csv.DictReader(b"".join(response.streaming_content).decode().splitlines()))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert [int(row["turn"]) for row in rows] == list(range(1, 13))
    assert [int(row["a_tokens"]) for row in rows] == a.columns["tokens"]
    assert [int(row["b_skipped"]) for row in rows] == b.columns["skipped"]
    answer = client.get("/p/p/sessions/s/tune/replay.json?last_n=4")
    assert "attachment" in answer["Content-Disposition"]
    told = json.loads(answer.content)
    assert told["b"]["columns"]["tokens"] == b.columns["tokens"]
    assert told["a"]["totals"]["tokens"] == a.totals.tokens


def test_a_move_of_a_control_swaps_the_result_and_keeps_the_address(client, project):
    make_session(project, runs=6, settings={"strategy": "buffer"})
    response = client.post(PATH, {"last_n": "2", "tab": "replay", "turn": "3"}, headers=RESULT)
    assert response["HX-Replace-Url"] == f"{PATH}?last_n=2&turn=3"
    assert b'<section class="bench-main" id="result"' in response.content
    assert client.post(PATH, {"last_n": "2", "turn": "3"})["Location"] == f"{PATH}?last_n=2&turn=3"


@pytest.mark.parametrize(
    "query",
    ["?turn=0", "?turn=99999999999", "?turn=x", "?turn=-1", "?as=table&first=0", "?as=table&first=9999", "?as=x"],
)
def test_nonsense_in_an_address_is_no_error(client, project, query):
    make_session(project, runs=3)
    assert 'class="totals"' in page(client, query)


def test_nobody_replays_what_is_not_theirs(client, project):
    make_session(make_project("other"), "s")
    for path in (PATH, "/p/p/sessions/s/tune/replay.csv", "/p/other/sessions/s/tune/replay.json"):
        assert client.get(path).status_code == 404


def test_at_a_past_turn_the_settings_of_then_are_replayed_as_a(client, project):
    session = make_session(project, runs=3, settings={"strategy": "buffer", "last_n": 1})
    later = NOW + timedelta(hours=1)
    update_session(session=session, changes={"settings": {"last_n": 2}}, now=later)
    append_turns(session, 3, now=later + timedelta(hours=1))
    shown = page(client, "?at=3")
    then, today = replay_session(session=session, settings={"/a": {"last_n": 1}, "/b": {}}, now=NOW)
    assert totals(shown)["Prompt tokens, all turns"] == [str(then.totals.tokens), str(today.totals.tokens)]
    assert "Settings of turn 3" in shown.split('id="plots"')[1]
    assert "Then" not in shown.split('class="totals"')[1]


def test_at_a_past_turn_the_cursor_the_figures_and_the_table_stand_at_it(client, project):
    make_session(project, runs=8, settings={"strategy": "buffer"})
    shown = page(client, "?at=5")
    assert 'id="readout" aria-live="off">turn 5: ' in shown
    assert "Turn 5, replayed" in shown
    assert 'data-at="4"' in shown
    assert 'href="/p/p/sessions/s/tune/replay/?at=5&as=table#turn-5"' in shown
    assert '<tr id="turn-5" aria-current="true">' in page(client, "?at=5&as=table")
    assert 'aria-live="off">turn 2: ' in page(client, "?at=5&turn=2")


def test_made_anew_summaries_are_told_above_the_figures_with_the_way_to_what_happened(client, project):
    session = make_session(project, runs=4, settings={"strategy": "summary"})
    above = page(client, "?at=3").split('class="totals"')[0].split('id="view"')[1]
    assert "Replay makes summaries anew, at once and without failures, each as long as" in above
    assert "What really happened at turn 3" in above
    assert 'href="/p/p/sessions/s/tune/why/?at=3"' in above
    update_session(session=session, changes={"settings": {"strategy": "buffer"}}, now=NOW)
    assert "makes summaries anew" not in page(client)


@pytest.mark.parametrize(("on_gap", "is_told"), [("warn", True), ("error", False), ("stopgap", False)])
def test_a_gap_that_a_replay_cannot_show_is_told_above_the_figures(client, project, on_gap, is_told):
    make_session(project, runs=4, settings={"on_gap": "stopgap"})
    shown = page(client, f"?on_gap={on_gap}").split('class="totals"')[0]
    assert ("Replay cannot show <code>on_gap</code>" in shown) == is_told


def test_budgets_are_told_beside_the_sides_that_have_them(client, project):
    make_session(project, runs=4, settings={"strategy": "buffer", "max_input_tokens": 1_100})
    shown = page(client, "?max_input_tokens=1200")
    assert 'Saved<span class="muted">budget 1,100</span>' in shown
    assert 'Draft<span class="muted">budget 1,200</span>' in shown


@pytest.mark.parametrize("path", ["tune/compare/?last_n=0", "tune/replay/?as=table", "tune/replay/?last_n=0"])
def test_hostile_texts_stay_texts(client, project, path):
    hostile = "<script>alert(1)</script><img src=//evil.example/x>"
    session = make_session(project, runs=1, title=hostile, instructions=hostile, settings={"strategy": "buffer"})
    append_runs(session=session, runs=[simple_turn(hostile, hostile)], now=NOW)
    shown = client.get(f"/p/p/sessions/s/{path}").content.decode()
    assert "<script>alert" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;alert" in shown


def test_each_figure_is_explained_below_the_charts(client, project):
    make_session(project, runs=4, settings={"strategy": "buffer"})
    shown = page(client)
    told = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", shown.split('id="figures-t"')[1]))
    assert set(told) == set(totals(shown))
    assert told["Same beginning as the turn before"].startswith("How much of the prompts begins word for word")
    assert "of this session" in told["Input cost, part cached"]


def test_that_the_request_is_not_replayed_is_told_where_there_is_one(client, project):
    make_session(project, runs=4)
    said = "the query and the other inputs of this request are not part of it"
    assert said in page(client, "?query=Now%3F")
    assert said in page(client, "?at=3&context=Fact.")
    assert said not in page(client, "?at=3&last_n=2")


def test_followed_words_stay_above_replay_and_why(client, project):
    session = make_session(project)
    append_runs(session=session, runs=[simple_turn(text, "Fine.") for text in ("Blue bag.", "Hm.", "Hm?")], now=NOW)
    update_session(session=session, changes={"settings": {"strategy": "buffer", "last_n": 1}}, now=NOW)
    query = "?words=blue+bag&last_n=5"
    shown = page(client, query)
    assert "“blue bag” is back:" in re.sub(r"\s+", " ", shown)
    assert "(next turn)" in shown
    why = client.get(f"/p/p/sessions/s/tune/why/{query}").content.decode()
    assert "“blue bag” is back:" in why
