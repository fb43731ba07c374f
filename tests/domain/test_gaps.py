from dataclasses import replace
from typing import Any

import pytest

from sessions_app.domain.builder import build_prompt
from sessions_app.domain.errors import RunsLost
from sessions_app.domain.plan import Fate, Prompt
from sessions_app.domain.transcript import ParentContext, Run, SummaryEntry
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, exchange, run, settings, user

FACT = "My locker number is 4711 and I never eat peanuts."


def told(count: int) -> list[Run]:
    """A fact first, then runs of some thirty tokens."""
    filler = "The tide gauge counts fresh chalk marks on odd days only."
    return [exchange(FACT, "Noted."), *(exchange(f"{n}: {filler}", f"{n}: {filler}") for n in range(2, count + 1))]


def build(runs: list[Run] | InMemoryTranscript, **overrides: Any) -> Prompt:
    reader = runs if isinstance(runs, InMemoryTranscript) else InMemoryTranscript(runs)
    return build_prompt(reader=reader, settings=settings(**overrides), query="Go on.")


def fates(prompt: Prompt) -> list[tuple[int, int, str, str]]:
    return [(each.first, each.last, each.fate.value, each.reason) for each in prompt.fates]


def codes(prompt: Prompt) -> list[str]:
    return [warning.code.value for warning in prompt.warnings]


def system_of(prompt: Prompt) -> str:
    assert prompt.messages is not None
    return str(prompt.messages[0]["content"]) if prompt.messages[0]["role"] == "system" else ""


def test_an_extract_stands_in_for_runs_that_no_summary_covers_marked_and_warned_of():
    prompt = build(told(40), max_input_tokens=600)
    (extracted, kept) = fates(prompt)
    assert extracted[0] == 1
    assert extracted[2:] == ("summarized", "stopgap extract")
    assert kept[1:] == (40, "kept", "fits the budget")
    assert system_of(prompt).startswith(f"# Extract of runs 1-{extracted[1]}, not summarized yet\n")
    assert "4711" in system_of(prompt)
    assert codes(prompt) == ["runs_extracted"]
    assert "raise max_input_tokens" in prompt.warnings[0].detail
    assert prompt.unseen == 0
    assert prompt.covers_through is None


def test_it_stands_beside_the_summary_for_the_runs_behind_it():
    reader = InMemoryTranscript(told(40), summaries=[SummaryEntry("s1", 1, 10, "They met.")])
    prompt = build(reader, max_input_tokens=600)
    assert fates(prompt)[0][:3] == (1, 10, "summarized")
    assert fates(prompt)[1][0] == 11
    assert fates(prompt)[1][3] == "stopgap extract"
    assert "# Summary of runs 1-10\nThey met.\n\n# Extract of runs 11-" in system_of(prompt)


def test_summary_parents_and_extract_get_at_most_half_together():
    reader = InMemoryTranscript(
        told(60),
        summaries=[SummaryEntry("s1", 1, 5, "They met. " * 30)],
        parents=[ParentContext("Root", "Long ago. " * 30)],
    )
    for budget in range(200, 900, 50):
        prompt = build(reader, max_input_tokens=budget, include_parent_context=True)
        assert prompt.tokens.summary + prompt.tokens.parent_context <= (budget - 7 - 3) / 2
        assert prompt.tokens.total <= budget


def test_the_summary_leaves_it_a_quarter_of_their_half_and_is_cut_at_a_sentence_which_is_said():
    half, sentence = (400 - 10) // 2, 5
    reader = InMemoryTranscript(told(40), summaries=[SummaryEntry("s1", 1, 5, "The tide was low. " * 100)])
    prompt = build(reader, max_input_tokens=400)
    summary, extract = (segment for segment in prompt.segments if segment.heading.startswith(("Summary", "Extract")))
    assert summary.text.endswith("The tide was low. [shortened]")
    assert summary.tokens + half // 4 <= half
    assert summary.tokens + half // 4 + sentence > half
    assert extract.tokens <= half // 4
    assert [each.fate for each in prompt.fates] == [Fate.SUMMARIZED, Fate.SUMMARIZED, Fate.KEPT]
    assert codes(prompt) == ["summary_cut", "runs_extracted"]
    assert prompt.warnings[0].detail == (
        "Summary 1 is shortened: an extract of runs that would be lost needs a part of its room."
    )


def test_a_summary_that_leaves_enough_stays_whole_beside_it():
    whole = ("The tide was low. " * 12).strip()
    reader = InMemoryTranscript(told(40), summaries=[SummaryEntry("s1", 1, 5, whole)])
    prompt = build(reader, max_input_tokens=400)
    assert f"{whole}\n\n# Extract" in system_of(prompt)
    assert codes(prompt) == ["runs_extracted"]


def test_parents_give_way_to_it_before_the_summary_does():
    summary = ("They met. " * 20).strip()
    reader = InMemoryTranscript(
        told(60),
        summaries=[SummaryEntry("s1", 1, 5, summary)],
        parents=[ParentContext("Root", "Long ago. " * 200)],
    )
    prompt = build(reader, max_input_tokens=400, include_parent_context=True)
    assert codes(prompt) == ["parent_context_cut", "runs_extracted"]
    assert summary in system_of(prompt)
    assert "an extract of runs" in prompt.warnings[0].detail


def test_where_not_even_a_few_words_of_it_fit_the_runs_are_lost_and_it_says_why():
    for summaries in ([], [SummaryEntry("s1", 1, 5, "A word. " * 200)]):
        prompt = build(InMemoryTranscript(told(40), summaries=summaries), max_input_tokens=55)
        assert Fate.LOST in {each.fate for each in prompt.fates}
        lost = next(warning for warning in prompt.warnings if warning.code == "runs_lost")
        assert "and not even an extract of a few words fits into its half of the room. Ways out: raise" in lost.detail
        assert "runs_extracted" not in codes(prompt)


def test_it_takes_the_place_of_the_newest_run_only_where_nothing_else_can_give_way():
    for budget in range(75, 400, 5):
        prompt = build(told(40), max_input_tokens=budget)
        assert fates(prompt)[-1][1:3] == (40, "kept")
    large = [*told(40), exchange("How much? " * 20, "So much. " * 20)]
    alone = build(large, max_input_tokens=2_000, last_n=1).tokens.total
    for budget in range(alone, alone + 20, 4):
        prompt = build(large, max_input_tokens=budget)
        assert fates(prompt) == [(1, 41, "summarized", "stopgap extract")]
        assert codes(prompt) == ["newest_run_dropped", "runs_extracted"]
    assert fates(build(large, max_input_tokens=alone + 30))[-1][:3] == (41, 41, "kept")


def test_beside_a_summary_the_newest_run_stays_since_the_summary_gives_way():
    large = [*told(40), exchange("How much? " * 20, "So much. " * 20)]
    reader = InMemoryTranscript(large, summaries=[SummaryEntry("s1", 1, 5, "The tide was low. " * 8)])
    whole = build(reader, max_input_tokens=2_000, last_n=1).tokens.total
    prompt = build(reader, max_input_tokens=whole)
    assert [each[2] for each in fates(prompt)] == ["summarized", "summarized", "kept"]
    assert codes(prompt) == ["summary_cut", "runs_extracted"]


def test_a_newest_run_that_may_be_cut_is_cut_for_it_rather_than_dropped():
    reader = InMemoryTranscript([*told(40), exchange("How much? " * 50, "So much. " * 50)])
    prompt = build_prompt(reader=reader, settings=settings(max_input_tokens=200), query="Go on.", shorten=True)
    assert [each[:3] for each in fates(prompt)] == [(1, 40, "summarized"), (41, 41, "kept")]
    assert set(codes(prompt)) == {"newest_run_shortened", "runs_extracted"}
    assert prompt.tokens.total <= 200


def test_where_all_others_fit_beside_a_newest_run_that_is_cut_there_is_none():
    steps = [assistant("tide gauge " * 6) for _ in range(30)]
    reader = InMemoryTranscript([exchange("One.", "Two."), run(user("Go."), *steps)])
    alone = build(reader, max_input_tokens=2_000, last_n=1).tokens.total
    for budget in range(alone, alone + 9):
        prompt = build_prompt(reader=reader, settings=settings(max_input_tokens=budget), query="Go on.", shorten=True)
        assert [each.fate.value for each in prompt.fates] == ["kept", "kept"]
        assert codes(prompt) == ["newest_run_shortened"]
        assert prompt.tokens.total <= budget


def test_it_is_made_whatever_max_summary_tokens_says():
    prompt = build(told(40), max_input_tokens=600, max_summary_tokens=1)
    assert [each[2] for each in fates(prompt)] == ["summarized", "kept"]
    assert prompt.tokens.summary <= 32


def test_it_covers_at_most_two_hundred_runs_and_older_ones_are_lost():
    reader = InMemoryTranscript(told(400))
    prompt = build(reader, max_input_tokens=1_000)
    lost, extracted, kept = fates(prompt)
    assert lost[0::2] == (1, "lost")
    assert extracted[1] - extracted[0] + 1 == 200
    assert kept[1:3] == (400, "kept")
    assert codes(prompt) == ["runs_extracted", "runs_lost"]
    assert "is reached, and an extract stands in for at most 200 runs. Ways out: raise" in prompt.warnings[1].detail
    without = InMemoryTranscript(told(400))
    build(without, max_input_tokens=1_000, on_gap="warn")
    assert len(reader.fetched) <= len(without.fetched) + 199


def test_a_long_gap_costs_as_much_as_a_short_one():
    short, long = (InMemoryTranscript([exchange("one", "two")] * count) for count in (400, 4_000))
    for reader in (short, long):
        build(reader, max_input_tokens=1_000)
    assert len(short.fetched) == len(long.fetched)


def test_a_run_that_makes_room_for_it_needs_more_than_is_left_beside_it():
    for budget in range(100, 1_200, 30):
        cut = build(told(60), max_input_tokens=budget).cut
        assert cut is None or cut.needs > cut.left


def test_the_runs_that_stay_are_not_compared_with_those_that_make_room_for_it():
    class Incomparable(Run):
        def __eq__(self, other: object) -> bool:
            raise AssertionError("Comparing each with each takes the longer the more are sent.")

        __hash__ = None  # type: ignore[assignment]

    one = exchange("one", "two")
    runs: list[Run] = [Incomparable(0, one.status, one.events, tokens=one.tokens) for _ in range(40)]
    prompt = build(runs, max_input_tokens=300)
    assert prompt.extract is not None
    assert len(prompt.fates) > 1


def test_runs_that_are_huge_together_are_all_in_it_though_only_the_beginnings_of_their_texts_are_read():
    class Strict(InMemoryTranscript):
        def newest_before(self, position: int, *, not_below: int, tokens: int) -> list[Run]:
            assert 0 <= tokens <= 100_000
            return super().newest_before(position, not_below=not_below, tokens=tokens)

    huge = replace(exchange(FACT, "Noted. " * 400), tokens=90_000)
    late = replace(exchange("Hello, you.", "So it goes. " * 10_000 + "The end is 8712."), tokens=90_000)
    prompt = build(Strict([huge, *[late] * 9, *told(10)]), max_input_tokens=400)
    assert prompt.extract is not None
    assert prompt.extract[0] == 1
    assert prompt.lost == ()
    assert "4711" in system_of(prompt)
    assert "8712" not in system_of(prompt)


def test_it_is_no_longer_than_a_summary_may_be():
    prompt = build(told(40), max_input_tokens=600, max_summary_tokens=30)
    assert 0 < prompt.tokens.summary <= 30


def test_with_warn_they_are_lost_and_nothing_stands_in():
    prompt = build(told(40), max_input_tokens=600, on_gap="warn")
    assert [each.fate.value for each in prompt.fates] == ["lost", "lost", "kept"]
    assert codes(prompt) == ["runs_lost"]
    assert system_of(prompt) == ""


def test_with_error_the_prompt_is_refused_and_says_which_runs_and_the_ways_out():
    with pytest.raises(RunsLost) as refused:
        build(told(40), max_input_tokens=600, on_gap="error")
    kept_from = next(each.first for each in build(told(40), max_input_tokens=600, on_gap="warn").fates[::-1])
    assert refused.value.detail.startswith(f"Runs 1-{kept_from - 1} would be neither in the prompt nor in its summary")
    assert "raise max_input_tokens" in refused.value.detail
    assert [error.pointer for error in refused.value.errors] == ["/settings/on_gap"]


def test_without_a_gap_nothing_of_it_shows():
    for on_gap in ("warn", "error", "stopgap"):
        prompt = build(told(5), max_input_tokens=600, on_gap=on_gap)
        assert fates(prompt) == [(1, 5, "kept", "fits the budget")]
        assert prompt.warnings == ()


def test_under_another_strategy_dropped_runs_are_pruned_whatever_it_says():
    prompt = build(told(40), max_input_tokens=600, on_gap="error", strategy="buffer")
    assert fates(prompt)[0][2] == "pruned"


def test_the_string_for_griptapes_format_holds_it_too():
    prompt = build(told(40), max_input_tokens=600, format="text")
    assert prompt.text is not None
    assert prompt.text.startswith(f"User: Extract of runs 1-{fates(prompt)[0][1]}, not summarized yet: ")
