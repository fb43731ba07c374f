import re

import pytest

from sessions_app.domain.following.sights import Hit, Interval, Part, Place, Why
from sessions_app.domain.following.ways import WayKind
from sessions_app.domain.memory_settings import Layer
from sessions_app.queries.fact_ways import ChangedSetting, WayRow
from sessions_app.templatetags.turn_strips import place_look, turn_strip, way_label

INTERVALS = [
    Interval(1, 9, Why.NOT_SAID, (), ()),
    Interval(10, 17, Why.IN_RUN, (9,), ()),
    Interval(18, 40, Why.IN_SUMMARY, (9,), (1, 2)),
    Interval(41, 58, Why.SUMMARIZED_AWAY, (9,), (3,)),
]
HITS = [Hit(9, frozenset({Part.INPUT}))]


def test_each_turn_is_a_link_with_its_place():
    drawn = turn_strip(INTERVALS, HITS, 'knee "brace"', 42)
    assert drawn.count("<a ") == 58
    assert '<a href="?words=knee+%22brace%22&amp;at=41" tabindex="-1"><title>Turn 41: nowhere</title>' in drawn
    assert re.findall(r'aria-current="true"><title>([^<]*)<', drawn) == ["Turn 42: nowhere"]
    assert [drawn.count(f"url(#p-{look})") for look in ("free", "kept", "summarized", "lost")] == [9, 8, 23, 18]


def test_it_names_who_says_it_and_where_summaries_take_it_over_and_drop_it():
    drawn = turn_strip(INTERVALS, HITS, "w", None)
    assert re.findall(r"<text class[^>]*>([^<]*)<", drawn) == ["run 9 says it", "#1", "#3 drops it"]
    assert "word for word in turns 10–17" in drawn


def test_many_turns_are_drawn_by_intervals():
    drawn = turn_strip(
        [Interval(1, 9_000, Why.IN_RUN, (1,), ()), Interval(9_001, 10_000, Why.LOST, (1,), ())], HITS, "w", None
    )
    assert drawn.count("<a ") == 2
    assert "<title>Turns 9,001–10,000: nowhere</title>" in drawn


def test_very_many_intervals_are_drawn_together_and_none_that_misses_the_words_is_hidden():
    flicker = [Interval(at, at, Why.LOST if at % 100 == 0 else Why.IN_RUN, (1,), ()) for at in range(1, 10_001)]
    drawn = turn_strip(flicker, HITS, "w", None)
    assert drawn.count("<a ") <= 301
    assert drawn.count("url(#p-lost)") == 100


def test_nothing_is_drawn_without_turns():
    assert turn_strip([], [], "w", None) == ""


@pytest.mark.parametrize("place", list(Place))
def test_each_place_has_a_look(place):
    assert place_look(place) in {"kept", "summarized", "query", "pruned", "lost", "free"}


@pytest.mark.parametrize(
    ("changes", "layer", "label"),
    [
        ({"strategy": "summary"}, None, "Strategy summary"),
        ({"max_input_tokens": 1375}, None, "Budget 1,375 or more"),
        ({"max_input_tokens": 4000}, Layer.PROJECT, "Budget 4,000, as the project has it"),
        ({"on_gap": "stopgap"}, Layer.BUILT_IN, "on_gap stopgap, as it is built in"),
        ({"last_n": 7, "max_input_tokens": 120}, None, "last_n 7 and Budget 120 or more"),
    ],
)
def test_a_way_is_called_by_what_it_changes_and_who_has_that(changes, layer, label):
    changed = [ChangedSetting(name, value) for name, value in changes.items()]
    way = WayRow(
        WayKind.SETTINGS, "", "", changed, Place.WORDS, layer, None, None, is_extract=False, reach=None, price=None
    )
    assert way_label(way) == label
