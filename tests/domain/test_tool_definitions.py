from typing import Any

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.tokens import TokenCounter
from sessions_app.domain.tool_definitions import check_tools, tool_definition_tokens

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather.",
        "parameters": {
            "type": "object",
            "properties": {"unit": {"type": "string", "description": "Unit.", "enum": ["c", "f"]}},
        },
    },
}


def test_it_counts_by_the_rule_of_the_cookbook():
    count = TokenCounter().text
    expected = 7 + count("get_weather:Get the weather") + 3 + 3 + count("unit:string:Unit") - 3 + 3 + 1 + 3 + 1 + 12
    assert tool_definition_tokens([WEATHER], TokenCounter()) == expected


def test_no_tools_need_nothing():
    assert tool_definition_tokens([], TokenCounter()) == 0


def test_it_counts_nested_properties():
    flat = {"name": "f", "parameters": {"properties": {"a": {"type": "object"}}}}
    nested = {"name": "f", "parameters": {"properties": {"a": {"type": "object", "properties": {"b": {}}}}}}
    counted = [tool_definition_tokens([{"function": each}], TokenCounter()) for each in (flat, nested)]
    assert counted[1] == counted[0] + 3 + 3 + TokenCounter().text("b::")


@pytest.mark.parametrize("tool", [{}, {"function": "f"}, {"function": {"name": "a b"}}, {"function": {"name": 3}}])
def test_it_refuses_a_definition_without_a_legal_name(tool: dict[str, Any]):
    with pytest.raises(InvalidInput) as refused:
        check_tools([WEATHER, tool])
    assert [error.pointer for error in refused.value.errors] == ["/tools/1/function/name"]


def test_it_refuses_a_definition_that_is_nested_too_deeply():
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(500):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(InvalidInput) as refused:
        check_tools([{"type": "function", "function": {"name": "f", "parameters": schema}}])
    assert [error.pointer for error in refused.value.errors] == ["/tools/0"]
    assert "64 levels deep" in refused.value.detail


def test_odd_schemas_are_counted_without_failing():
    odd = {"function": {"name": "f", "description": 5, "parameters": {"properties": {"a": None, "b": {"enum": [1]}}}}}
    assert tool_definition_tokens([odd], TokenCounter()) > 12
