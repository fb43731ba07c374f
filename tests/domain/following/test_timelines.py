from datetime import UTC, datetime, timedelta

from sessions_app.domain.following.timelines import Lifetime, SummaryTimeline
from sessions_app.domain.transcript import SummaryEntry

START = datetime(2026, 5, 4, 12, tzinfo=UTC)


def at(hour):
    return START + timedelta(hours=hour)


def entry(number, covers):
    return SummaryEntry(f"sum_{number}", number, covers, f"text {number}")


FIRST, SECOND, AGAIN = entry(1, 4), entry(2, 8), entry(3, 8)
TIMELINE = SummaryTimeline(
    [
        Lifetime(FIRST, (4, 1), ((at(1), None),)),
        Lifetime(SECOND, (8, 2), ((at(2), at(4)), (at(6), None))),
        Lifetime(AGAIN, (8, 3), ((at(5), at(6)),)),
    ]
)


def test_before_the_first_there_is_none():
    assert TIMELINE.newest_at(at(0)) is None
    assert SummaryTimeline([]).newest_at(at(0)) is None


def test_an_entry_is_in_use_from_its_moment_on_until_it_is_not():
    found = [TIMELINE.newest_at(at(hour)) for hour in (1, 2, 3, 4, 5, 6, 9)]
    assert found == [FIRST, SECOND, SECOND, FIRST, AGAIN, SECOND, SECOND]


def test_one_that_covers_too_much_is_passed_over():
    assert TIMELINE.newest_at(at(3), 7) == FIRST
    assert TIMELINE.newest_at(at(3), 8) == SECOND
    assert TIMELINE.newest_at(at(3), 3) is None


def test_of_two_that_cover_the_same_the_one_of_the_higher_rank_is_newer():
    both = [Lifetime(AGAIN, (8, 3), ((at(1), None),)), Lifetime(SECOND, (8, 2), ((at(1), None),))]
    assert SummaryTimeline(both).newest_at(at(1)) == AGAIN
