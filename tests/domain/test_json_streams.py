"""Values out of streams: places, reasons, and going on behind what is broken."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.domain import json_streams
from sessions_app.domain.json_streams import json_items, json_lines, parse


def lines(data):
    return [(found.place, found.value, found.error) for found in json_lines(io.BytesIO(data))]


def items(data):
    return [(found.place, found.value, found.error) for found in json_items(io.BytesIO(data))]


def places_and_errors(found):
    return [(place, error) for place, _, error in found if error]


def test_lines_are_numbered_and_blank_ones_skipped():
    assert lines(b'{"a": 1}\n\n  \r\n[2]\r\n3') == [(1, {"a": 1}, ""), (4, [2], ""), (5, 3, "")]


def test_a_byte_order_mark_is_not_part_of_the_first_value():
    assert lines(b"\xef\xbb\xbf1\n2") == [(1, 1, ""), (2, 2, "")]
    assert items(b"\xef\xbb\xbf[1, 2]") == [(1, 1, ""), (2, 2, "")]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\v", "\f"])
def test_lines_end_at_line_feeds_only(separator):
    text = json.dumps(f"a{separator}b", ensure_ascii=False).replace("\\u000b", " ").replace("\\f", " ")
    assert len(lines(f"{text}\n{text}".encode())) == 2


def test_a_broken_line_is_reported_with_its_number_and_the_rest_comes_in():
    found = lines(b'1\n{"a": \n3\n\xff\n5')
    assert [value for _, value, error in found if not error] == [1, 3, 5]
    assert places_and_errors(found) == [
        (2, "It is not JSON: Expecting value at character 6."),
        (4, "It is not UTF-8: byte 1 of it is not a part of any character."),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"NaN", "NaN is not a number of JSON"),
        (b"[-Infinity]", "-Infinity is not a number of JSON"),
        (b"1e999", "the number 1e999 is too large"),
        (b"9" * 5000, "is too large"),
        (b"[" * 100_000, "nested too deeply"),
        (b"1 2", "Extra data at character 3"),
    ],
)
def test_it_takes_strict_json_only(text, reason):
    assert reason in parse(text, 1).error


def test_items_of_a_list_are_counted():
    assert items(b' [ {"a": [1, 2]} , "x,]" ,\n3] \n') == [(1, {"a": [1, 2]}, ""), (2, "x,]", ""), (3, 3, "")]


@pytest.mark.parametrize("data", [b"[]", b" [ \n ] "])
def test_an_empty_list_has_no_items(data):
    assert items(data) == []


def test_one_value_is_one_item():
    assert items(b'{\n "a": [1]\n}\n') == [(1, {"a": [1]}, "")]


def test_a_broken_item_is_reported_and_the_rest_comes_in():
    found = items(b'[1, {"a": tru}, , 4,]')
    assert [value for _, value, error in found if not error] == [1, 4]
    assert [place for place, _ in places_and_errors(found)] == [2, 3, 5]


@pytest.mark.parametrize("data", [b"[1, 2", b'[1, {"a": "x', b'[1, "a\\"]'])
def test_a_list_that_breaks_off_is_said(data):
    found = items(data)
    assert found[0] == (1, 1, "")
    assert places_and_errors(found)[-1] == (2, "The list breaks off here: a bracket or a quote is not closed.")


def test_what_stands_behind_the_list_is_said():
    assert places_and_errors(items(b"[1] [2]")) == [(2, "There is more behind the end of the list.")]


def test_a_value_that_is_too_large_is_reported_and_the_rest_comes_in(monkeypatch):
    monkeypatch.setattr(json_streams, "LARGEST_VALUE", 50)
    monkeypatch.setattr(json_streams, "_CHUNK", 16)
    large = b"[" + b'"abcdefgh", ' * 20 + b"1]"
    assert places_and_errors(lines(b"1\n" + large + b"\n3")) == [(2, json_streams.TOO_LARGE)]
    found = items(b"[1, " + large + b", 3]")
    assert places_and_errors(found) == [(2, json_streams.TOO_LARGE)]
    assert [value for _, value, error in found if not error] == [1, 3]
    assert places_and_errors(items(b'{"a": ' + large + b"}")) == [(1, json_streams.TOO_LARGE)]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.text(alphabet='"\\{}[],x'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=10,
)


@given(st.lists(values, max_size=5), st.booleans(), st.integers(1, 40))
def test_any_list_is_read_as_python_reads_it_whatever_the_chunks(value, ascii_only, chunk):
    data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace")
    whole = json_streams._CHUNK
    json_streams._CHUNK = chunk
    try:
        found = items(data)
    finally:
        json_streams._CHUNK = whole
    assert [item for _, item, _ in found] == json.loads(data)
