from datetime import timedelta

import pytest

from sessions_app.domain.causes import Cause
from sessions_app.domain.memory_settings import Layer
from sessions_app.models import Run
from sessions_app.queries.past_turns import past_turn, ranges_of, settings_of_then, unseen_runs
from sessions_app.services.prompts import effective_settings, session_plan, session_prompt
from tests.factories import NOW, append_turns, make_session

pytestmark = pytest.mark.django_db


def test_a_turn_knows_when_it_was_and_what_was_before_it():
    session = make_session(runs=2)
    append_turns(session, 2, now=NOW + timedelta(hours=1))
    session.refresh_from_db()
    prompt = session_prompt(session=session, at=3)
    turn = past_turn(session=session, at=3, prompt=prompt, asked=False)
    assert (turn.position, turn.history, turn.newest, turn.created_at) == (3, 2, 4, NOW + timedelta(hours=1))
    assert (turn.recorded, turn.same, turn.summary) == ("", None, None)


@pytest.mark.parametrize(("changed", "same"), [("", True), ("0", False)])
def test_it_says_whether_the_prompt_is_the_one_of_then(changed, same):
    session = make_session(runs=4)
    prompt = session_prompt(session=session, at=2)
    Run.objects.filter(position=2).update(prompt_fingerprint=prompt.fingerprint + changed)
    prompt = session_prompt(session=session, at=2)
    assert past_turn(session=session, at=2, prompt=prompt, asked=False).same is same
    assert past_turn(session=session, at=2, prompt=None, asked=False).same is None
    assert past_turn(session=session, at=2, prompt=session_plan(session=session), asked=False).same is None


@pytest.mark.parametrize("at", [0, 5, 2**31 - 1])
def test_where_no_run_stands_is_no_turn(at):
    assert past_turn(session=make_session(runs=4), at=at, prompt=None, asked=False) is None


def test_runs_that_it_could_not_see_come_with_the_setting_that_is_to_blame():
    prompt = session_prompt(session=make_session(runs=6, settings={"last_n": 2, "strategy": "buffer"}), at=5)
    (unseen,) = unseen_runs(prompt)
    assert (unseen.first, unseen.last, unseen.reason) == (1, 2, "last_n 2: only the newest 2 runs")
    assert unseen.cause == Cause("last_n", 2, Layer.SESSION)


def test_what_the_budget_dropped_is_one_range_and_says_what_did_not_fit():
    # A message needs 3 + 1 + 3 tokens, the frame 3: with question 5 two exchanges of 14 fit.
    session = make_session(runs=6, settings={"max_input_tokens": 38, "strategy": "buffer"})
    prompt = session_prompt(session=session, at=5)
    (unseen,) = unseen_runs(prompt)
    assert (unseen.first, unseen.last, unseen.fate) == (1, 2, "pruned")
    assert unseen.reason == "run 2 needs 14 tokens, 0 were free"
    assert unseen.cause == Cause("max_input_tokens", 38, Layer.SESSION)


def test_of_many_ranges_those_that_differ_are_shown():
    session = make_session(runs=4)
    ranges = ranges_of(session_prompt(session=session), session_prompt(session=session, overrides={"last_n": 1}))
    assert [(each.first, each.last) for each in ranges.shown] == [(1, 3), (4, 4)]
    assert ranges.left_out == 0


def test_settings_are_told_where_they_are_not_the_same_then_today_and_in_the_draft():
    session = make_session(settings={"last_n": 2})
    today = effective_settings(session=session)
    then = effective_settings(session=session, overrides={"max_runs": 9})
    rows = settings_of_then(then, today, {"last_n": 5})
    assert [(row.name, row.then, row.today, row.draft) for row in rows] == [
        ("max_runs", 9, "unlimited", "unlimited"),
        ("last_n", 2, 2, 5),
    ]
