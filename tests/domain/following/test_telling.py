import pytest

from sessions_app.domain.following.sights import Interval, Why
from sessions_app.domain.following.telling import headline, told

NOT_SAID = Interval(1, 9, Why.NOT_SAID, (), ())
SAID = Interval(10, 17, Why.IN_RUN, (9,), ())
SUMMARIZED = Interval(18, 40, Why.IN_SUMMARY, (9,), (1, 2))
DROPPED = Interval(41, 43, Why.SUMMARIZED_AWAY, (9,), (3,))
AGAIN = Interval(44, 56, Why.IN_RUN, (43,), (3, 4))
LOST = Interval(57, 58, Why.LOST, (43,), (4,))


def test_a_fact_that_comes_and_goes_is_told_interval_by_interval():
    assert told([NOT_SAID, SAID, SUMMARIZED, DROPPED, AGAIN, LOST], 9) == [
        "run 9 says it first; from turn 10 on it can be in a prompt",
        "run 9 in the prompt",
        "#1, then #2",
        "left at summary #3, which covers run 9 without it",
        "run 43 says it again",
        "run 43 is lost: dropped by the budget, not in #4",
    ]


def test_what_was_in_no_summary_did_not_leave_at_one():
    assert told([SAID, DROPPED], 9)[1] == "summary #3 covers run 9 without it"
    assert told([Interval(5, 6, Why.LOST, (2,), ())], 2) == ["run 2 is lost: dropped by the budget, not summarized yet"]


def test_several_runs_that_say_it_are_named_as_far_as_they_are_few():
    assert told([Interval(2, 9, Why.IN_RUN, (1, 3, 7), ())], 1) == ["runs 1, 3 and 7 in the prompt"]
    many = Interval(2, 99, Why.IN_RUN, tuple(range(1, 99)), ())
    assert told([many], 1) == ["98 runs, the newest run 98, in the prompt"]


@pytest.mark.parametrize("why", list(Why))
def test_every_reason_is_told(why):
    (words,) = told([Interval(2, 3, why, (1,), (1,))], 1)
    assert words
    assert "{" not in words


def test_what_nobody_says_before_a_turn_is_told_so():
    assert told([Interval(1, 5, Why.NOT_SAID, (), ())], None) == ["no run says it before"]
    assert told([Interval(1, 5, Why.NOT_SAID, (), ())], 6) == ["no run says it before"]


def test_the_headline_is_where_it_was_missing_first_or_at_the_turn_that_is_asked_for():
    intervals = [NOT_SAID, SAID, SUMMARIZED, DROPPED, AGAIN, LOST]
    assert headline(intervals, told(intervals, 9)).startswith("Missing in turns 41 to 43: left at summary #3")
    assert headline(intervals, told(intervals, 9), 12) == headline(intervals, told(intervals, 9), 42)
    assert headline(intervals, told(intervals, 9), 58).startswith("Missing in turns 57 to 58: run 43 is lost")
    assert headline(intervals[:3], told(intervals[:3], 9)) == "Every prompt had it since it was said"
    assert (
        headline([NOT_SAID], ["no run says it before"]) == "Only the newest run says it, and no turn came after it yet"
    )
    assert headline([], []) == "There is no turn yet"
    one = [SAID, Interval(18, 18, Why.CAPPED, (9,), ())]
    assert headline(one, told(one, 9)) == "Missing in turn 18: run 9 is no longer remembered"


def test_a_question_that_says_it_itself_is_told_apart_from_turns_without_it():
    asked = Interval(28, 28, Why.IN_QUESTION, (4,), ())
    intervals = [Interval(24, 27, Why.LOST, (4,), ()), asked, Interval(29, 30, Why.IN_RUN, (28,), ())]
    words = told(intervals, 4)
    assert words[1:] == [
        "only the question itself says it; run 4, which told it before, is not in the prompt",
        "run 28 says it again",
    ]
    assert (
        headline(intervals, words) == f"Missing in turns 24 to 27; at 28 only the question itself says it: {words[0]}"
    )
    assert headline([asked], words[1:2]) == "At turn 28 only the question itself says it"
