import pytest

from sessions_app.domain.plan import Fate
from sessions_app.queries.bands import Span
from sessions_app.queries.why_rows import CHANGED, WhyAsked, why_table
from sessions_app.services.prompts import session_prompt
from tests.factories import make_open_run, make_session

pytestmark = pytest.mark.django_db


def table(session, *, a=None, b=None, **asked):
    session.refresh_from_db()
    prompts = {"a": session_prompt(session=session, overrides=a), "b": session_prompt(session=session, overrides=b)}
    return why_table(session=session, asked=WhyAsked(**asked), **prompts), prompts["b"]


def lines(rows):
    return [
        f"cut before {row.position}" if row.kind == "cut" else f"{row.first}-{row.last} {row.look_a} {row.look_b}"
        for row in rows
    ]


BUFFER = {"strategy": "buffer"}


def test_runs_stand_newest_first_with_both_fates():
    session = make_session(runs=3, settings=BUFFER)
    make_open_run(session)
    found, _ = table(session, b={"last_n": 1})
    assert lines(found.rows) == [
        "4-4 query query",
        "3-3 kept kept",
        "2-2 kept skipped",
        "1-1 kept skipped",
    ]
    assert [row.input for row in found.rows] == ["question", "question 3", "question 2", "question 1"]
    assert [row.differs for row in found.rows] == [False, False, True, True]
    assert found.changed == 2
    assert (found.counts[Fate.KEPT], found.counts[Fate.SKIPPED]) == (2, 2)


def test_the_used_budget_adds_up_to_the_tokens_of_the_runs():
    session = make_session(runs=10, settings=BUFFER)
    found, prompt = table(session)
    assert found.rows[-1].used == prompt.tokens.runs
    assert found.rows[0].used == found.rows[0].tokens
    assert found.room == prompt.budget - prompt.tokens.total + prompt.tokens.runs


def test_the_cut_stands_before_the_newest_run_that_does_not_fit():
    session = make_session(runs=30, settings=BUFFER)
    found, prompt = table(session, b={"max_input_tokens": 60})
    cut = next(row for row in found.rows if row.kind == "cut")
    newest_dropped = max(fates.last for fates in prompt.fates if fates.fate is Fate.PRUNED)
    at = found.rows.index(cut)
    assert cut.position == newest_dropped == found.rows[at + 1].first
    assert (cut.left, cut.needs > cut.left) == (prompt.free, True)


def test_far_runs_are_groups_that_open():
    session = make_session(runs=100, settings=BUFFER)
    found, _ = table(session)
    assert lines(found.rows)[-1] == "1-60 kept kept"
    opened, _ = table(session, opened=Span(21, 60), within=Span(1, 60))
    assert lines(opened.rows) == [*(f"{n}-{n} kept kept" for n in range(60, 20, -1)), "1-20 kept kept"]
    assert opened.rows[0].used == found.rows[-2].used + opened.rows[0].tokens


def test_a_single_run_is_no_group():
    session = make_session(runs=30, settings=BUFFER)
    found, _ = table(session, b={"max_runs": 26})
    assert lines(found.rows)[-2:] == ["2-2 kept capped", "1-1 kept capped"]
    assert [(row.grouped, row.input) for row in found.rows[-2:]] == [(False, "question 2"), (False, "question 1")]


def test_filters_keep_to_a_fate_or_to_what_differs():
    session = make_session(runs=5, settings=BUFFER)
    kept, _ = table(session, b={"last_n": 2}, only=Fate.KEPT)
    changed, _ = table(session, b={"last_n": 2}, only=CHANGED)
    assert [row.first for row in kept.rows] == [5, 4]
    assert [row.first for row in changed.rows] == [3, 2, 1]


def test_its_cost_does_not_grow_with_the_session(django_assert_num_queries):
    session = make_session(runs=1000, settings=BUFFER | {"max_input_tokens": 500})
    prompt = session_prompt(session=session)
    with django_assert_num_queries(3):
        found = why_table(session=session, a=prompt, b=prompt, asked=WhyAsked())
    assert len(found.rows) < 50


def test_a_stopgap_extract_says_so_in_the_reason():
    session = make_session(runs=40, settings={"max_input_tokens": 300})
    found, prompt = table(session, b={})
    row = next(row for row in found.rows if row.kind == "run" and prompt.extract[0] <= row.first <= prompt.extract[1])
    assert (row.look_b, row.reason) == ("summarized", "stopgap extract: does not fit and is not summarized yet")
