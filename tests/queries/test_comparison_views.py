import pytest

from sessions_app.domain.openai_messages import turn
from sessions_app.queries.comparison_views import MOST_CHANGES, MOST_ROWS, comparison_view
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_session

pytestmark = pytest.mark.django_db


def view(session, *, one_by_one=False, a=None, **overrides):
    ours, theirs = (session_prompt(session=session, overrides=each) for each in (a or {}, overrides))
    return comparison_view(session=session, a=ours, b=theirs, now=NOW, one_by_one=one_by_one)


@pytest.fixture
def session():
    return make_session(runs=30, instructions="Be brief.", settings={"strategy": "buffer"})


def test_what_both_send_is_a_line_or_one_for_each_run(session):
    assert [row.words for row in view(session).rows] == ["System: instructions", "Runs 1–30"]
    words = [row.words for row in view(session, one_by_one=True).rows]
    assert words[:3] == ["System: instructions", "Run 1", "Run 2"]
    assert len(words) == 31


def test_of_many_runs_that_one_alone_sends_the_first_and_last_are_shown(session):
    kinds = [(row.kind, row.words or (row.a or row.b).words) for row in view(session, last_n=5).rows]
    assert kinds == [
        ("same", "System: instructions"),
        *[("differs", f"run {n}, user and assistant") for n in (1, 2, 3)],
        ("folded", "Runs 4–22"),
        *[("differs", f"run {n}, user and assistant") for n in (23, 24, 25)],
        ("same", "Runs 26–30"),
    ]


def test_a_changed_range_says_what_its_runs_need(session):
    (change,) = view(session, last_n=5).changes
    assert (change.change.first, change.change.last, change.count) == (1, 25, 25)
    # "question n" and "answer n" need 3 + 1 + 3 tokens each.
    assert change.tokens == 25 * 14


def test_rows_and_changes_are_bounded():
    session = make_session(runs=200, settings={"strategy": "buffer"})
    found = view(session, one_by_one=True, last_n=150)
    assert len(found.rows) == MOST_ROWS
    assert found.left_out > 0
    assert len(found.changes) <= MOST_CHANGES


def test_figures_of_a_side_without_a_prompt_are_not_known(session):
    prompt = session_prompt(session=session)
    found = comparison_view(session=session, a=prompt, b=None, now=NOW, one_by_one=False)
    assert {figure.b for figure in found.figures} == {None}
    assert found.rows == ()
    assert next(each.a for each in found.figures if each.name == "Prompt tokens") == prompt.tokens.total


def looked_up(result):
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return turn(
        [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": result},
        ]
    )


def test_cut_tool_results_are_counted_where_either_has_any():
    session = make_session(settings={"strategy": "buffer"})
    append_runs(session=session, runs=[looked_up("word " * 120), looked_up("short"), looked_up("word " * 120)], now=NOW)

    def counted(**overrides):
        return [(each.a, each.b, each.change) for each in view(session, **overrides).figures if "cut" in each.name]

    assert counted(tool_result_max_tokens=20) == [(0, 2, 2)]
    assert counted(a={"tool_result_max_tokens": 20}, keep_tool_results=0) == [(2, 3, 1)]
    assert counted(last_n=1) == []


def test_a_long_text_that_differs_at_its_end_is_shown_from_there_on():
    session = make_session()
    append_runs(session=session, runs=[looked_up("word " * 120 + "needle")], now=NOW)

    row = next(row for row in view(session, a={"tool_result_max_tokens": 110}).rows if row.kind == "differs")

    # "Look. → look({}) → " and the words that both have, less the lead.
    assert row.a.skipped == row.b.skipped > 400
    assert "[shortened]" in row.a.text
    assert "needle" in row.b.text
    assert (row.a.left_out, row.b.left_out) == (0, 0)


def test_a_long_text_that_differs_early_is_shown_from_its_beginning():
    session = make_session()
    append_runs(session=session, runs=[looked_up("word " * 120)], now=NOW)

    row = next(row for row in view(session, a={"tool_result_max_tokens": 8}).rows if row.kind == "differs")

    assert row.a.skipped == row.b.skipped == 0
    assert row.b.text.startswith("Look. → look({}) → word")
    assert row.b.left_out > 0
