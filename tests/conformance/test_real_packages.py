"""What the comparisons rest on: a comparison that found nothing to compare, or left out too much, is no success."""

import pytest

from tests.conformance import real_packages
from tests.conformance.real_packages import ENVIRONMENTS, Tally, interpreter
from tests.services_plugin import EXPECTED_SKIPS


@pytest.fixture(autouse=True)
def own_tallies(monkeypatch):
    monkeypatch.setattr(real_packages, "tallies", [])


def tally(*, same: int = 0, different: int = 0, left_out: int = 0) -> Tally:
    counted = Tally("griptape", left_out=real_packages.Counter(a_defect=left_out))
    for number in range(same + different):
        counted.compare("ours", "ours" if number < same else "theirs", number)
    return counted


def test_all_the_same_and_one_in_twenty_left_out_is_a_success():
    counted = tally(same=95, left_out=5)
    counted.settle()
    assert str(counted) == "griptape: 95 compared, 0 differences; left out: a defect 5"


@pytest.mark.parametrize(
    ("counted", "found"),
    [
        (tally(same=99, different=1), "1 differences, the first: {'ours': 'ours', 'theirs': 'theirs', 'case': 99}"),
        (tally(same=94, left_out=6), "more than one in twenty of 100"),
        (tally(), "nothing was compared"),
    ],
)
def test_a_difference_too_many_left_out_or_nothing_compared_is_none(counted: Tally, found: str):
    with pytest.raises(AssertionError, match=found):
        counted.settle()


@pytest.mark.parametrize("package", ENVIRONMENTS)
def test_a_package_that_is_missing_is_an_error_only_where_it_is_asked_for(tmp_path, package: str):
    with pytest.raises(pytest.skip.Exception) as skipped:
        interpreter(package, root=tmp_path, asked_for=False)
    assert any(word in str(skipped.value) for word in EXPECTED_SKIPS)
    with pytest.raises(pytest.fail.Exception, match="is not installed"):
        interpreter(package, root=tmp_path, asked_for=True)


@pytest.mark.parametrize("package", ENVIRONMENTS)
def test_a_package_that_is_there_is_found(tmp_path, package: str):
    python = tmp_path / ENVIRONMENTS[package] / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert interpreter(package, root=tmp_path, asked_for=True) == python
