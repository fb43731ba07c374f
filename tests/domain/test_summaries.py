"""The decision which runs to summarize next, by hand and against the laws at random."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.domain.errors import EmptySummary
from sessions_app.domain.memory_settings import MemorySettings, Strategy
from sessions_app.domain.summaries import Standing, SummaryRequest, accepted_text, next_step, retry_seconds


def settings(**values):
    return MemorySettings(model="m", **values)


def step(weights, *, covered=0, budget=1000, fixed=0, batch=10_000, continuing=False, lost=0, **values):
    """The next step over runs of the given weights, all of them finished."""
    waiting = weights[covered:]
    standing = Standing(len(weights), covered, fixed, sum(waiting), budget, continuing, lost)
    return next_step(standing=standing, settings=settings(**values), waiting=iter(waiting), batch_tokens=batch)


def test_it_takes_all_that_aged_beyond_offset_when_summarize_at_is_0():
    assert step([10] * 9, summarize_at=0, offset=6) == 3
    assert step([10] * 6, summarize_at=0, offset=6) is None
    assert step([10] * 9, covered=2, summarize_at=0, offset=1) == 8


def test_it_waits_until_more_than_the_share_is_needed():
    assert step([100] * 7, fixed=50, offset=1, summarize_at=0.75, summarize_to=0.4) is None
    assert step([100] * 7, fixed=51, offset=1, summarize_at=0.75, summarize_to=0.4) == 4


def test_it_stops_where_the_rest_needs_at_most_the_other_share():
    # It needs 850 of 750; without five runs 350 of 400, without four 450.
    assert step([100] * 8, fixed=50, offset=1, summarize_at=0.75, summarize_to=0.4) == 5


def test_it_never_takes_the_newest_offset_runs_however_little_room_there_is():
    assert step([500] * 8, offset=3, summarize_at=0.75, summarize_to=0.4) == 5
    assert step([500] * 3, offset=3) is None


def test_fixed_parts_alone_over_the_share_make_every_aged_run_due():
    assert step([1] * 4, fixed=900, offset=2) == 2


def test_summarizing_down_to_more_than_it_begins_at_takes_what_is_above_both():
    assert step([100] * 8, offset=0, summarize_at=0.5, summarize_to=0.7) == 1
    assert step([100] * 7, offset=0, summarize_at=0.5, summarize_to=0.7) is None


def test_capped_runs_are_due_at_any_fullness_and_only_those():
    assert step([10] * 9, offset=1, max_runs=4) == 5
    assert step([10] * 9, covered=5, offset=1, max_runs=4) is None
    assert step([10] * 9, offset=6, max_runs=4) == 3


def test_what_the_next_prompt_loses_is_due_at_any_fullness_and_presses_the_others():
    assert step([10] * 9, offset=1, lost=2) == 2
    assert step([100] * 6, offset=1, lost=1) == 2
    assert step([10] * 9, offset=8, lost=4) == 1
    assert step([10] * 9, covered=4, offset=1, lost=4) is None


def test_the_pressure_is_measured_without_the_capped_runs():
    # 8 capped runs of 100 go; the 4 that stay need 400 <= 750.
    assert step([100] * 12, offset=1, max_runs=4) == 8
    # After the 4 capped ones 8 need 800 > 750, so it goes on until 400.
    assert step([100] * 12, offset=1, max_runs=8) == 8


def test_a_batch_ends_before_its_limit_but_has_one_run():
    assert step([30, 30, 30, 30], summarize_at=0, offset=0, batch=70) == 2
    assert step([90, 30], summarize_at=0, offset=0, batch=70) == 1


def test_a_batch_that_follows_goes_on_down_to_the_lower_share():
    assert step([100] * 8, covered=2, offset=1, continuing=True) == 4
    assert step([100] * 8, covered=2, offset=1, continuing=False) is None


def test_without_a_budget_only_age_and_cap_count():
    assert step([100] * 50, budget=None, offset=1) is None
    assert step([100] * 50, budget=None, offset=1, summarize_at=0) == 49
    assert step([100] * 50, budget=None, offset=1, max_runs=10) == 40


def test_other_strategies_never_summarize():
    assert step([1000] * 9, strategy=Strategy.BUFFER, summarize_at=0, offset=0) is None


def test_runs_without_tokens_are_taken_too():
    assert step([0, 0, 0], summarize_at=0, offset=1) == 2


def test_only_the_runs_of_the_step_and_one_more_are_read():
    read = []

    def waiting():
        for weight in [100] * 1000:
            read.append(weight)
            yield weight

    standing = Standing(1000, 0, 0, 100_000, 99_800, False)
    through = next_step(standing=standing, settings=settings(summarize_to=0.999), waiting=waiting(), batch_tokens=10**9)
    assert through == 3
    assert len(read) == 4


@given(
    weights=st.lists(st.integers(0, 300), max_size=30),
    covered_share=st.floats(0, 1),
    fixed=st.integers(0, 500),
    offset=st.integers(0, 8),
    max_runs=st.none() | st.integers(1, 20),
    summarize_at=st.floats(0, 1),
    summarize_to=st.floats(0, 1),
)
def test_steps_end_in_a_state_that_the_settings_ask_for(
    weights, covered_share, fixed, offset, max_runs, summarize_at, summarize_to
):
    values = {"offset": offset, "max_runs": max_runs, "summarize_at": summarize_at, "summarize_to": summarize_to}
    covered = int(covered_share * len(weights))
    while (through := step(weights, covered=covered, fixed=fixed, **values)) is not None:
        assert covered < through <= len(weights) - offset
        covered = through
    last = len(weights) - offset
    if summarize_at == 0:
        assert covered >= last
    if max_runs is not None:
        assert covered >= min(last, len(weights) - max_runs)
    needed = fixed + sum(weights[covered:])
    assert covered >= last or needed <= 1000 * max(summarize_at, summarize_to)


def request(max_tokens, previous=""):
    return SummaryRequest(previous, (), max_tokens, lambda text: len(text.split()))


def test_an_answer_that_fits_stays_as_it_is_but_for_its_edges():
    assert accepted_text("  One two. \n", request(5)) == "One two."


def test_a_long_answer_is_cut_at_a_sentence_and_says_so():
    assert (
        accepted_text("One two three. Four five. Six seven eight.", request(6))
        == "One two three. Four five. [shortened]"
    )


def test_an_answer_whose_first_word_is_too_long_is_cut_anywhere():
    text = accepted_text("x" * 1000, SummaryRequest("", (), 10, len))
    assert text == "x" * 10


@pytest.mark.parametrize("answer", ["", "  ", "\n\t"])
def test_an_empty_answer_is_refused(answer):
    with pytest.raises(EmptySummary):
        accepted_text(answer, request(5))


def test_pauses_double_up_to_an_hour():
    assert [retry_seconds(n) for n in (1, 2, 3, 7, 8, 1000)] == [30, 60, 120, 1920, 3600, 3600]
