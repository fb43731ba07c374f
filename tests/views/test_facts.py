"""The page on which a fact is followed."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.models import Project, Session
from sessions_app.services import ways_back
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, append_turns, make_session, make_summary
from tests.views import reading
from tests.views.reading import told

pytestmark = pytest.mark.django_db

PAGE = "/p/p/sessions/s/facts/"
SAID = "My mother wears a knee brace."


@pytest.fixture
def session(project):
    """Return a conversation whose first run says it, in which the summary drops it before turn 6."""
    Project.objects.update(created_at=NOW - timedelta(days=1))
    session = make_session(project, settings={"offset": 1})
    append_runs(session=session, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    for number in range(1, 7):
        append_turns(session, now=NOW + timedelta(minutes=number))
    first = make_summary(session, 1, 2, f"They talk. {SAID}", minute=3)
    session.summary = make_summary(session, 2, 4, "They talk.", minute=5, predecessor=first)
    session.save(update_fields=["summary"])
    return session


def page(client, path=PAGE, **texts):
    return reading.page(client, path, **texts)


def test_without_words_it_asks_for_some(client, session):
    shown = page(client)
    assert "Did the bot forget something?" in shown
    assert 'name="words"' in shown
    assert "turn by turn" not in shown


def test_it_tells_where_it_was_over_the_turns_and_at_which_summary_it_left(client, session):
    text = told(page(client, words="Knee  brace"))
    assert "said in 1 run of 7" in text
    assert "Missing in turns 6 to 7: left at summary #2, which covers run 1 without it" in text
    assert "1 Not said yet run 1 says it first; from turn 2 on it can be in a prompt 2–3 Word for word" in text
    assert "2–3 Word for word run 1 in the prompt 4–5 In the summary #1" in text
    assert "word for word, 2 turns" in text
    assert "nowhere, 2 turns" in text


def test_hits_are_marked_in_the_run_and_in_the_summary_that_dropped_it(client, session):
    shown = page(client, words="knee brace")
    run = shown[shown.index('<article class="run') : shown.index("</article>")]
    assert "My mother wears a <mark>knee brace</mark>." in run
    card = shown[shown.index('<section class="sumcard"') : shown.index("</section>", shown.index('class="sumcard"'))]
    assert "They talk.<del> My mother wears a <mark>knee brace</mark>.</del>" in card
    assert "From summary #1 to #2" in card
    assert "the words were in #1 and are not in #2" in card
    assert 'href="/p/p/sessions/s/summaries/?entry=2"' in card
    assert "Runs 2–4 , no hit" in told(shown)


def test_a_limit_of_the_session_that_leaves_its_summaries_less_room_is_named_with_what_changes_it(client, session):
    assert "set on this session" not in page(client, words="knee brace")
    session.settings = {"offset": 1, "max_summary_tokens": 80}
    session.save(update_fields=["settings"])
    shown = page(client, words="knee brace")
    assert "max_summary_tokens 80 is set on this session; built in is 512" in told(shown)
    assert 'href="/p/p/sessions/s/tune/?max_summary_tokens=512"' in shown
    assert 'href="/p/p/sessions/s/summaries/1/use/"' in shown


def test_turns_lead_to_what_the_model_saw_and_ways_to_tune_and_the_ledger(client, session):
    shown = page(client, words="knee brace", at="8")
    assert 'href="/p/p/sessions/s/then/?at=6&amp;words=knee+brace"' in shown
    assert 'href="/p/p/sessions/s/tune/?offset=7&amp;words=knee+brace"' in shown
    assert 'href="/p/p/sessions/s/tune/compare/?offset=7&amp;words=knee+brace"' in shown
    assert 'href="/p/p/sessions/s/summaries/2/edit/"' in shown
    assert 'href="/p/p/sessions/s/summaries/?entry=1"' in shown
    assert 'href="/p/p/sessions/s/fork/?at=1"' in shown


def test_the_ways_are_those_at_the_turn_that_is_asked_for(client, session):
    for texts in ({"at": "6"}, {}):
        shown = page(client, words="knee brace", **texts)
        assert "Ways to bring it back at turn 6" in told(shown)
        assert 'href="/p/p/sessions/s/tune/?offset=5&amp;at=6&amp;words=knee+brace"' in shown
        assert "Edit summary" not in shown
    assert "offset 5: word for word, and keeps it to the newest turn" in told(shown)
    assert 'href="?words=knee+brace&amp;at=7" tabindex="-1"' in shown


def test_badges_of_runs_say_that_they_are_of_the_next_prompt(client, session):
    assert "next prompt: in the summary" in told(page(client, words="knee brace"))


def test_a_question_that_says_it_itself_is_not_nowhere(client, session):
    append_runs(session=session, runs=[simple_turn("Which knee brace?", "Hers.")], now=NOW + timedelta(minutes=9))
    text = told(page(client, words="knee brace"))
    assert "Missing in turns 6 to 7; at 8 only the question itself says it: left at summary #2" in text
    assert "only in the question, 1 turn" in text


def test_the_past_turn_says_whether_its_prompt_has_it(client, session):
    then = "/p/p/sessions/s/then/"
    assert "“knee brace”: word for word run 1 in the prompt" in told(page(client, then, at="2", words="knee brace"))
    missing = page(client, then, at="6", words="knee brace")
    assert "“knee brace”: nowhere summary #2 covers run 1 without it" in told(missing)
    assert 'href="/p/p/sessions/s/then/?at=7&amp;words=knee+brace"' in missing
    assert "Was it in this prompt?" in page(client, then, at="6")


def test_words_that_are_said_but_not_in_a_row_lead_to_the_runs_that_have_most_of_them(client, session):
    append_runs(session=session, runs=[simple_turn("We were seated in row 4, not together.", "I see.")], now=NOW)
    shown = page(client, words="seated together")
    assert "But all of the words are said, not in a row: run 8" in told(shown)
    assert 'href="/p/p/sessions/s/?run=8&amp;whole=8#run-8"' in shown
    assert "Edit summary" not in shown
    assert "But most of the words are said: run 8" in told(page(client, words="seated apart together"))


def test_a_complaint_in_other_words_is_no_all_clear(client, session):
    turns = ["On Thursdays I have to go, I coach a team.", "I told you that I coach on Thursdays."]
    append_runs(session=session, runs=[simple_turn(text, "I see.") for text in turns], now=NOW)

    shown = page(client, words="I coach on Thursdays")

    assert 'class="probe-v also"' in shown
    assert "These runs say most of the words, not in a row; what was forgotten may have been told there: run 8" in told(
        shown
    )
    assert "?run=9&amp;whole=9" not in shown


def test_what_nobody_says_leads_on(client, session):
    shown = page(client, words="ankle")
    assert "No run of this conversation says “ankle”" in shown
    assert "Nor does any other of its tree." in shown
    assert 'href="/p/p/sessions/?q=ankle"' in shown


def test_what_the_parent_says_behind_the_fork_is_told_with_where(client, project):
    parent = make_session(project, "parent", runs=2)
    fork = fork_session(session=parent, at=1, now=NOW, public_id="s")
    append_turns(fork, 2)
    append_runs(session=parent, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    shown = page(client, words="knee brace")
    assert "said in the parent after this fork began" in told(shown)
    assert 'href="/p/p/sessions/parent/facts/?words=knee+brace"' in shown
    assert 'href="/p/p/sessions/parent/fork/?at=3"' in shown


def test_a_complaint_that_says_the_word_itself_does_not_hide_that_only_the_parent_was_told(client, project):
    parent = make_session(project, "parent", runs=2, title="Boards")
    fork = fork_session(session=parent, at=1, now=NOW, public_id="s")
    append_runs(session=parent, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    append_turns(parent, 1)
    append_runs(session=fork, runs=[simple_turn("I told you of the knee brace!", "You did not.")], now=NOW)
    shown = page(client, words="knee brace")
    assert "Also said where this conversation does not see it: run 3 of Boards, after this fork began" in told(shown)
    assert "circle-check" not in shown[shown.index('class="probe-v also"') : shown.index('class="probe-s"')]
    assert "It is there." not in shown
    assert 'href="/p/p/sessions/parent/fork/?at=3"' in shown
    assert 'href="/p/p/sessions/parent/fork/?at=4"' in shown
    assert "A new fork does not get this conversation's own run 2: they stay here." in told(shown)


def test_a_session_without_runs_has_nothing_to_follow(client, project):
    make_session(project)
    assert "No run of this conversation says" in page(client, words="x")


@pytest.mark.parametrize(
    "words", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7|add:7 }}", "a" * 999]
)
def test_hostile_words_stay_words(client, project, words):
    session = make_session(project, title="<b>t</b>")
    append_runs(session=session, runs=[simple_turn(f"{words} <i>q</i>", "<script>a</script>")] * 3, now=NOW)
    shown = page(client, words=words)
    assert not re.search(r"<script>a|<img src=x|<b>t|<i>q", shown)
    assert "said in 3 runs of 3" in told(shown)


@pytest.mark.parametrize("at", ["0", "-1", "x", "9999999999", "9"])
def test_what_is_no_turn_is_passed_over(client, session, at):
    assert "Ways to bring it back at turn 6" in told(page(client, words="knee brace", at=at))


def test_other_projects_facts_do_not_exist(client, project):
    make_session(Project.objects.create(slug="q", name="Q"), runs=2)
    assert client.get("/p/q/sessions/s/facts/?words=question").status_code == 404
    assert client.get(PAGE, {"words": "question"}).status_code == 404


def test_its_queries_are_as_many_for_few_runs_as_for_many(client, project):
    counts = []
    for name, others in (("few", 12), ("many", 150)):
        session = make_session(project, name, settings={"strategy": "buffer", "last_n": 3})
        append_runs(session=session, runs=[simple_turn(SAID, "Noted.")], now=NOW)
        append_turns(session, others)
        with CaptureQueriesContext(connection) as queries:
            page(client, f"/p/p/sessions/{name}/facts/", words="knee brace")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_word_that_every_run_says_is_followed_too(client, project):
    make_session(project, runs=150, settings={"strategy": "buffer", "last_n": 2})
    shown = page(client, words="question")
    assert "said in 150 runs of 150" in told(shown)
    assert shown.count("<article") == 30
    assert Session.objects.count() == 1


def test_words_go_along_to_tune_which_marks_them_and_says_whether_they_are_back(client, session):
    tune = "/p/p/sessions/s/tune/"
    missing = page(client, tune, at="6", words="knee brace")
    assert "“knee brace” is not in B: summary #2 covers run 1 without it" in told(missing)
    assert 'href="/p/p/sessions/s/tune/compare/?at=6&amp;words=knee+brace"' in missing
    assert '<input type="hidden" name="words" value="knee brace">' in missing
    for path in (tune, f"{tune}compare/"):
        shown = page(client, path, at="6", words="knee brace", offset="5")
        assert "“knee brace” is back: run 1 in the prompt, word for word" in told(shown)
        assert "My mother wears a <mark>knee brace</mark>." in shown
    assert "<mark>" not in page(client, tune, at="6", offset="5")


def test_a_past_turn_offers_the_ways_and_marks_the_words_in_its_prompt(client, session):
    then = "/p/p/sessions/s/then/"
    shown = page(client, then, at="6", words="knee brace")
    assert "Ways to bring “knee brace” back" in told(shown)
    assert 'href="/p/p/sessions/s/tune/?offset=5&amp;at=6&amp;words=knee+brace"' in shown
    there = page(client, then, at="2", words="knee brace")
    assert "My mother wears a <mark>knee brace</mark>." in there
    assert "Ways to bring" not in there


def test_a_past_turn_whose_question_says_the_words_is_told_so(client, session):
    append_runs(session=session, runs=[simple_turn("Which knee brace?", "Hers.")], now=NOW + timedelta(minutes=9))
    shown = page(client, "/p/p/sessions/s/then/", at="8", words="knee brace")
    assert "“knee brace”: only in the question only the question itself says it" in told(shown)
    assert "Ways to bring “knee brace” back" in told(shown)


def test_a_way_says_what_the_prompt_needs_without_it_and_with_it(client, session):
    text = told(page(client, words="knee brace", at=6))
    before, after = (
        session_prompt(session=session, at=6, as_saved=True, overrides=each) for each in ({}, {"offset": 5})
    )
    assert (before.tokens.total, after.tokens.total) == (40, 84)
    assert "40 → 84 tokens, $0.0000160 → $0.0000336" in text


def test_where_a_summary_dropped_it_the_page_says_what_was_not_tried(client, session):
    assert "summarize_at or summarize_to would keep it is not tried" in told(page(client, words="knee brace"))
    assert "is not tried" not in told(page(client, words="knee brace", at=2))


def test_while_another_long_one_is_followed_it_says_so_and_offers_to_try_again(client, session, monkeypatch):
    monkeypatch.setattr(ways_back, "LIVE_TURNS", 6)
    with ways_back._LONG_ONES:
        answer = client.get(PAGE, {"words": "knee brace"})
    assert (answer.status_code, answer["Retry-After"]) == (429, "5")
    shown = answer.content.decode()
    assert "Another fact that takes long is being followed" in shown
    assert 'href="?words=knee+brace"' in shown
    assert "No run of this conversation says" not in shown


def shown_in(shown, kind):
    """Return the source of the first element of a class."""
    start = shown.index(f'class="{kind}')
    return shown[start : shown.index("</a>" if kind == "more-runs" else "</article>", start)]


def test_folded_runs_open_in_place_with_words_and_turn_kept(client, session):
    address = "/p/p/sessions/s/facts/?words=knee+brace&amp;at=6&amp;from=2&amp;to=4"
    line = shown_in(page(client, words="knee brace", at="6"), "more-runs")
    assert f'href="{address}#run-2"' in line
    assert f'hx-get="{address}"' in line
    opened = page(client, words="knee brace", at="6", **{"from": "2", "to": "4"})
    assert "Missing in turns 6 to 7" in told(opened)
    assert re.findall(r'<article class="run [^"]*" id="run-(\d+)"', opened) == ["1", "2", "3", "4"]
    asked = {"words": "knee brace", "from": "2", "to": "4"}
    swapped = client.get(PAGE, asked, headers={"HX-Request": "true"}).content.decode()
    assert re.findall(r'<article class="run [^"]*" id="run-(\d+)"', swapped) == ["2", "3", "4"]
    assert "turn by turn" not in swapped


def test_a_folded_line_with_hits_says_how_many(client, project):
    session = make_session(project)
    append_runs(session=session, runs=[simple_turn("A knee brace.", "Noted.") for _ in range(35)], now=NOW)
    assert "Runs 2–6 , 5 of them say it" in told(page(client, words="knee brace"))


def test_the_turn_that_is_asked_for_goes_along_to_tune_the_session_and_other_words(client, session):
    shown = page(client, words="knee brace", at="4")
    assert shown.count('href="/p/p/sessions/s/tune/?words=knee+brace&amp;at=4"') == 2
    assert 'href="/p/p/sessions/s/?run=4#run-4"' in shown
    assert '<input type="hidden" name="at" value="4">' in shown
    assert '<input type="hidden" name="at" value="4">' in page(client, at="4")
    assert 'href="/p/p/sessions/s/tune/?words=knee+brace"' in page(client, words="knee brace")
    assert 'href="/p/p/sessions/s/facts/?at=4"' in page(client, "/p/p/sessions/s/then/", at="4")
    assert 'href="/p/p/sessions/s/facts/?at=4"' in page(client, "/p/p/sessions/s/", run="4")


def test_a_run_in_the_prompt_whose_tool_result_is_cut_bears_the_mark_of_it(client, project):
    Project.objects.update(created_at=NOW - timedelta(days=1))
    session = make_session(project, settings={"strategy": "buffer", "tool_result_max_tokens": 20})
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Look it up."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "long " * 60 + "knee brace"},
        {"role": "assistant", "content": "Done."},
    ]
    append_runs(session=session, runs=[turn(messages)], now=NOW)
    append_turns(session, 2, now=NOW + timedelta(minutes=1))
    shown = page(client, words="knee brace")
    run = shown_in(shown, "run small says")
    assert "in the next prompt" in told(run)
    assert "tool result cut" in told(run)
    assert re.search(r'data-fate="pruned"><svg.*?</svg>Cut in a tool result</span>', shown, re.DOTALL)
    assert "tool result cut</span>" in page(client, "/p/p/sessions/s/")


def test_good_news_looks_good_and_what_else_is_said_stands_below_it(client, project):
    parent = make_session(project, "parent", runs=1)
    append_runs(session=parent, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    fork = fork_session(session=parent, at=2, now=NOW, public_id="s")
    append_runs(session=fork, runs=[simple_turn("Which brace has her knee?", "None.")], now=NOW)
    append_runs(session=parent, runs=[simple_turn("The knee brace again.", "Noted.")], now=NOW)
    shown = page(client, words="knee brace")
    verdict = shown[shown.index('class="probe-v') : shown.index('class="probe-s"')]
    assert 'class="probe-v fine"' in verdict
    assert "circle-check" in verdict
    assert "Every prompt had it since it was said" in told(verdict)
    hit, exact, near = (
        shown.index(part)
        for part in ('id="run-2"', "said in the parent after this fork began", "Said in other words, too, maybe")
    )
    assert hit < exact < near
    assert 'class="callout"' not in shown


def test_what_stands_in_the_verdict_is_not_said_again_below_it(client, project):
    parent = make_session(project, "parent", runs=2, title="Boards")
    fork = fork_session(session=parent, at=1, now=NOW, public_id="s")
    append_runs(session=parent, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    append_runs(session=fork, runs=[simple_turn("I told you of the knee brace!", "You did not.")], now=NOW)
    text = told(page(client, words="knee brace"))
    assert text.count("Also said where this conversation does not see it") == 1
    assert "In this conversation: Only the newest run says it, and no turn came after it yet." in text


def test_words_that_only_the_next_prompt_lacks_are_no_all_clear(client, project):
    session = make_session(project, settings={"strategy": "buffer"})
    append_runs(session=session, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    append_turns(session, 1)
    session.settings = {"strategy": "buffer", "last_n": 1}
    session.save(update_fields=["settings"])
    text = told(page(client, words="knee brace"))
    assert "Missing in the next prompt: run 1 is not among the newest that are sent" in text
