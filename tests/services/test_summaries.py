"""Which runs a session's summary takes in, step by step, and what its prompts then hold."""

import json
from dataclasses import replace

import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.plan import Fate
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import SessionTranscript
from sessions_app.services import summaries, summarizers
from sessions_app.services.prompts import session_plan, session_prompt
from sessions_app.services.runs import append_runs, change_run
from sessions_app.services.sessions import create_session, fork_session, update_session
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW, append_turns, make_project, make_session
from tests.services.summarizing import AT_ONCE, CASES, advance_all, sent

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("offset", [0, 1, 2, 3])
def test_each_add_summarizes_the_run_that_ages_beyond_offset_as_griptape_does(scripted, offset):
    summarizer = scripted()
    session = make_session(settings=AT_ONCE | {"offset": offset})
    for _ in range(5):
        append_turns(session)
        advance_all(session)
    # Rule 10, by hand: with offset k the first call comes at the (k+1)-th run, then one run a call.
    expected = {
        0: [("", [1]), ("S[1]", [2]), ("S[1,2]", [3]), ("S[1,2,3]", [4]), ("S[1,2,3,4]", [5])],
        1: [("", [1]), ("S[1]", [2]), ("S[1,2]", [3]), ("S[1,2,3]", [4])],
        2: [("", [1]), ("S[1]", [2]), ("S[1,2]", [3])],
        3: [("", [1]), ("S[1]", [2])],
    }
    assert summarizer.calls == expected[offset]
    assert session.summary.covers_through == 5 - offset
    assert sent(session) == list(range(6 - offset, 6))


def test_runs_that_came_in_together_are_summarized_together(scripted):
    summarizer = scripted()
    session = make_session(runs=7, settings=AT_ONCE | {"offset": 2})
    assert advance_all(session) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert summarizer.calls == [("", [1, 2, 3, 4, 5])]


def test_an_offset_of_all_runs_summarizes_nothing(scripted):
    summarizer = scripted()
    session = make_session(runs=5, settings=AT_ONCE | {"offset": 5})
    assert advance_all(session) == [Outcome.NOTHING_DUE]
    assert summarizer.calls == []


def test_max_runs_loses_nothing_to_the_summary(scripted):
    """Griptape, defect a: with offset 1 and max_runs 3, after ten adds q4 to q10 are nowhere."""
    summarizer = scripted()
    session = make_session(settings=AT_ONCE | {"offset": 1, "max_runs": 3})
    for _ in range(10):
        append_turns(session)
        advance_all(session)
    assert summarizer.calls[-1] == ("S[1,2,3,4,5,6,7,8]", [9])
    assert session.summary.text == "S[1,2,3,4,5,6,7,8,9]"
    assert sent(session) == [10]


def test_capped_runs_are_summarized_although_the_prompt_is_far_from_full(scripted):
    scripted()
    session = make_session(settings={"offset": 1, "max_runs": 3, "max_input_tokens": 4000})
    for _ in range(10):
        append_turns(session)
        advance_all(session)
        fates = session_prompt(session=session).fates
        assert {each.fate for each in fates} <= {Fate.KEPT, Fate.SUMMARIZED}
    assert session.summary.covers_through == 7


def test_nothing_is_summarized_below_the_share_and_then_down_to_the_other(scripted):
    summarizer = scripted()
    settings = {"max_input_tokens": 1000, "offset": 2, "summarize_at": 0.75, "summarize_to": 0.4}
    session = make_session(settings=settings)
    # A turn of 48 words " word" and "ok": 3 + 1 + 50 and 3 + 1 + 1 tokens, 59 by hand.
    for _ in range(12):
        append_runs(session=session, runs=[simple_turn("say" + " word" * 49, "ok")], now=NOW)
        session.refresh_from_db()
        assert session.tokens_o200k == 59 * session.last_position
        assert advance_all(session) == [Outcome.NOTHING_DUE]
    append_runs(session=session, runs=[simple_turn("say" + " word" * 49, "ok")], now=NOW)
    # 3 + 13 * 59 = 770 > 750; the newest 6 need 3 + 354 <= 400, 7 would need 416.
    assert advance_all(session) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    assert summarizer.calls == [("", [1, 2, 3, 4, 5, 6, 7])]


def test_a_backlog_is_taken_in_batches_until_it_is_done(scripted, monkeypatch):
    summarizer = scripted()
    monkeypatch.setattr(summarizers, "BATCH_TOKENS", 35)
    session = make_session(settings={"max_input_tokens": 120, "summarize_at": 0.9, "summarize_to": 0.3, "offset": 1})
    append_turns(session, 9)
    # A turn is 2 * (3 + 1 + 3) = 14 tokens by hand: "question", " ", "1".
    assert {run.tokens_o200k for run in session.runs.all()} == {14}
    # 3 + 126 > 108 begins; two runs a batch; 3 + 28 <= 36 ends it with runs 8 and 9 left.
    assert advance_all(session) == [Outcome.ADVANCED] * 4 + [Outcome.NOTHING_DUE]
    assert [runs for _, runs in summarizer.calls] == [[1, 2], [3, 4], [5, 6], [7]]


def test_a_run_larger_than_a_batch_is_taken_alone(scripted, monkeypatch):
    summarizer = scripted()
    monkeypatch.setattr(summarizers, "BATCH_TOKENS", 5)
    session = make_session(runs=3, settings=AT_ONCE | {"offset": 0})
    advance_all(session)
    assert [runs for _, runs in summarizer.calls] == [[1], [2], [3]]


def test_an_unfinished_run_is_never_summarized(scripted):
    summarizer = scripted()
    session = make_session(runs=2, settings=AT_ONCE | {"offset": 0})
    turn = replace(simple_turn("question 3", None), status=RunStatus.RUNNING)
    (open_run,) = append_runs(session=session, runs=[turn], now=NOW)
    advance_all(session)
    assert summarizer.calls == [("", [1, 2])]
    change_run(run=open_run, status=RunStatus.COMPLETED, now=NOW, output="answer 3")
    advance_all(session)
    assert summarizer.calls[1:] == [("S[1,2]", [3])]


def test_other_strategies_summarize_nothing_and_let_the_wish_rest(scripted):
    summarizer = scripted()
    session = make_session(runs=9, settings=AT_ONCE | {"strategy": "buffer"})
    assert session.summary_wanted_at == NOW
    assert advance_all(session) == [Outcome.NOTHING_DUE]
    assert session.summary_wanted_at is None
    assert summarizer.calls == []


def test_a_longer_summary_is_cut_at_a_sentence_and_marked(scripted):
    scripted("One two three. Four five six. Seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.")
    session = make_session(runs=2, settings=AT_ONCE | {"offset": 1, "max_summary_tokens": 12})
    advance_all(session)
    assert session.summary.text == "One two three. Four five six. [shortened]"


def test_a_fork_goes_on_from_what_its_parent_summarized_of_their_shared_runs(scripted):
    summarizer = scripted()
    parent = make_session(make_project(), "parent", runs=4, settings=AT_ONCE | {"offset": 1})
    advance_all(parent)
    fork = fork_session(session=parent, at=3, now=NOW)
    append_turns(fork, 2)
    advance_all(fork)
    assert summarizer.calls == [("", [1, 2, 3]), ("S[1,2,3]", [4])]
    covered = {each.public_id: each.summary.covers_through for each in (fork, parent) if each.summary}
    assert covered == {fork.public_id: 4, "parent": 3}
    assert sent(fork) == [5]


def test_a_fork_is_handed_nothing_that_it_shares_and_a_child_only_what_its_parent_shares(scripted):
    scripted()
    settings = AT_ONCE | {"offset": 1, "include_parent_context": True, "parent_depth": 3}
    root = make_session(make_project(), "root", runs=3, settings=settings)
    advance_all(root)
    append_turns(root, 3)
    advance_all(root)
    early, late, between = (fork_session(session=root, at=at, now=NOW, title=f"at {at}") for at in (1, 5, 4))
    forks = [early, late, between, fork_session(session=late, at=2, now=NOW)]
    children = [create_session(project=root.project, parent=fork, title="child", now=NOW) for fork in forks]

    def heard(session):
        return [context.text for context in SessionTranscript(session).parent_contexts(3)]

    assert [heard(fork) for fork in forks] == [[], [], [], []]
    assert [heard(child) for child in children] == [[], ["S[1,2,3,4,5]"], ["S[1,2]"], ["S[1,2]"]]


@pytest.mark.parametrize("share", [1, 0.75])
def test_what_the_next_prompt_loses_is_summarized_whatever_share_it_has(scripted, share):
    # So many turns of 14 tokens are summarized that the others need the share of 300; the summary takes up to 148.
    scripted(*["A sentence of the summary. " * 30] * 20)
    settings = {"max_input_tokens": 300, "summarize_at": share, "summarize_to": share, "offset": 2}
    session = make_session(runs=23, settings=settings)
    advance_all(session)
    plan = session_plan(session=session)
    assert (plan.lost, plan.cut) == ((), None)
    assert plan.covers_through in range(9, 15)
    assert session.summary_wanted_at is None


def test_a_message_that_comes_when_all_is_done_costs_one_query(scripted, django_assert_num_queries):
    scripted()
    session = make_session(runs=9, settings=AT_ONCE | {"offset": 1})
    assert advance_all(session) == [Outcome.ADVANCED, Outcome.NOTHING_DUE]
    with django_assert_num_queries(1):
        assert advance(session_pk=session.pk, now=NOW) is Outcome.NOTHING_DUE


def test_what_only_this_times_question_loses_is_not(scripted):
    scripted()
    session = make_session(runs=15, settings={"max_input_tokens": 300, "offset": 2, "on_gap": "warn"})
    prompt = session_prompt(session=session, query="word " * 100)
    assert prompt.lost
    assert advance_all(session) == [Outcome.NOTHING_DUE]
    assert "catch up" not in prompt.warnings[-1].detail


def test_an_unknown_window_does_not_hold_back_what_ages(scripted):
    scripted()
    session = make_session(runs=3, settings={"summarize_at": 0, "offset": 1, "model": "nobody-knows-this"})
    advance_all(session)
    assert session.summary.covers_through == 2
    waiting = create_session(
        project=session.project, public_id="other", now=NOW, settings={"model": "nobody-knows-this"}
    )
    append_turns(waiting, 30)
    assert advance_all(waiting) == [Outcome.NOTHING_DUE]


def test_c13_the_summary_replaces_the_runs_it_covers(scripted):
    case = json.loads((CASES / "C13-summary-plus-everything.json").read_text())
    summarizer = scripted()
    given = case["settings"]
    session = make_session(
        settings={
            "summarize_at": 0,
            "offset": given["offset"],
            "max_input_tokens": given["token_budget"],
            "model": "gpt-4",
        }
    )
    for run in case["input"]["runs"]:
        append_runs(session=session, runs=[simple_turn(run["input"], run["output"])], now=NOW)
        advance_all(session)
    numbers = [[int(run.removeprefix("r")) for run in call["runs"]] for call in case["computed"]["calls"]]
    previous = [(call["previous_summary"] or "").replace("r", "") for call in case["computed"]["calls"]]
    assert summarizer.calls == list(zip(previous, numbers, strict=True))
    assert session.summary.covers_through == case["computed"]["index"]
    prompt = session_prompt(session=session, query=case["input"]["next_input"])
    text = json.dumps(prompt.messages)
    assert "S[1,2,3]" in text
    for position, run in enumerate(case["input"]["runs"], 1):
        assert (run["input"] in text) == (position > 3)
    assert prompt.messages is not None
    assert prompt.messages[-1]["content"] == case["input"]["next_input"]
    assert session_prompt(session=session, query=case["input"]["next_input"]) == prompt
    session.refresh_from_db()
    assert session.summary.covers_through == case["computed"]["index"]


def test_a_step_costs_the_same_in_a_long_session(scripted, django_assert_max_num_queries):
    scripted()
    counts = []
    for length in (20, 2000):
        session = make_session(make_project(f"p{length}"), f"s{length}", settings=AT_ONCE | {"offset": 2})
        append_turns(session, length)
        advance_all(session)
        append_turns(session)
        with django_assert_max_num_queries(26) as captured:
            assert advance(session_pk=session.pk, now=NOW) is Outcome.ADVANCED
        counts.append(len(captured))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("own", "overrides", "due"),
    [
        ({}, {"summarize_at": 0, "offset": 4}, (1, 6)),
        ({}, {"summarize_at": 0, "offset": 10}, None),
        ({}, {"strategy": "buffer", "summarize_at": 0, "offset": 4}, None),
        ({}, {"max_runs": 7, "offset": 0}, (1, 3)),
        (AT_ONCE | {"offset": 4}, {"offset": 2}, (7, 8)),
        (AT_ONCE | {"offset": 4}, {"offset": 5}, None),
        (AT_ONCE | {"offset": 4}, {"max_summary_tokens": 64}, None),
    ],
)
@pytest.mark.parametrize("caught_up", [True, False])
def test_it_foretells_what_saving_settings_will_summarize(scripted, own, overrides, due, caught_up):
    scripted()
    session = make_session(runs=10, settings=own)
    if caught_up:
        advance_all(session)

    plan = session_plan(session=session, overrides=overrides)
    assert summaries.due_under(session=session, overrides=overrides, plan=plan) == due

    advance_all(session)
    before = session.summary.covers_through if session.summary else 0
    update_session(session=session, changes={"settings": overrides}, now=NOW)
    advance_all(session)
    assert (session.summary.covers_through if session.summary else 0) == (due[1] if due else before)


def test_it_foretells_that_runs_which_would_be_lost_are_summarized(scripted):
    scripted()
    session = make_session(runs=12, settings={"max_input_tokens": 4000})
    overrides = {"max_input_tokens": 130, "summarize_at": 1, "summarize_to": 1}
    plan = session_plan(session=session, overrides=overrides)
    assert plan.gap

    due = summaries.due_under(session=session, overrides=overrides, plan=plan)

    session.settings |= overrides
    session.save()
    advance_all(session)
    assert due is not None
    assert due[0] == 1
    assert 1 <= due[1] <= session.summary.covers_through
