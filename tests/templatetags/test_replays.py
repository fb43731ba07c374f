import re
from datetime import UTC, datetime

import pytest

from sessions_app.domain.replays.replay import replay
from sessions_app.queries.replay_views import ReplayedSide, bins_of
from sessions_app.templatetags.replay_heats import HEAT, replay_heat
from sessions_app.templatetags.replay_totals import fates_shown, replay_totals
from sessions_app.templatetags.replays import replay_chart, replay_readout
from tests.domain.fakes.transcripts import InMemoryTranscript, assistant, call, exchange, run, settings, user

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def side(turns, key="a", **overrides):
    """Return a replayed side; a run needs 14 tokens, a question 7, a prompt 3 more."""
    return side_of([exchange(f"question {n}", f"answer {n}") for n in range(1, turns + 1)], key, **overrides)


def side_of(runs, key="a", **overrides):
    effective = settings(**{"strategy": "buffer", **overrides})
    transcript = InMemoryTranscript(runs)
    (replayed,) = replay(transcript, [effective], batch_tokens=32_000, now=NOW)
    budget = effective.values.max_input_tokens
    return ReplayedSide(key, {"a": "Saved", "b": "Draft"}[key], effective.values, budget, replayed)


def chart(*sides, turns, shown=1):
    bins = {each.key: bins_of(each, turns) for each in sides}
    return str(replay_chart(sides, bins, turns, shown, "?turn="))


def heat(one, turns):
    return str(replay_heat(one, {one.key: bins_of(one, turns)}, turns, 1))


def test_each_turn_is_a_column_that_tells_its_tokens():
    drawn = chart(side(4), side(4, "b", last_n=1), turns=4)
    assert re.findall(r"<title>([^<]+)</title>", drawn) == [
        "turn 1: A 10 tokens, cannot see 0 · B 10 tokens, cannot see 0",
        "turn 2: A 24 tokens, cannot see 0 · B 24 tokens, cannot see 0",
        "turn 3: A 38 tokens, cannot see 0 · B 24 tokens, cannot see 1",
        "turn 4: A 52 tokens, cannot see 0 · B 24 tokens, cannot see 2",
    ]
    assert 'href="?turn=3#turn-x"' in drawn


def test_many_turns_share_columns_that_tell_the_least_and_the_most():
    one = side(600, last_n=1)
    titles = re.findall(r"<title>([^<]+)</title>", chart(one, turns=600))
    assert len(titles) == 200
    assert titles[0] == "turns 1–3: A 10 to 24 tokens, cannot see 0 to 1"
    assert titles[-1] == "turns 598–600: A 24 tokens, cannot see 596 to 598"


def test_the_budget_is_drawn_once_where_both_share_it_and_not_where_it_flattens_all():
    both = (side(9, max_input_tokens=60), side(9, "b", max_input_tokens=60, last_n=2))
    assert chart(*both, turns=9).count('class="limit"') == 1
    assert ">A and B: budget" in chart(*both, turns=9)
    others = (side(9, max_input_tokens=60), side(9, "b", max_input_tokens=70))
    assert chart(*others, turns=9).count('class="limit"') == 2
    assert all(f">{each}: budget" in chart(*others, turns=9) for each in "AB")
    assert 'class="limit"' not in chart(side(3, max_input_tokens=90_000), turns=3)


def test_summaries_are_marked_and_counted():
    one = side(12, strategy="summary", offset=2, summarize_at=0, max_summary_tokens=20)
    drawn = chart(one, turns=12)
    assert "A: 9 summaries" in drawn
    assert drawn.count('class="event"') == 9


def test_a_turn_without_a_prompt_is_a_gap_in_the_line():
    one = side(4, autoprune=False, max_input_tokens=30)
    drawn = chart(one, turns=4)
    assert "turn 4: A no prompt" in drawn
    (line,) = re.findall(r'class="line-a" d="([^"]+)"', drawn)
    assert line.count("H") == 2


def test_runs_stand_on_top_of_each_other_by_fate_the_oldest_on_top():
    drawn = heat(side(4, last_n=1), 4)
    assert "What becomes of every run at every later turn under Saved: in the prompt, not sent: skipped" in drawn
    (skipped,) = re.findall(r'fill="url\(#p-skipped\)" d="([^"]+)"', drawn)
    tall = [float(height) for height in re.findall(r"v([\d.]+)", skipped)]
    assert tall == pytest.approx([HEAT / 4, 2 * HEAT / 4])


def test_lost_runs_are_seen_however_few_they_are():
    one = side(1500, strategy="summary", on_gap="warn", offset=1499, max_input_tokens=20_980, max_summary_tokens=10)
    assert one.replay.totals.turns_with_lost > 0
    (lost,) = re.findall(r'fill="url\(#p-lost\)" d="([^"]+)"', heat(one, 1500))
    assert min(float(height) for height in re.findall(r"v([\d.]+)", lost)) >= 1.5


def test_the_totals_say_by_how_much_the_second_differs():
    found = {total.name: total.lines for total in replay_totals([side(4), side(4, "b", last_n=1)])}
    assert found["Cannot see, last turn"] == [("a", "0 runs", ""), ("b", "2 runs", "+2")]
    # 10 + 24 + 38 + 52, and 10 + 24 + 24 + 24.
    assert found["Prompt tokens, all turns"] == [("a", "124", ""), ("b", "82", "\N{MINUS SIGN}33.9 %")]


def test_the_totals_say_by_what_share_the_second_costs_more():
    found = {total.name: total.lines for total in replay_totals([side(5, last_n=1), side(5, "b")])}
    # 106 and 190 tokens, of which 7 and 7 + 21 + 35 + 49 are in the cache, where one costs a quarter.
    assert [note for *_, note in found["Input cost, nothing cached"]] == ["", "+79.2 %"]
    assert [note for *_, note in found["Input cost, part cached"]] == ["", "+5.2 %"]


def looking(*results):
    calls = [call(result=result, call_id=f"c{place}", parent=1) for place, result in enumerate(results)]
    return run(user("Look."), assistant(), *calls, assistant("Done."))


def test_turns_whose_prompts_have_cut_tool_results_are_counted_where_there_are_any():
    runs = [looking("long " * 60, "short"), looking("long " * 60), exchange("Bye.", "Bye."), exchange("Hm?", "Yes.")]
    whole, cut = side_of(runs), side_of(runs, "b", tool_result_max_tokens=20)
    found = {total.name: total.lines for total in replay_totals([whole, cut])}
    # Turns 2, 3 and 4 have such a run before them.
    assert found["Turns with cut tool results"] == [("a", "0", ""), ("b", "3", "+3")]
    assert re.findall(r"B [^<]*?(\d results? cut)", chart(whole, cut, turns=4)) == [
        "1 result cut",
        "2 results cut",
        "2 results cut",
    ]
    assert "Turns with cut tool results" not in {total.name for total in replay_totals([whole])}


def test_the_readout_is_that_of_the_column_of_the_turn():
    one = side(600)
    assert replay_readout([one], {"a": bins_of(one, 600)}, 5).startswith("turns 4–6: A ")


def test_the_legend_has_the_fates_that_there_are():
    assert fates_shown([side(4), side(4, "b", last_n=1)]) == ["kept", "skipped"]


def test_a_short_conversation_fills_the_chart_and_the_cursor_ends_at_the_axis():
    drawn = chart(side(3), turns=3, shown=3)
    slots = [tuple(map(float, each)) for each in re.findall(r'class="slot" x="([\d.]+)" y="0" width="([\d.]+)"', drawn)]
    # The field is 986 wide behind 44 of labels.
    assert slots == [(44, 328.67), (372.67, 328.67), (701.33, 328.67)]
    # 166 high, of which the lowest 20 are the turns' numbers.
    assert 'd="M0 0V146"' in drawn
