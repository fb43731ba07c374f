"""What the next summary of a session waits for."""

import pytest

from sessions_app.models import Session
from sessions_app.queries.next_summaries import next_summary, obstacle
from sessions_app.queries.session_pages import summary_work, tree_rows
from sessions_app.queries.summary_ledgers import unfinished_row
from sessions_app.services.prompts import effective_settings
from tests.factories import NOW, make_open_run, make_session
from tests.queries.test_summary_ledgers import add, use

pytestmark = pytest.mark.django_db


def coming(session, **overrides):
    session = Session.objects.get(pk=session.pk)
    return next_summary(session, effective_settings(session=session, overrides=overrides))


def test_it_counts_what_the_budget_is_needed_for():
    session = make_session(runs=4, settings={"max_input_tokens": 1000, "offset": 1})
    waits = coming(session)
    # The frame of a prompt needs 3 tokens.
    assert waits.needed == session.tokens_o200k + 3
    assert (waits.budget, waits.percent_at, waits.percent_to) == (1000, 75, 40)
    assert waits.percent == round(waits.needed / 10)
    assert (waits.first, waits.last, waits.finished, waits.first_kept_out) == (1, 3, 4, 4)


def test_covered_runs_need_nothing_more():
    session = make_session(runs=4, settings={"max_input_tokens": 1000, "offset": 1})
    use(session, add(session, 1, 3))
    newest = session.runs.get(position=4)
    assert coming(session).needed == newest.tokens_o200k + 3
    assert not coming(session).is_possible
    assert coming(session, offset=0).is_possible


def test_an_open_run_is_not_finished():
    session = make_session(runs=4, settings={"offset": 1})
    make_open_run(session)
    assert (coming(session).finished, coming(session).last) == (4, 3)


def test_under_a_model_whose_window_is_unknown_there_is_no_budget():
    session = make_session(runs=4, settings={"model": "nobody/knows-it"})
    assert (coming(session).budget, coming(session).percent) == (None, 0)


@pytest.mark.parametrize(
    ("runs", "covers", "why"),
    [
        (0, 0, "There is no finished run yet."),
        (9, 0, ""),
        (9, 3, "All other runs are in a summary already; offset 6 keeps the newest out."),
        (9, 9, "Every finished run is in a summary already."),
    ],
)
def test_it_says_why_nothing_can_be_summarized(runs, covers, why):
    session = make_session(runs=runs)
    if covers:
        use(session, add(session, 1, covers))
    assert obstacle(coming(session), None) == why


@pytest.mark.parametrize(
    ("status", "why"), [("running", "Summary #1 is running."), ("pending", "Summary #1 waits for a worker.")]
)
def test_what_goes_on_is_an_obstacle(status, why):
    session = make_session(runs=9)
    add(session, 1, 3, status=status)
    assert obstacle(coming(session), unfinished_row(session).entry) == why
    assert summary_work(session).running


def test_a_cancelled_entry_is_no_failure():
    session = make_session(runs=9)
    add(session, 1, 3, status="cancelled")
    assert summary_work(session) is None


def test_a_failure_is_one_as_long_as_it_is_tried_again():
    session = make_session(runs=9)
    add(session, 1, 3, status="failed")
    assert summary_work(session) is None
    session.next_attempt_at = NOW
    assert not summary_work(session).running


def test_the_tree_tells_whose_summaries_fail_rest_or_are_made():
    session = make_session(runs=9)
    states = [tree_rows(session, address=str)[0][0]]
    add(session, 1, 3, status="running")
    Session.objects.update(next_attempt_at=NOW, rests_since=NOW)
    states.append(tree_rows(session, address=str)[0][0])
    assert [(row.failing, row.resting, row.running) for row in states] == [(False,) * 3, (True,) * 3]
