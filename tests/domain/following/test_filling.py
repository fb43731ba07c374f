import pytest

from sessions_app.domain.following.filling import fill
from sessions_app.domain.following.sights import Sight, Why

SAID, LOST = Sight(Why.IN_RUN, 1), Sight(Why.LOST, 1)


class Builds:
    """Builds sights of a truth, and remembers which."""

    def __init__(self, truth):
        self.truth, self.asked = truth, []

    def __call__(self, index):
        self.asked.append(index)
        return self.truth[index]


def test_a_few_that_are_not_known_are_all_built():
    truth = [SAID, LOST, SAID, LOST]
    build = Builds(truth)
    assert fill([SAID, None, None, LOST], build=build, most=2) == (truth, 0)
    assert build.asked == [1, 2]


def test_nothing_is_built_where_all_is_known():
    build = Builds([])
    assert fill([SAID, LOST], build=build, most=5) == ([SAID, LOST], 0)
    assert fill([], build=build, most=5) == ([], 0)
    assert build.asked == []


@pytest.mark.parametrize("change", [1, 2, 137, 500, 998, 999])
def test_where_they_change_is_found_by_halving(change):
    truth = [SAID] * change + [LOST] * (1_000 - change)
    build = Builds(truth)
    found, guessed = fill([None] * 1_000, build=build, most=20)
    assert found == truth
    assert len(build.asked) <= 20
    assert guessed == 1_000 - len(build.asked)


def test_marks_find_what_halving_would_miss():
    truth = [SAID] * 400 + [LOST] * 10 + [SAID] * 590
    assert fill([None] * 1_000, build=Builds(truth), most=30)[0] != truth
    assert fill([None] * 1_000, build=Builds(truth), marks=[400], most=30)[0] == truth


def test_no_more_are_built_than_allowed_whatever_they_are_like():
    truth = [SAID, LOST] * 500
    build = Builds(truth)
    found, _ = fill([None] * 1_000, build=build, marks=range(1_000), most=40)
    assert len(found) == 1_000
    assert len(build.asked) <= 40
    assert all(found[index] == truth[index] for index in build.asked)


def test_what_is_known_stays():
    known = [SAID] * 100 + [None] * 300 + [LOST] * 100
    truth = [SAID] * 250 + [LOST] * 250
    assert fill(known, build=Builds(truth), most=20)[0] == truth
