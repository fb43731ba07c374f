"""The limit that is offered where runs are lost: with it none is."""

import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Summary
from sessions_app.services import prompts
from sessions_app.services.prompts import limit_without_loss, session_plan
from sessions_app.services.runs import append_runs
from sessions_app.services.sessions import update_session
from tests.factories import NOW, make_open_run, make_session

pytestmark = pytest.mark.django_db


def offered(session):
    """The limit that is offered, after trying it; what is lost at present."""
    session.refresh_from_db()
    plan = session_plan(session=session, overrides={"on_gap": "warn"})
    limit = limit_without_loss(session=session)
    if limit is not None:
        assert session_plan(session=session, overrides={"max_input_tokens": limit}).gap == ()
    return limit, [(fates.first, fates.last) for fates in plan.lost]


def test_it_is_what_all_runs_need_together():
    # A turn needs 14 tokens and the prompt 3; 100 are for a question.
    session = make_session(runs=9, settings={"max_input_tokens": 100})
    assert offered(session) == (9 * 14 + 3 + 100, [(1, 2), (3, 3)])


def test_under_it_there_is_room_for_a_question():
    session = make_session(runs=9, settings={"max_input_tokens": 100})
    limit, _ = offered(session)
    question = "Could you tell me once more what we agreed on yesterday, please? " * 5
    assert session_plan(session=session, overrides={"max_input_tokens": limit}, query=question).unseen == 0


def test_an_open_run_is_the_question_already():
    session = make_session(runs=9, settings={"max_input_tokens": 100})
    make_open_run(session, "question 10")
    limit, _ = offered(session)
    assert limit == 9 * 14 + 3 + session_plan(session=session).tokens.query


def test_under_it_a_summary_that_was_cut_has_grown_and_still_nothing_is_lost():
    session = make_session(runs=40, settings={"offset": 10, "max_input_tokens": 100})
    entry = {"number": 1, "covers_through": 20, "status": "completed", "summarizer": "x", "created_at": NOW}
    session.summary = Summary.objects.create(session=session, text="They talked. " * 80, **entry)
    session.save()
    limit, lost = offered(session)
    plans = [session_plan(session=session, overrides={"max_input_tokens": each}) for each in (100, limit)]
    assert (lost[0][0], lost[-1][1], plans[0].tokens.runs) == (21, 37, 3 * 14)
    assert plans[1].tokens.summary > 2 * plans[0].tokens.summary


@pytest.mark.parametrize("model", ["gpt-4", "claude-sonnet-4-5"])
def test_in_another_measure_it_is_true_or_not_offered(model):
    session = make_session(settings={"model": model, "max_input_tokens": 2_000})
    turn = simple_turn("我想订一张从上海到东京的机票。下周三出发。" * 10, "好的。已经为您查询。" * 10)
    append_runs(session=session, runs=[turn] * 10, now=NOW)
    _, lost = offered(session)
    assert lost


def test_where_the_window_binds_no_limit_helps():
    session = make_session(settings={"model": "gpt-4", "reserve_output_tokens": 8_000})
    append_runs(session=session, runs=[simple_turn("word " * 100, "a")] * 3, now=NOW)
    limit, lost = offered(session)
    assert (limit, bool(lost)) == (None, True)
    update_session(session=session, changes={"settings": {"max_input_tokens": 190}}, now=NOW)
    limit, lost = offered(session)
    assert (limit, bool(lost)) == (None, True)


def test_far_limits_are_not_tried_where_that_costs_more_the_more_is_sent(monkeypatch):
    session = make_session(runs=200, settings={"model": "gpt-4", "max_input_tokens": 100})
    tried = []

    def plan(**asked):
        tried.append(asked["overrides"].get("max_input_tokens"))
        return session_plan(**asked)

    monkeypatch.setattr(prompts, "session_plan", plan)
    assert limit_without_loss(session=session) is None
    assert tried == [None]
