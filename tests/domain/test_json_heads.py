"""What a file begins with, whole or cut off."""

import json

import pytest

from sessions_app.domain.json_heads import first_object, first_value

VALUE = [{"a": {"b": [1, 2, "x, ]}"]}, "c": "d"}, {"e": 1}]


def test_a_whole_value_is_read_and_what_follows_does_not_matter():
    assert first_value(json.dumps(VALUE).encode()) == VALUE
    assert first_value(b'\xef\xbb\xbf {"a": 1}\n{"b": 2}') == {"a": 1}


@pytest.mark.parametrize(
    ("head", "value"),
    [
        (b'[{"a": {"b": [1, 2, "x', [{"a": {"b": [1, 2]}}]),
        (b'[{"a": {"b": [1, 2]}, "c', [{"a": {"b": [1, 2]}}]),
        (b'[{"a": {"b": "a \\" [", "c": [', [{"a": {"b": 'a " [', "c": []}}]),
        (b'{"a": "\xe2\x82', {}),
    ],
)
def test_of_a_value_that_is_cut_off_comes_what_is_whole(head, value):
    assert first_value(head) == value


@pytest.mark.parametrize("head", [b"", b"PK\x03\x04", b"]", b"[" * 65536, b'{"a": "' + b'\\"' * 32000, b"{]"])
def test_nothing_comes_of_what_is_no_value(head):
    assert not first_object(head)


def test_the_first_object_is_that_of_a_list_too():
    assert first_object(json.dumps(VALUE).encode()) == VALUE[0]
    assert (first_object(b"[[]]"), first_object(b"5")) == ({}, {})
