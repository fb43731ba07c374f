from dataclasses import replace
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from sessions_app.domain.openai_messages import simple_turn, turn
from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Run, Session, Summary
from sessions_app.queries.bands import Span
from sessions_app.queries.run_stream import StreamAsked, run_stream
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import fork_session
from tests.factories import NOW, append_turns, make_open_run, make_session

pytestmark = pytest.mark.django_db


def stream(session, **asked):
    session.refresh_from_db()
    return run_stream(session=session, prompt=session_prompt(session=session), asked=StreamAsked(**asked), now=NOW)


def lines(items):
    """Return the stream as words: a run's position, or what stands between."""
    words = {
        "run": lambda item: item.run.position,
        "folded": lambda item: f"{item.first}-{item.last} {item.fate}",
        "summary": lambda item: f"summary 1-{item.entry.covers_through}",
        "shared": lambda item: f"{item.since}-{item.through} from {item.holder}",
        "cut": lambda item: f"cut at {item.position}",
        "offset": lambda item: f"offset {item.first}-{item.last}",
        "day": lambda item: f"{item.day:%d.%m.}",
    }
    return [words[item.kind](item) for item in items]


def summarize(session, through, text="They talked."):
    """Put a summary in use, as the summarizing task does."""
    entry = Summary.objects.create(
        session=session, number=1, status="completed", covers_through=through, text=text, summarizer="x", created_at=NOW
    )
    session.summary = entry
    session.save(update_fields=["summary"])


def test_all_runs_of_a_short_session_are_shown():
    session = make_session(runs=3, settings={"strategy": "buffer"})
    assert lines(stream(session)) == [1, 2, 3]


def test_of_many_runs_the_newest_forty_are_shown_and_the_others_folded_with_their_tokens():
    session = make_session(runs=100, settings={"strategy": "buffer"})
    first, *shown = stream(session)
    assert lines([first, *shown]) == ["1-60 kept", *range(61, 101)]
    assert first.tokens == sum(run.tokens_o200k for run in Run.objects.filter(position__lte=60))


def test_of_runs_that_are_not_sent_the_newest_three_are_shown_before_the_cut():
    session = make_session(runs=30, settings={"strategy": "buffer", "max_input_tokens": 60})
    kept = session_prompt(session=session).fates[-1]
    shown = lines(stream(session))
    cut = kept.first - 1
    assert kept.fate is Fate.KEPT
    assert shown == [f"1-{cut - 3} pruned", cut - 2, cut - 1, cut, f"cut at {cut}", *range(kept.first, 31)]


def test_the_summary_stands_behind_the_runs_it_covers_and_the_offset_before_those_it_never_does():
    session = make_session(runs=12, settings={"strategy": "summary", "offset": 2})
    summarize(session, 8)
    assert lines(stream(session)) == ["1-5 summarized", 6, 7, 8, "summary 1-8", 9, 10, "offset 11-12", 11, 12]


def test_shared_runs_are_marked_with_where_they_come_from():
    parent = make_session(runs=3, title="The parent", settings={"strategy": "buffer"})
    fork = fork_session(session=parent, at=2, now=NOW)
    append_turns(fork, 1)
    items = stream(fork)
    assert lines(items) == ["1-2 from The parent", 1, 2, 3]
    assert [item.run.shared for item in items[1:]] == [True, True, False]


def test_each_holder_is_named_with_the_runs_it_holds_itself():
    root = make_session(runs=2, title="The root", settings={"strategy": "buffer"})
    middle = fork_session(session=root, at=1, now=NOW, title="The middle")
    append_turns(middle, 2)
    fork = fork_session(session=middle, at=3, now=NOW)
    append_turns(fork, 1)
    assert lines(stream(fork)) == ["1-1 from The root", 1, "2-3 from The middle", 2, 3, 4]


def test_a_shared_run_shown_whole_gets_no_second_heading():
    parent = make_session(runs=3, title="The parent", settings={"strategy": "buffer"})
    fork = fork_session(session=parent, at=2, now=NOW)
    assert lines(stream(fork, opened=Span(2, 2), within=Span(2, 2), whole=[2])) == [2]


def test_a_single_run_is_shown_as_itself_where_several_would_be_folded():
    session = make_session(runs=12, settings={"strategy": "summary", "offset": 2})
    summarize(session, 4)
    assert lines(stream(session))[:5] == [1, 2, 3, 4, "summary 1-4"]


def test_a_long_summary_is_cut_at_the_end_of_a_line_and_nothing_of_it_is_lost():
    session = make_session(runs=9, settings={"strategy": "summary", "offset": 2})
    text = "\n".join(f"- User: line {n} of what they talked about." for n in range(40))
    summarize(session, 6, text)
    card = next(item for item in stream(session) if item.kind == "summary")
    assert f"{card.start}\n{card.rest}" == text
    assert card.start.endswith("about.")
    assert len(card.start) <= 600


def test_folded_runs_are_cut_where_another_sessions_runs_begin():
    parent = make_session(runs=60, settings={"strategy": "buffer"})
    fork = fork_session(session=parent, at=50, now=NOW)
    append_turns(fork, 60)
    assert lines(stream(fork))[:3] == ["1-50 kept", "51-70 kept", 71]


def test_a_folded_line_opens_in_pages_of_forty():
    session = make_session(runs=200, settings={"strategy": "buffer"})
    opened = stream(session, opened=Span(1, 160).newest(40), within=Span(1, 160))
    assert lines(opened) == ["1-120 kept", *range(121, 161)]
    assert stream(session)[0].opens_at == 121


def test_a_filter_keeps_to_one_fate():
    session = make_session(runs=12, settings={"strategy": "summary"})
    summarize(session, 6)
    assert lines(stream(session, only={Fate.SUMMARIZED})) == [1, 2, 3, 4, 5, 6, "summary 1-6"]
    assert lines(stream(session, only={Fate.LOST})) == []


def test_forks_are_listed_at_the_run_they_start_from():
    session = make_session(runs=3, settings={"strategy": "buffer"})
    fork = fork_session(session=session, at=2, now=NOW, title="What if")
    forks = {item.run.position: item.run.forks for item in stream(session)}
    assert forks == {1: [], 2: [fork], 3: []}


def test_the_open_run_looks_like_the_question_and_a_failed_one_says_so():
    session = make_session(runs=1, settings={"strategy": "buffer"})
    failed = replace(simple_turn("pay", None), status=RunStatus.FAILED, error="no money")
    append_runs(session=session, runs=[failed], now=NOW)
    make_open_run(session)
    cards = [item.run for item in stream(session)]
    assert [(card.look, str(card.status)) for card in cards] == [
        ("kept", "completed"),
        ("kept", "failed"),
        ("query", "running"),
    ]
    assert cards[1].error == "no money"


def test_steps_stand_in_order_with_each_call_beside_its_result():
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}}
    messages = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "assistant", "content": "Here."},
    ]
    session = make_session(settings={"strategy": "buffer"})
    append_runs(session=session, runs=[turn(messages)], now=NOW)
    steps = stream(session)[0].run.steps
    assert [step.kind for step in steps] == ["user", "tool", "assistant"]
    assert (steps[1].call.name, steps[1].call.arguments, steps[1].call.result) == ("find", '{"q": 1}', "found")


def test_long_texts_are_cut_unless_the_whole_run_is_asked_for():
    session = make_session(settings={"strategy": "buffer"})
    append_runs(session=session, runs=[simple_turn("x" * 7000, "y")], now=NOW)
    cut, whole = stream(session)[0].run, stream(session, whole=[1])[0].run
    assert (len(cut.steps[0].text), cut.steps[0].hidden, cut.is_cut) == (6000, 1000, True)
    assert (len(whole.steps[0].text), whole.is_cut) == (7000, False)


def test_without_a_prompt_the_runs_are_shown_without_a_fate():
    session = make_session(runs=2)
    items: list[Any] = list(run_stream(session=session, prompt=None, asked=StreamAsked(), now=NOW))
    assert [(item.run.position, item.run.look) for item in items] == [(1, ""), (2, "")]


def test_a_heading_over_each_parents_runs_costs_no_query(django_assert_max_num_queries):
    session = make_session(runs=1)
    for at in range(1, 9):
        session = fork_session(session=session, at=at, now=NOW)
        append_turns(session)
    session = Session.objects.get(pk=session.pk)
    with django_assert_max_num_queries(9):
        shown = run_stream(session=session, prompt=None, asked=StreamAsked(), now=NOW)
    assert [item.since for item in shown if item.kind == "shared"] == list(range(1, 9))


def test_a_run_says_which_of_its_tool_results_the_next_prompt_has_cut():
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "long " * 60},
        {"role": "assistant", "content": "Done."},
    ]
    session = make_session(runs=1, settings={"strategy": "buffer", "tool_result_max_tokens": 20})
    append_runs(session=session, runs=[turn(messages)], now=NOW)
    first, second = (item.run for item in stream(session))
    assert first.cut == ""
    assert second.cut.startswith("a tool result is cut: 20 of ")


def begin(session, *hours):
    """Let the runs of a session begin so many hours after noon of the 4th of May, from the first on."""
    for position, hour in enumerate(hours, 1):
        Run.objects.filter(session=session, position=position).update(created_at=NOW + timedelta(hours=hour))


def test_a_line_tells_where_a_day_begins_by_the_clock_of_whoever_looks():
    session = make_session(runs=4, settings={"strategy": "buffer"})
    begin(session, 0, 11, 13, 40)
    assert lines(stream(session)) == [1, 2, "05.05.", 3, "06.05.", 4]
    with timezone.override(ZoneInfo("Asia/Tokyo")):
        assert lines(stream(session)) == [1, "05.05.", 2, 3, "06.05.", 4]


def test_the_line_of_a_day_stands_in_one_place_however_much_is_opened():
    session = make_session(runs=100, settings={"strategy": "buffer"})
    Run.objects.filter(position__gt=60).update(created_at=NOW + timedelta(days=1))
    Run.objects.filter(position__lte=30).update(created_at=NOW - timedelta(days=1))
    assert lines(stream(session))[:3] == ["1-60 kept", "05.05.", 61]
    opened = lines(stream(session, opened=Span(21, 60), within=Span(1, 60)))
    assert opened == ["1-20 kept", *range(21, 31), "04.05.", *range(31, 61)]
    assert lines(stream(session, opened=Span(61, 61), within=Span(61, 61), whole=[61])) == [61]
    assert lines(stream(session, opened=Span(61, 100), within=Span(61, 100), to_end=True))[:2] == ["05.05.", 61]


def test_between_runs_of_one_fate_a_day_that_began_with_another_is_told():
    session = make_session(runs=6, settings={"strategy": "buffer", "max_runs": 2})
    Run.objects.filter(position__gte=5).update(created_at=NOW + timedelta(days=1))
    begin(session, 0, 0, 24, 24)
    assert lines(stream(session, only={Fate.CAPPED})) == [1, 2, "05.05.", 3, 4]
    assert lines(stream(session, only={Fate.KEPT})) == [5, 6]


def test_a_fork_goes_on_with_the_days_of_the_runs_it_shares():
    parent = make_session(runs=2, title="The parent", settings={"strategy": "buffer"})
    fork = fork_session(session=parent, at=2, now=NOW)
    append_turns(fork, 1)
    Run.objects.filter(session=fork).update(created_at=NOW + timedelta(days=1))
    assert lines(stream(fork)) == ["1-2 from The parent", 1, 2, "05.05.", 3]
