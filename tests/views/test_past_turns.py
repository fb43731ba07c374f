"""What the model saw at a turn."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.models import Project, Run
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session, update_session
from sessions_app.services.settings import save_project_settings
from tests.factories import NOW, append_turns, make_session
from tests.views import reading
from tests.views.reading import told

pytestmark = pytest.mark.django_db

PAGE = "/p/p/sessions/s/then/"


def page(client, path=PAGE, **texts):
    return reading.page(client, path, **texts)


def test_it_shows_the_prompt_of_the_turn_and_nothing_of_later_ones(client, project):
    make_session(project, runs=6)
    shown = page(client, at="4")
    assert "<h1>What the model saw at turn 4</h1>" in shown
    assert all(f"question {n}" in shown for n in range(1, 5))
    assert "answer 4" not in shown
    assert "question 5" not in shown
    assert "turn 4 of 6" in shown


def test_three_rows_tell_what_then_today_and_the_draft_send(client, project):
    Project.objects.update(created_at=NOW)
    session = make_session(project, settings={"strategy": "buffer", "last_n": 1}, now=NOW)
    append_turns(session, 6, now=NOW + timedelta(minutes=5))
    update_session(session=session, changes={"settings": {"last_n": 3}}, now=NOW + timedelta(hours=1))
    session.refresh_from_db()
    shown = page(client, at="6", last_n="4")
    # Of the five runs before: one then, three under the settings of today, four under the draft.
    sent = [session_prompt(session=session, at=6, as_saved=True, overrides={"last_n": n}) for n in (1, 3, 4)]
    for prompt in sent:
        assert f'<span class="num duel-n">{prompt.tokens.total}</span>' in shown
    assert "4 runs the model could not see" in shown
    assert "settings of draft B" in shown
    (row,) = re.findall(r"<code>last_n</code></th>(.*?)</tr>", shown)
    assert told(row).split() == ["1", "3", "4"]


def test_without_a_draft_there_is_no_row_of_it(client, project):
    make_session(project, runs=4)
    shown = page(client, at="3")
    assert ">Draft<" not in shown
    assert "They have not changed since" in shown


def test_each_run_that_it_could_not_see_has_its_reason_and_the_setting_with_its_layer(client, project):
    Project.objects.update(created_at=NOW)
    save_project_settings(project=project, changes={"max_runs": 5}, now=NOW, actor="ada", note="Few.")
    session = make_session(project, settings={"strategy": "buffer", "last_n": 3}, now=NOW)
    append_turns(session, 8, now=NOW + timedelta(minutes=5))
    text = told(page(client, at="8"))
    assert "max_runs 5: older ones are not remembered max_runs 5 version 1 of the project" in text
    assert "last_n 3: only the newest 3 runs last_n 3 version 1 of this session" in text


def test_what_would_differ_is_told_by_ranges_with_the_reason_of_each(client, project):
    make_session(project, runs=8)
    shown = page(client, at="8", last_n="2", strategy="buffer")
    text = told(shown[shown.index("What would differ") :])
    assert "1–5 In the prompt under Draft Not sent: skipped last_n 2: only the newest 2 runs" in text
    assert "6–7 In the prompt the same" in text
    of_today = page(client, at="8", last_n="2", strategy="buffer", **{"with": "a"})
    assert "settings of today" in told(of_today[of_today.index("What would differ") :])


@pytest.mark.parametrize(
    ("changed", "words"), [("", "Same fingerprint as the bot reported"), ("0", "Not the prompt of")]
)
def test_it_says_whether_the_bot_reported_the_same_fingerprint(client, project, changed, words):
    session = make_session(project)
    append_turns(session, 2)
    session.refresh_from_db()
    fingerprint = session_prompt(session=session, query="question 3").fingerprint
    turn = simple_turn("question 3", "answer 3")
    append_runs(session=session, runs=[turn], now=NOW)
    assert "The bot reported no fingerprint." in page(client, at="3")
    Run.objects.filter(position=3).update(prompt_fingerprint=fingerprint + changed)
    assert words in page(client, at="3")


def test_steps_lead_to_the_turns_beside_it_with_the_draft(client, project):
    make_session(project, runs=3)
    shown = page(client, at="2", last_n="1")
    assert f'href="{PAGE}?last_n=1&amp;at=1" aria-label="Previous turn, 1"' in shown
    assert f'href="{PAGE}?last_n=1&amp;at=3" aria-label="Next turn"' in shown
    assert "Previous turn" not in page(client, at="1")
    assert "Next turn" not in page(client, at="3")


def test_it_leads_to_tune_compare_and_replay_at_that_turn(client, project):
    make_session(project, runs=3)
    shown = page(client, at="2", last_n="1")
    for tab in ("", "compare/", "replay/"):
        assert f'href="/p/p/sessions/s/tune/{tab}?last_n=1&amp;at=2"' in shown


@pytest.mark.parametrize("at", ["", "0", "4", "-1", "x", "99999999999999999999"])
def test_what_is_no_turn_leads_to_the_newest_one(client, project, at):
    make_session(project, runs=3)
    response = client.get(PAGE, {"at": at}, follow=True)
    assert response.redirect_chain == [(f"{PAGE}?at=3", 302)]
    assert ("at is a turn from 1 to 3" in response.content.decode()) is bool(at)


def test_without_runs_it_leads_to_the_session(client, project):
    make_session(project)
    response = client.get(PAGE, follow=True)
    assert response.redirect_chain == [("/p/p/sessions/s/", 302)]
    assert "this session has no runs" in response.content.decode()


def test_a_turn_whose_prompt_cannot_be_built_says_what_needs_how_much(client, project):
    make_session(project, runs=3, instructions="Be kind. " * 50, settings={"max_input_tokens": 20})
    shown = page(client, at="2")
    assert "Then: no prompt" in shown
    assert "No prompt could be built." in shown
    assert "Instructions" in shown


def test_a_folded_line_opens_by_a_swap(client, project):
    make_session(project, runs=60)
    assert "Runs 4–22" in told(page(client, at="60"))
    swapped = client.get(PAGE, {"at": "60", "from": "4", "to": "22"}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in swapped
    assert "question 4" in swapped
    assert "question 23" not in swapped


def test_other_projects_turns_do_not_exist(client, project):
    make_session(Project.objects.create(slug="q", name="Q"), runs=2)
    assert client.get("/p/q/sessions/s/then/?at=1").status_code == 404
    assert client.get(PAGE, {"at": "1"}).status_code == 404


def test_hostile_texts_stay_texts(client, project):
    session = make_session(project, title="<script>alert(1)</script>", instructions="<img src=x onerror=alert(2)>")
    append_runs(session=session, runs=[simple_turn("<b>q</b>", "<script>a</script>")] * 2, now=NOW)
    shown = page(client, at="2", last_n="<i>")
    assert not re.search(r"<script>a|<img src=x|<b>q|<i>", shown)


def test_its_queries_are_as_many_for_few_runs_as_for_many(client, project):
    few, many = (
        make_session(project, name, runs=n, settings={"last_n": 3}) for name, n in (("few", 12), ("many", 150))
    )
    counts = []
    for session in (few, many):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page(client, f"/p/p/sessions/{session.public_id}/then/", at=str(session.last_position))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_it_tells_what_was_seen_only_in_part(client, project):
    parent = make_session(project, "parent", runs=4, title="Trip")
    make_session(project, "fork", runs=2, parent=parent, forked_at=2)

    page = client.get("/p/p/sessions/fork/then/?at=4").content.decode()

    assert "Not in this fork" in page
    assert 'href="/p/p/sessions/parent/?run=3&amp;from=3&amp;to=4#run-3">Trip</a> behind run 2' in page
    assert "What else was missing" not in client.get("/p/p/sessions/parent/then/?at=4").content.decode()


def looked_up(result):
    """A turn whose answer comes from a tool."""
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return turn(
        [
            {"role": "user", "content": "Look it up."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": result},
            {"role": "assistant", "content": "Done."},
        ]
    )


def test_a_cut_tool_result_stands_beside_the_runs_that_it_could_not_see(client, project):
    Project.objects.update(created_at=NOW - timedelta(days=1))
    session = make_session(project, settings={"strategy": "buffer", "tool_result_max_tokens": 20})
    append_runs(session=session, runs=[looked_up("long " * 60)], now=NOW + timedelta(minutes=1))
    append_turns(session, 2, now=NOW + timedelta(minutes=2))
    text = told(page(client, at="3"))
    assert "0 runs it could not see 1 tool result cut" in text
    assert "Every earlier run was in the prompt, 1 of them with a cut tool result." in text
    assert re.search(r"A tool result cut 20 of 6\d tokens : its beginning is in the prompt, its end is not\.", text)


def test_without_a_cut_result_every_earlier_run_stands_alone(client, project):
    make_session(project, runs=3)
    text = told(page(client, at="3"))
    assert "Every earlier run was in the prompt." in text
    assert "tool result" not in text
    assert "There is no earlier run." in told(page(client, at="1"))


def test_other_words_can_be_looked_for_behind_the_first(client, project):
    make_session(project, runs=3)
    shown = page(client, at="3", words="answer 1")
    box = shown[shown.index('class="then-f"') : shown.index("</form>", shown.index('class="then-f"'))]
    assert 'name="words" type="search" value="answer 1"' in box
    assert "“answer 1”: word for word run 1 in the prompt" in told(box)
    assert 'href="/p/p/sessions/s/facts/?words=answer%201&amp;at=3"' in box


def test_what_only_the_parent_says_behind_the_fork_is_named_where_the_fork_lacks_it(client, project):
    parent = make_session(project, "parent", runs=2, title="Boards")
    fork = fork_session(session=parent, at=1, now=NOW, public_id="s")
    append_runs(session=parent, runs=[simple_turn("Two longboards.", "Noted.")], now=NOW)
    append_turns(fork, 2)
    shown = page(client, at="3", words="longboards")
    assert "not said yet no run says it before Said in Boards , run 3, behind the fork" in told(shown)
    assert 'href="/p/p/sessions/parent/facts/?words=longboards"' in shown
    assert "behind the fork" not in told(page(client, at="3", words="question 1"))
