import re
from types import SimpleNamespace

from sessions_app.domain.plan import Fate
from sessions_app.templatetags.strips import run_strip


def strip_bar(first, last=None, fate=Fate.KEPT, tokens=100):
    return SimpleNamespace(first=first, last=last or first, fate=fate, tokens=tokens, url=f"#run-{first}")


def heights(drawn):
    return [int(height) for height in re.findall(r'height="(\d+)" fill', drawn)]


def test_it_makes_every_run_a_link_with_its_fate_and_size():
    drawn = run_strip([strip_bar(1, fate=Fate.LOST, tokens=1026), strip_bar(2, fate="query")])

    assert re.findall(r'href="([^"]+)"', drawn) == ["#run-1", "#run-2"]
    assert re.findall(r"<title>([^<]+)", drawn) == ["Run 1: lost, 1,026 tokens", "Run 2: open run, 100 tokens"]
    assert re.findall(r"#p-(\w+)", drawn) == ["lost", "query"]


def test_the_height_follows_the_square_root_of_the_tokens():
    assert heights(run_strip([strip_bar(1, tokens=400), strip_bar(2, tokens=100), strip_bar(3, tokens=0)])) == [
        34,
        17,
        5,
    ]


def test_it_labels_both_ends_and_round_numbers():
    drawn = run_strip([strip_bar(position) for position in range(1, 59)])

    assert re.findall(r'text-anchor="\w+">([^<]+)', drawn) == ["1", "10", "20", "30", "40", "50", "58"]


def test_one_bar_may_stand_for_many_runs():
    drawn = run_strip([strip_bar(1, 999), strip_bar(1000, 1999, fate=Fate.SUMMARIZED)])

    assert "<title>Runs 1–999: in the prompt, 100 tokens" in drawn
    assert re.findall(r'text-anchor="\w+">([^<]+)', drawn) == ["1", "1,999"]


def test_it_draws_nothing_without_runs():
    assert run_strip([]) == ""


def test_a_few_bars_keep_the_width_they_have_among_many():
    drawn = run_strip([strip_bar(1), strip_bar(2)])

    assert drawn.count('width="4.167%"') == 2
