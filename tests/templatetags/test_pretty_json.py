import json

import pytest

from sessions_app.templatetags.pretty_json import pretty_json


def test_it_lays_out_nested_json_and_keeps_short_parts_in_one_line():
    flights = [{"no": f"HX {n}", "dep": "09:15", "together": 4} for n in (420, 424, 416)]
    assert pretty_json(json.dumps({"flights": flights, "until": None}), 60) == (
        '{\n  "flights": [\n'
        '    {"no": "HX 420", "dep": "09:15", "together": 4},\n'
        '    {"no": "HX 424", "dep": "09:15", "together": 4},\n'
        '    {"no": "HX 416", "dep": "09:15", "together": 4}\n'
        '  ],\n  "until": null\n}'
    )


def test_it_breaks_what_is_longer_than_the_line():
    text = '{"from": "HAM", "to": "LIS", "seats": 4}'
    assert pretty_json(text, 40) == text
    assert pretty_json(text, 39) == '{\n  "from": "HAM",\n  "to": "LIS",\n  "seats": 4\n}'


def test_it_keeps_numbers_and_repeated_keys_as_they_were_given():
    text = '{"a":1.50,"a":123456789012345678901234567890,"b":1e999,"c":-0,"d":NaN}'
    assert pretty_json(text, 88) == '{"a": 1.50, "a": 123456789012345678901234567890, "b": 1e999, "c": -0, "d": NaN}'


@pytest.mark.parametrize(
    "text", ["", "plain words", "{not json", '"a text"', "12", "[" * 5000, "{" + " " * 60_000 + "}"]
)
def test_what_is_not_short_json_stays_as_it_is(text):
    assert pretty_json(text, 88) == text


def test_half_of_a_surrogate_pair_stays_as_it_was_written():
    assert pretty_json('{"a": "\\ud800", "b": "\\ud83d\\ude00"}', 80) == '{"a": "\\ud800", "b": "\N{GRINNING FACE}"}'
