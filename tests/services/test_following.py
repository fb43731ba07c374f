"""Words over the turns of a stored session, and what brings them back."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.causes import Cause
from sessions_app.domain.errors import FactsAreBusy
from sessions_app.domain.following.sights import Hit, Part, Place, Sight, Why
from sessions_app.domain.following.ways import Way, WayKind
from sessions_app.domain.memory_settings import Layer
from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.models import Project, Session
from sessions_app.services import following
from sessions_app.services import ways_back as back
from sessions_app.services.following import Memory, follow
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session, update_session
from sessions_app.services.settings import save_project_settings
from sessions_app.services.ways_back import follow_fact, said_elsewhere, ways_back
from tests.domain.fakes.phrases import phrase
from tests.factories import NOW, append_turns, make_open_run, make_project, make_session, make_summary

pytestmark = pytest.mark.django_db

PHRASE = phrase("knee brace")
SAID = "My mother wears a knee brace."
# A run of SAID and "Noted." needs 18 tokens (3 + 1 + 8 and 3 + 1 + 2), each of the others 14, a prompt 3.


def conversation(*, others=6, now=NOW, **fields):
    """Return a session whose first run says it, with so many others behind, a minute apart."""
    session = make_session(now=now, **fields)
    Project.objects.update(created_at=NOW - timedelta(days=1))
    append_runs(session=session, runs=[simple_turn(SAID, "Noted.")], now=now)
    for number in range(1, others + 1):
        append_turns(session, now=now + timedelta(minutes=number))
    return Session.objects.select_related("project", "summary").get(pk=session.pk)


def add_summary(session, number, covers, text, *, minute, **columns):
    session.summary = make_summary(session, number, covers, text, minute=minute, **columns)
    session.save(update_fields=["summary"])
    return session.summary


def intervals(found):
    return [(each.first, each.last, each.why) for each in found.intervals]


def test_it_is_not_said_then_word_for_word_then_pruned():
    session = conversation(settings={"strategy": "buffer", "max_input_tokens": 18 + 3 * 14 + 7 + 3})
    found = follow(session=session, phrase=PHRASE)
    assert found.hits == (Hit(1, frozenset({Part.INPUT})),)
    assert intervals(found) == [(1, 1, Why.NOT_SAID), (2, 5, Why.IN_RUN), (6, 7, Why.PRUNED)]
    assert found.causes[6] == Cause("max_input_tokens", 70, Layer.SESSION)
    assert (found.next, found.guessed, found.first, found.last) == (Sight(Why.PRUNED, 1), 0, 1, 7)


def test_a_turn_has_the_settings_that_were_in_force_then():
    session = conversation(others=4, settings={"strategy": "buffer"})
    update_session(session=session, changes={"settings": {"last_n": 1}}, now=NOW + timedelta(minutes=4, seconds=30))
    append_turns(session, 2, now=NOW + timedelta(minutes=5))
    session.refresh_from_db()
    found = follow(session=session, phrase=PHRASE)
    assert intervals(found) == [(1, 1, Why.NOT_SAID), (2, 5, Why.IN_RUN), (6, 7, Why.LAST_N)]
    assert found.causes[6] == Cause("last_n", 1, Layer.SESSION)


def test_a_turn_has_the_summary_that_was_in_use_then():
    session = conversation(settings={"offset": 1})
    add_summary(session, 1, 2, SAID, minute=3)
    add_summary(session, 2, 4, "They talk.", minute=5)
    found = follow(session=session, phrase=PHRASE)
    assert intervals(found) == [
        (1, 1, Why.NOT_SAID),
        (2, 3, Why.IN_RUN),
        (4, 5, Why.IN_SUMMARY),
        (6, 7, Why.SUMMARIZED_AWAY),
    ]
    assert [each.summaries for each in found.intervals] == [(), (), (1,), (2,)]
    assert found.next == Sight(Why.SUMMARIZED_AWAY, 1, 2)


def test_an_entry_that_was_rolled_back_was_in_use_until_then():
    session = conversation(settings={"offset": 1})
    add_summary(session, 1, 2, "They talk.", minute=3, retired_at=NOW + timedelta(minutes=4, seconds=30))
    session.summary = None
    session.save(update_fields=["summary"])
    found = follow(session=session, phrase=PHRASE)
    assert intervals(found) == [
        (1, 1, Why.NOT_SAID),
        (2, 3, Why.IN_RUN),
        (4, 5, Why.SUMMARIZED_AWAY),
        (6, 7, Why.IN_RUN),
    ]


def test_turns_that_a_fork_shares_are_those_of_its_parent():
    parent = conversation(settings={"strategy": "buffer", "last_n": 2})
    fork = fork_session(session=parent, at=5, now=NOW + timedelta(hours=1))
    update_session(
        session=fork, changes={"settings": {"last_n": 9, "strategy": "buffer"}}, now=NOW + timedelta(hours=2)
    )
    append_turns(fork, 2, now=NOW + timedelta(hours=3))
    fork.refresh_from_db()
    found = follow(session=fork, phrase=PHRASE)
    assert intervals(found) == [(1, 1, Why.NOT_SAID), (2, 3, Why.IN_RUN), (4, 5, Why.LAST_N), (6, 7, Why.IN_RUN)]


def test_while_a_run_is_open_its_turn_is_the_prompt_to_come():
    session = conversation(others=1)
    make_open_run(session, now=NOW + timedelta(minutes=2))
    session.refresh_from_db()
    found = follow(session=session, phrase=PHRASE)
    assert found.next is None
    assert intervals(found)[-1] == (2, 3, Why.IN_RUN)


def test_a_tool_result_that_is_shortened_is_cut_away():
    session = make_session(settings={"strategy": "buffer", "tool_result_max_tokens": 10})
    messages = [
        {"role": "user", "content": "Which flights?"},
        {"role": "assistant", "tool_calls": [call_of("list_flights")]},
        {"role": "tool", "tool_call_id": "c1", "content": "many flights " * 20 + "knee brace"},
        {"role": "assistant", "content": "These."},
    ]
    append_runs(session=session, runs=[turn(messages)], now=NOW)
    append_turns(session, 1, now=NOW + timedelta(minutes=1))
    session.refresh_from_db()
    found = follow(session=session, phrase=PHRASE)
    assert found.hits == (Hit(1, frozenset({Part.TOOL_RESULT})),)
    assert intervals(found) == [(1, 1, Why.NOT_SAID), (2, 2, Why.RESULT_CUT)]
    assert found.causes[2] == Cause("tool_result_max_tokens", 10, Layer.SESSION)


def call_of(name):
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}


@pytest.mark.parametrize("strategy", ["conversation", "head_tail", "minimal", "task", "hierarchical"])
def test_what_sums_do_not_tell_is_built(strategy):
    session = conversation(settings={"strategy": strategy, "max_history": 4, "head_runs": 0, "last_n": 3})
    memory = Memory(session, PHRASE)
    found = follow(session=session, phrase=PHRASE)
    assert list(found.sights) == [memory.built(at) for at in range(1, 8)]
    assert found.guessed == 0


def test_of_many_turns_that_sums_do_not_tell_some_are_built(monkeypatch):
    session = conversation(others=30, settings={"strategy": "conversation", "max_history": 8})
    monkeypatch.setattr(following, "MOST_BUILT", 12)
    found = follow(session=session, phrase=PHRASE)
    # Four runs of two messages: the first is among them up to turn 5.
    assert intervals(found) == [(1, 1, Why.NOT_SAID), (2, 5, Why.IN_RUN), (6, 31, Why.STRATEGY)]
    assert found.guessed >= 31 - 12


def test_reading_costs_as_many_queries_for_few_turns_as_for_many():
    counts = []
    for others in (6, 60):
        session = conversation(
            others=0, project=make_project(f"p{others}"), settings={"strategy": "buffer", "last_n": 3}
        )
        append_turns(session, others, now=NOW + timedelta(minutes=1))
        session.refresh_from_db()
        with CaptureQueriesContext(connection) as queries:
            follow(session=session, phrase=PHRASE)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def ways(session, turn=None):
    return ways_back(session=session, following=follow(session=session, phrase=PHRASE), turn=turn)


def test_the_ways_back_are_settings_whose_prompt_has_it_and_a_fork():
    project = make_project()
    save_project_settings(project=project, changes={"max_input_tokens": 4000}, now=NOW, actor="ada", note="")
    session = conversation(project=project, settings={"strategy": "buffer", "max_input_tokens": 70})
    found = ways(session)
    assert Way(WayKind.LAYER, {"max_input_tokens": 4000}, Place.WORDS, Layer.PROJECT) in found
    assert Way(WayKind.LAYER, {"max_input_tokens": "unlimited"}, Place.WORDS, Layer.BUILT_IN) in found
    # All seven runs and the frame.
    assert Way(WayKind.SETTINGS, {"max_input_tokens": 18 + 6 * 14 + 3}, Place.WORDS) in found
    assert Way(WayKind.FORK, place=Place.WORDS, run=1) in found


def test_each_way_that_was_built_says_what_its_prompt_needs_and_what_the_turns_needs_without_it():
    session = conversation(settings={"strategy": "buffer", "max_input_tokens": 70, "model": "gpt-4.1-mini"})
    found = {way.kind: way for way in ways(session)}
    # Four others fit into 70, and the frame; with the budget that is named all seven runs.
    way = found[WayKind.SETTINGS]
    assert (way.sent_without.tokens, way.sent.tokens) == (4 * 14 + 3, 18 + 6 * 14 + 3)
    # At 0.40 dollars a million tokens.
    assert (way.sent_without.cost(now=NOW), way.sent.cost(now=NOW)) == (Decimal("0.0000236"), Decimal("0.0000420"))
    assert found[WayKind.FORK].sent.tokens == 18 + 3 + 7
    assert found[WayKind.FORK].sent_without is None


def test_of_a_model_without_a_price_the_tokens_are_told():
    session = conversation(settings={"strategy": "buffer", "max_input_tokens": 70, "model": "our-own-model"})
    way = next(way for way in ways(session) if way.kind is WayKind.SETTINGS)
    assert way.sent.tokens > way.sent_without.tokens
    assert way.sent.cost(now=NOW) is None


def test_over_very_many_turns_one_fact_is_followed_at_a_time(monkeypatch):
    session = conversation()
    monkeypatch.setattr(back, "LIVE_TURNS", 6)
    with back._LONG_ONES, pytest.raises(FactsAreBusy):
        follow_fact(session=session, phrase=PHRASE, at=None)
    assert follow_fact(session=session, phrase=PHRASE, at=None).following.hits
    monkeypatch.setattr(back, "LIVE_TURNS", 7)
    with back._LONG_ONES:
        assert follow_fact(session=session, phrase=PHRASE, at=None).following.hits


def test_where_prompts_have_to_be_built_fewer_turns_take_long(monkeypatch):
    session = conversation(settings={"strategy": "conversation"})
    monkeypatch.setattr(back, "LIVE_TURNS_BUILT", 6)
    with back._LONG_ONES, pytest.raises(FactsAreBusy):
        follow_fact(session=session, phrase=PHRASE, at=None)


def test_each_way_of_settings_is_one_that_shows_it_and_no_smaller_budget_does():
    session = conversation(settings={"strategy": "buffer", "max_input_tokens": 70})
    memory = Memory(session, PHRASE)
    for way in ways(session, 7):
        if way.changes:
            assert memory.built_with(7, way.changes, as_saved=True).place in (Place.WORDS, Place.SUMMARY)
    (needed,) = [way.changes["max_input_tokens"] for way in ways(session, 7) if way.kind is WayKind.SETTINGS][:1]
    assert memory.built_with(7, {"max_input_tokens": needed - 1}, as_saved=True).why is Why.PRUNED


def test_where_one_change_is_not_enough_two_are_named_together():
    session = conversation(settings={"strategy": "buffer", "max_input_tokens": 70, "last_n": 2})
    (way,) = [way for way in ways(session) if way.kind is WayKind.SETTINGS]
    assert way.changes == {"last_n": 7, "max_input_tokens": 18 + 6 * 14 + 3}


def test_where_todays_settings_have_it_that_is_the_way():
    session = conversation(others=4, settings={"strategy": "buffer", "last_n": 1})
    update_session(session=session, changes={"settings": {"last_n": None}}, now=NOW + timedelta(hours=1))
    session.refresh_from_db()
    assert ways(session, 5)[0] == Way(WayKind.TODAY, {}, Place.WORDS)


def test_a_summary_that_dropped_it_can_be_edited_or_an_earlier_one_used():
    session = conversation(settings={"offset": 1})
    first = add_summary(session, 1, 2, SAID, minute=3)
    add_summary(session, 2, 4, "They talk.", minute=5, predecessor=first)
    found = ways(session)
    assert Way(WayKind.SETTINGS, {"offset": 7}, Place.WORDS) in found
    assert Way(WayKind.EDIT_SUMMARY, number=2) in found
    assert Way(WayKind.USE_SUMMARY, place=Place.SUMMARY, number=1) in found


def test_where_a_summary_is_cut_in_the_prompt_the_smallest_round_limit_that_has_it_is_a_way():
    session = conversation(settings={"offset": 1, "max_summary_tokens": 20})
    text = "They talk of the weather there. " * 30 + SAID
    add_summary(session, 1, 4, text, minute=5)
    assert follow(session=session, phrase=PHRASE).next.why is Why.SUMMARIZED_AWAY
    (limit,) = [
        way.changes["max_summary_tokens"] for way in ways(session) if "max_summary_tokens" in (way.changes or {})
    ]
    # Thirty sentences of seven tokens, and one of eight.
    assert limit == 250
    memory = Memory(session, PHRASE)
    assert memory.built_with(None, {"max_summary_tokens": 200}, as_saved=True).why is Why.SUMMARIZED_AWAY
    assert memory.built_with(None, {"max_summary_tokens": 250}, as_saved=True).why is Why.IN_SUMMARY


def test_a_longer_limit_is_no_way_where_the_whole_summary_has_dropped_it():
    session = conversation(settings={"offset": 1, "max_summary_tokens": 20})
    add_summary(session, 1, 4, "They talk of the weather there.", minute=5)
    assert not [way for way in ways(session) if "max_summary_tokens" in (way.changes or {})]


def test_what_is_there_needs_no_way():
    assert ways(conversation()) == []


def test_what_a_session_sets_for_itself_is_dropped_together_where_one_alone_does_not_do():
    session = conversation(settings={"strategy": "buffer", "max_input_tokens": 70, "last_n": 2, "max_runs": 3})
    (found,) = [way for way in ways(session, 7) if way.layer is Layer.BUILT_IN]
    assert found.changes == dict.fromkeys(("max_input_tokens", "last_n", "max_runs"), "unlimited")
    assert (found.kind, found.place, found.reach) == (WayKind.LAYER, Place.WORDS, 7)


def test_it_is_said_how_far_a_change_carries():
    session = conversation(others=8, settings={"strategy": "buffer", "last_n": 2})
    assert [way.reach for way in ways(session, 5) if way.changes == {"last_n": 4}] == [5]
    assert [way.reach for way in ways(session, 5) if way.layer is Layer.BUILT_IN] == [9]
    assert [way.reach for way in ways(session) if way.changes] == [None, None]


def test_a_question_that_says_it_is_no_turn_without_it_and_is_brought_back_all_the_same():
    session = conversation(others=3, settings={"strategy": "buffer", "last_n": 2})
    append_runs(session=session, runs=[simple_turn("Is the knee brace ready?", "Yes.")], now=NOW + timedelta(minutes=9))
    session.refresh_from_db()
    found = follow(session=session, phrase=PHRASE)
    assert intervals(found)[1:] == [(2, 3, Why.IN_RUN), (4, 4, Why.LAST_N), (5, 5, Why.IN_QUESTION)]
    assert found.causes[5] == Cause("last_n", 2, Layer.SESSION)
    assert (found.focus(None), found.focus(5), found.focus(6), found.focus(7)) == (4, 5, None, 4)
    assert Way(WayKind.SETTINGS, {"last_n": 4}, Place.WORDS, reach=5) in ways(session, 5)


def test_what_was_said_behind_a_fork_or_in_a_sibling_is_found_elsewhere():
    parent = make_session()
    append_turns(parent, 3)
    fork = fork_session(session=parent, at=2, now=NOW)
    sibling = fork_session(session=parent, at=1, now=NOW)
    for session in (sibling, parent):
        append_runs(session=session, runs=[simple_turn(SAID, "Noted.")], now=NOW)
    fork = Session.objects.select_related("parent", "project", "summary").get(pk=fork.pk)
    found = said_elsewhere(session=fork, phrase=PHRASE)
    assert [(each.session.public_id, each.run.position, each.is_above) for each in found] == [
        (parent.public_id, 4, True),
        (sibling.public_id, 2, False),
    ]
    assert follow(session=fork, phrase=PHRASE).hits == ()


def test_a_child_may_get_it_handed_down_by_its_parent():
    parent = conversation(project=make_project(), public_id="parent")
    add_summary(parent, 1, 3, SAID, minute=5)
    child = make_session(parent.project, "child", parent=parent, now=NOW + timedelta(hours=1))
    append_turns(child, 2, now=NOW + timedelta(hours=2))
    child = Session.objects.select_related("project", "summary", "parent").get(pk=child.pk)
    assert follow(session=child, phrase=PHRASE).next.why is Why.NOT_SAID
    assert ways(child) == [Way(WayKind.SETTINGS, {"include_parent_context": True}, Place.SUMMARY)]
    update_session(session=child, changes={"settings": {"include_parent_context": True}}, now=NOW + timedelta(hours=3))
    append_turns(child, 1, now=NOW + timedelta(hours=4))
    child.refresh_from_db()
    assert intervals(follow(session=child, phrase=PHRASE)) == [(1, 2, Why.NOT_SAID), (3, 3, Why.IN_PARENT)]


def test_a_prompt_of_very_many_runs_is_not_built_to_try_a_setting(monkeypatch):
    session = conversation(settings={"strategy": "buffer", "max_input_tokens": 70})
    whole, built = ways(session), []

    def build(memory, turn, overrides, **_):
        built.append(overrides)
        return Sight(Why.LOST, 1)

    monkeypatch.setattr(following, "MOST_RUNS", 3)
    monkeypatch.setattr(Memory, "built_with", build)
    (unlimited,) = [way for way in ways(session) if way.kind is WayKind.LAYER]
    assert unlimited in whole
    assert {"max_input_tokens": "unlimited"} not in built


def test_words_that_more_than_500_runs_say_are_followed_from_there_on():
    session = make_session(settings={"strategy": "buffer", "last_n": 2})
    append_turns(session, 510)
    session.refresh_from_db()
    found = follow(session=session, phrase=phrase("question"))
    assert (len(found.hits), found.first, found.last) == (500, 12, 510)
    assert intervals(found) == [(12, 510, Why.IN_RUN)]


def test_the_builder_has_the_summary_of_then_too_where_all_were_rolled_back():
    session = conversation(settings={"offset": 1})
    add_summary(session, 1, 2, "They talk.", minute=3, retired_at=NOW + timedelta(minutes=4, seconds=30))
    session.summary = None
    session.save(update_fields=["summary"])
    memory = Memory(session, PHRASE)
    assert [memory.built(at) for at in range(1, 8)] == list(follow(session=session, phrase=PHRASE).sights)
    assert memory.built(4) == Sight(Why.SUMMARIZED_AWAY, 1, 1)


def test_a_shortened_result_is_brought_back_by_the_smallest_round_limit_too():
    messages = [
        {"role": "user", "content": "Which flights?"},
        {"role": "assistant", "tool_calls": [call_of("list_flights")]},
        {"role": "tool", "tool_call_id": "c1", "content": "many flights " * 40 + "knee brace"},
        {"role": "assistant", "content": "These."},
    ]
    session = make_session(settings={"strategy": "buffer", "tool_result_max_tokens": 12})
    append_runs(session=session, runs=[turn(messages)], now=NOW)
    append_runs(session=session, runs=[simple_turn("A knee brace?", "No.")], now=NOW + timedelta(minutes=1))
    session.refresh_from_db()
    found = follow(session=session, phrase=PHRASE)
    assert intervals(found)[1] == (2, 2, Why.ASKED_RESULT_CUT)
    # The result needs about 85 tokens.
    limits = [way.changes.get("tool_result_max_tokens") for way in ways(session, 2) if way.changes]
    assert limits == ["unlimited", 100]
