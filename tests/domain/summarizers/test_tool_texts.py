"""Calls of tools in few words: what tells one thing from another, however deep in JSON it lies."""

import json

from sessions_app.domain.summarizers.tool_texts import call_texts
from sessions_app.domain.transcript import ToolCall


def texts(result, arguments="{}", error=None, name="find"):
    return call_texts(ToolCall("c", name, arguments, result, error))


def test_values_are_found_however_deep_they_lie():
    order = {"order": {"reference": "PQ-8812", "items": [{"name": "lamp", "price": 42.5}], "gift": False, "note": None}}
    assert texts(json.dumps(order)) == ["find({}) gave reference PQ-8812, name lamp, price 42.5"]


def test_what_was_asked_is_not_said_again():
    assert texts('{"id": 7, "status": "late"}', arguments='{"id": 7}') == ["find(id 7) gave status late"]


def test_of_a_long_result_what_tells_apart_goes_before_the_rest():
    long = {f"remark{number}": "x" * 60 for number in range(9)} | {"status": "closed", "total": "310.00"}
    (text,) = texts(json.dumps(long))
    assert "status closed, total 310.00" in text
    assert text.endswith(", …")
    assert len(text) < 200


def test_sentences_are_lines_of_their_own():
    assert texts("The pier is closed. It opens again on Monday at 9:00.") == [
        "find({}) gave The pier is closed.",
        "It opens again on Monday at 9:00.",
    ]


def test_it_says_what_failed_and_what_gave_nothing():
    assert texts(None, error="no such flight") == ["find({}) gave error: no such flight"]
    assert texts(None) == ["find({}) gave no result"]
    assert texts("[]") == ["find({}) gave []"]
    assert texts("  \n") == ["find({}) gave no result"]
