import pytest

from sessions_app.domain.errors import BudgetTooSmall
from tests.domain.strategies.prompts import build, fates, numbered, sent

RUN = 12
QUERY_AND_PROMPT = 7 + 3
MARK = 7


def test_it_keeps_the_first_runs_and_the_newest_that_fit_and_marks_the_gap():
    prompt = build(numbered(9), strategy="head_tail", head_runs=2, max_input_tokens=QUERY_AND_PROMPT + 4 * RUN + MARK)
    assert sent(prompt) == [
        ("user", "q1"),
        ("assistant", "a1"),
        ("user", "q2"),
        ("assistant", "a2\n\n[5 runs not shown]"),
        ("user", "q8"),
        ("assistant", "a8"),
        ("user", "q9"),
        ("assistant", "a9"),
        ("user", "Go on."),
    ]
    limit = f"max_input_tokens {prompt.budget}"
    assert fates(prompt) == [
        (1, 2, "kept", "fits the budget"),
        (3, 6, "pruned", f"{limit}: behind the cut"),
        (7, 7, "pruned", f"{limit}: first that does not fit"),
        (8, 9, "kept", "fits the budget"),
    ]


def test_where_all_fits_there_is_no_mark_and_room_for_none():
    tokens = QUERY_AND_PROMPT + 9 * RUN
    prompt = build(numbered(9), strategy="head_tail", head_runs=2, max_input_tokens=tokens)
    assert prompt.tokens.total == tokens
    assert fates(prompt) == [(1, 9, "kept", "fits the budget")]
    assert not any("not shown" in content for _, content in sent(prompt))


def test_the_newest_run_comes_before_the_first_ones():
    prompt = build(numbered(9), strategy="head_tail", max_input_tokens=QUERY_AND_PROMPT + RUN)
    assert [each[:3] for each in fates(prompt)] == [(1, 1, "pruned"), (2, 8, "pruned"), (9, 9, "kept")]


def test_with_autoprune_off_the_error_counts_all_runs_wherever_the_budget_ends():
    for kept in range(9):
        limit = QUERY_AND_PROMPT + kept * RUN + MARK - 1
        with pytest.raises(BudgetTooSmall) as refused:
            build(numbered(9), strategy="head_tail", head_runs=3, autoprune=False, max_input_tokens=limit)
        assert 9 * RUN <= refused.value.needs["runs"] <= 9 * RUN + MARK


def test_without_first_runs_it_is_a_buffer():
    for budget in (30, 60, 100, 500):
        head_tail = build(numbered(9), strategy="head_tail", head_runs=0, max_input_tokens=budget)
        assert sent(head_tail) == sent(build(numbered(9), strategy="buffer", max_input_tokens=budget))


def test_more_first_runs_than_there_are_mean_all():
    assert fates(build(numbered(3), strategy="head_tail", head_runs=50)) == [(1, 3, "kept", "fits the budget")]
    assert fates(build([], strategy="head_tail")) == []


def test_the_first_runs_are_the_first_that_the_settings_leave():
    prompt = build(numbered(9), strategy="head_tail", last_n=4, max_input_tokens=QUERY_AND_PROMPT + 3 * RUN + MARK)
    assert [each[:3] for each in fates(prompt)] == [
        (1, 5, "skipped"), (6, 6, "kept"), (7, 7, "pruned"), (8, 9, "kept"),
    ]  # fmt: skip
