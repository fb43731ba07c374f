import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.plan import Fate
from sessions_app.queries.bands import Span
from sessions_app.queries.prompt_views import prompt_view
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW, make_project, make_session

pytestmark = pytest.mark.django_db


def view(session, *, overrides=None, query=None, within=None):
    session.refresh_from_db()
    prompt = session_prompt(session=session, overrides=overrides, query=query)
    return prompt_view(session=session, prompt=prompt, within=within), prompt


def test_everything_that_is_sent_is_shown_and_its_tokens_add_up():
    session = make_session(runs=3, instructions="Be brief.", settings={"strategy": "buffer"})
    shown, prompt = view(session, query="And now?")
    assert [message.start for _, message, _ in shown.system] == ["Be brief."]
    assert [group.position for group in shown.runs] == [1, 2, 3]
    assert [message.start for message in shown.runs[2].messages] == ["question 3", "answer 3"]
    assert [message.start for group in shown.tail for message in group.messages] == ["And now?"]
    tokens = shown.system_tokens + sum(group.tokens for group in [*shown.runs, *shown.tail])
    assert tokens + prompt.tokens.overhead == prompt.tokens.total


def test_a_summary_is_shown_with_its_number_and_an_extract_as_a_stopgap():
    session = make_session(runs=40, settings={"max_input_tokens": 300, "summarize_at": 0, "max_summary_tokens": 40})
    shown, _ = view(session)
    assert [(segment.heading[:7], note) for segment, _, note in shown.system] == [("Extract", "stopgap extract")]
    while advance(session_pk=session.pk, now=NOW) is Outcome.ADVANCED:
        pass
    shown, _ = view(session)
    assert [(segment.heading[:7], note) for segment, _, note in shown.system] == [("Summary", "#1")]


def test_it_counts_what_is_not_sent_by_reason():
    session = make_session(runs=10, settings={"strategy": "buffer"})
    shown, _ = view(session, overrides={"max_runs": 7, "last_n": 4})
    assert shown.unseen == [(Fate.CAPPED, "3 capped"), (Fate.SKIPPED, "3 skipped")]


def test_of_a_long_prompt_the_first_three_runs_and_the_newest_are_unfolded_forty_in_all():
    session = make_session(runs=100, settings={"strategy": "buffer"})
    shown, prompt = view(session)
    assert [group.position for group in shown.first] == [1, 2, 3]
    assert [group.position for group in shown.runs] == list(range(64, 101))
    older = shown.older
    assert (older.first, older.last, older.messages, older.opens_at) == (4, 63, 120, 24)
    assert older.tokens + sum(group.tokens for group in [*shown.first, *shown.runs]) == prompt.tokens.runs
    more, _ = view(session, within=Span(4, 63))
    assert (more.first, [group.position for group in more.runs]) == ([], list(range(24, 64)))
    assert (more.older.first, more.older.last) == (4, 23)


def test_a_prompt_of_forty_runs_is_unfolded_whole():
    shown, _ = view(make_session(runs=40, settings={"strategy": "buffer"}))
    assert (shown.first, shown.older, len(shown.runs)) == ([], None, 40)
    assert view(make_session(make_project("none")))[0].runs == []


def test_context_in_the_system_block_is_shown_there():
    session = make_session(runs=1, settings={"strategy": "buffer"})
    prompt = session_prompt(session=session, context=["A fact."])
    shown = prompt_view(session=session, prompt=prompt)
    assert [(segment.heading, message.start) for segment, message, _ in shown.system] == [("Context", "A fact.")]
    assert shown.tail == []


def test_long_texts_stand_behind_a_fold():
    session = make_session(settings={"strategy": "buffer"})
    append_runs(session=session, runs=[simple_turn("a" * 2000, "b" * 250_000)], now=NOW)
    shown, _ = view(session)
    asked, answered = shown.runs[0].messages
    assert (len(asked.start), len(asked.rest), asked.left_out) == (1500, 500, 0)
    assert len(answered.start) + len(answered.rest) + answered.left_out == 250_000
