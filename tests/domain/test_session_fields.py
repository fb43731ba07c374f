"""Merge patches, cleaned texts and ids."""

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.identifiers import is_legal_id
from sessions_app.domain.session_fields import check_session_fields, merge_patch, patch_between
from sessions_app.domain.text_cleaning import clean_json, clean_text, count_illegal


# The examples of RFC 7396, appendix A.
@pytest.mark.parametrize(
    ("target", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_does_what_its_standard_says(target, patch, expected):
    assert merge_patch(target, patch) == expected


def test_nothing_stands_for_a_fields_empty_value():
    names = ("title", "instructions", "user_id", "tags", "metadata", "settings")

    assert list(check_session_fields(dict.fromkeys(names)).values()) == ["", "", "", [], {}, {}]


def test_tags_lose_repetitions_but_not_their_order():
    assert check_session_fields({"tags": ["b", "a", "b"]}) == {"tags": ["b", "a"]}


def test_illegal_characters_are_replaced_one_by_one():
    assert clean_text("a\0\ud800\udfff\U0001f600") == "a\ufffd\ufffd\ufffd\U0001f600"
    assert count_illegal("a\0\ud800\udfff\U0001f600") == 3
    assert clean_json({"\0": ["\0", 1, None, {"x": "\0"}]}) == {"\ufffd": ["\ufffd", 1, None, {"x": "\ufffd"}]}


@pytest.mark.parametrize(
    ("text", "legal"), [("a" * 200, True), ("a" * 201, False), ("...", False), ("..a", True), ("a\n", False)]
)
def test_ids_follow_their_rule(text, legal):
    assert is_legal_id(text) is legal


@pytest.mark.parametrize(
    ("target", "wanted", "patch"),
    [
        ({}, {}, {}),
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": True}, {"a": True}),
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": None, "b": 3, "c": 4}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2, "d": 3}}, {"a": {"b": None, "d": 3}}),
        ({"a": {"b": 1}}, {"a": [1]}, {"a": [1]}),
        ({"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": None}, {"a": None, "b": [None]}, {"b": [None]}),
    ],
)
def test_a_patch_between_two_objects_makes_one_of_the_other(target, wanted, patch):
    assert patch_between(target, wanted) == patch
    assert merge_patch(target, patch) == wanted


@pytest.mark.parametrize("wanted", [{"a": None}, {"a": {"b": None}}, {"new": None}])
def test_what_no_patch_can_say_is_refused(wanted):
    with pytest.raises(InvalidInput, match="cannot be given the value null"):
        patch_between({"a": 1}, wanted)
