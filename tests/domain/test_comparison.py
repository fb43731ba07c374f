from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import settings as run_with
from hypothesis import strategies as st

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.comparison import Change, Difference, aligned, difference, input_cost
from sessions_app.domain.language_models import ModelFacts
from sessions_app.domain.plan import Fate, Prompt
from tests.domain.fakes.transcripts import InMemoryTranscript, exchange, settings

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
FACTS = ModelFacts(input_price=Decimal("2.50"))
READER = InMemoryTranscript([exchange(f"q{n}", f"a{n}") for n in range(1, 10)], instructions="Be kind.")


def build(**overrides: Any) -> Prompt:
    effective = settings(strategy="buffer", **overrides)
    return build_prompt(reader=READER, settings=replace(effective, facts=FACTS), query=None)


def fates(prompt: Prompt) -> dict[int, Fate]:
    return {position: each.fate for each in prompt.fates for position in range(each.first, each.last + 1)}


def compare(a: Prompt, b: Prompt) -> Difference:
    return difference(a, b, now=NOW)


def test_the_same_settings_change_nothing():
    assert compare(build(), build()) == Difference((), 0, Decimal(0))


def test_runs_that_fare_differently_are_ranges():
    found = compare(build(max_runs=7, last_n=4), build(max_runs=5))
    assert found.changes == (
        Change(3, 4, Fate.SKIPPED, Fate.CAPPED),
        Change(5, 5, Fate.SKIPPED, Fate.KEPT),
    )


def test_another_reason_for_the_same_fate_is_no_change():
    assert compare(build(max_runs=3), build(max_runs=3, last_n=9)).changes == ()
    assert [each.reason for each in build(last_n=3).fates] != [each.reason for each in build(last_n=4).fates]


def test_the_delta_is_what_b_needs_more():
    # A run is "q1" and "a1": 3 + 1 + 2 each.
    found = compare(build(), build(last_n=4))
    assert (found.tokens, found.input_cost) == (-5 * 12, Decimal("-0.00015"))


def test_without_a_price_there_is_no_cost():
    unknown = build_prompt(reader=READER, settings=settings(model="unheard-of", max_input_tokens=900), query=None)
    assert input_cost(unknown, now=NOW) is None
    assert compare(build(), unknown).input_cost is None
    assert compare(unknown, build()).input_cost is None


def test_the_cost_is_that_of_all_tokens_uncached():
    prompt = build()
    assert input_cost(prompt, now=NOW) == prompt.tokens.total * Decimal("2.50") / 1_000_000


OVERRIDES = st.fixed_dictionaries(
    {
        "max_runs": st.sampled_from(["unlimited", 1, 4, 8]),
        "last_n": st.sampled_from(["unlimited", 0, 3, 8]),
        "max_input_tokens": st.integers(60, 200),
    }
)


@run_with(max_examples=100, deadline=None)
@given(OVERRIDES, OVERRIDES)
def test_changes_are_the_runs_whose_fates_differ_as_few_ranges_as_can_be(one: dict[str, Any], other: dict[str, Any]):
    a, b = build(**one), build(**other)
    changes = compare(a, b).changes
    listed = {position: (each.a, each.b) for each in changes for position in range(each.first, each.last + 1)}
    before, after = fates(a), fates(b)
    assert listed == {each: (before[each], after[each]) for each in before if before[each] is not after[each]}
    for left, right in pairwise(changes):
        assert left.last < right.first
        assert left.last + 1 < right.first or (left.a, left.b) != (right.a, right.b)


def test_two_prompts_stand_side_by_side_with_the_reasons_of_both():
    # An exchange needs 12 tokens, the instructions 7, a prompt 3 beside: three of them fit.
    a, b = build(max_input_tokens=46), build(last_n=5)
    found = [(each.first, each.last, str(each.a), str(each.b), each.why_a, each.why_b) for each in aligned(a, b)]
    cut, newest = "max_input_tokens 46", "last_n 5: only the newest 5 runs"
    assert found == [
        (1, 4, "pruned", "skipped", f"{cut}: behind the cut", newest),
        (5, 6, "pruned", "kept", cut, "fits the budget"),
        (7, 9, "kept", "kept", "fits the budget", "fits the budget"),
    ]


def test_side_by_side_covers_each_run_once():
    prompts = [build(max_input_tokens=46), build(max_runs=7, last_n=4), build()]
    for a in prompts:
        for b in prompts:
            found = aligned(a, b)
            assert [p for each in found for p in range(each.first, each.last + 1)] == list(range(1, 10))
