"""What every strategy is, whichever there are."""

from pathlib import Path
from typing import Any

import pytest

from sessions_app.domain import strategies
from sessions_app.domain.memory_settings import Strategy
from sessions_app.domain.strategies import STRATEGIES
from tests.domain.strategies.prompts import build, numbered

FILES = {path.stem for path in Path(strategies.__file__).parent.glob("*.py")} - {"__init__"}
TESTS = {path.stem.removeprefix("test_") for path in (Path(__file__).parent / "strategies").glob("test_*.py")}


def test_each_has_a_file_of_its_name_and_a_test_of_that():
    assert set(Strategy) == FILES == set(STRATEGIES)
    # Buffer and summary are what the tests of the builder, of fates and of gaps are about.
    assert set(Strategy) - TESTS == {"buffer", "summary"}


@pytest.mark.parametrize("strategy", Strategy)
def test_each_says_in_a_part_of_a_sentence_what_it_sends(strategy: Strategy):
    about = STRATEGIES[strategy].ABOUT
    assert about[0].islower()
    assert not about.endswith(".")


@pytest.mark.parametrize("strategy", Strategy)
def test_each_gives_every_run_one_fate_whatever_the_settings_leave(strategy: Strategy):
    several: list[dict[str, Any]] = [
        {}, {"last_n": 0}, {"max_runs": 1}, {"max_input_tokens": 10}, {"max_input_tokens": 40},
    ]  # fmt: skip
    for overrides in several:
        for count in (0, 1, 2, 7):
            prompt = build(numbered(count), strategy=strategy, **overrides)
            assert [p for each in prompt.fates for p in range(each.first, each.last + 1)] == [*range(1, count + 1)]
