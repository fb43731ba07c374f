"""Tool definitions: checked, and counted by the rule of OpenAI's cookbook, nested properties included.

Each function 7 and its "name:description"; 3 for having properties; each property 3 and its "name:type:description";
an enum -3 and each of its values 3 and its text; 12 behind the last function.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.strict_json import TOO_DEEP, is_shallow
from sessions_app.domain.tokens import TokenCounter

FUNCTION_FRAME = 7
PROPERTIES_FRAME = 3
PROPERTY_FRAME = 3
ENUM_FRAME = -3
ENUM_VALUE_FRAME = 3
DEFINITIONS_FRAME = 12

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a definition that has no function with a legal name, or is nested too deeply."""
    errors = [
        FieldError(f"/tools/{index}/function/name", "A tool is a function with a name of 1 to 64 of A-Z a-z 0-9 _ -.")
        for index, tool in enumerate(tools)
        if not _NAME.fullmatch(tool_name(tool))
    ]
    errors += [FieldError(f"/tools/{index}", TOO_DEEP) for index, tool in enumerate(tools) if not is_shallow(tool)]
    if errors:
        raise InvalidInput(errors[0].detail, errors=errors)


def tool_name(tool: Mapping[str, Any]) -> str:
    """Return the name of a tool definition, empty if it has none."""
    name = _mapping(tool.get("function")).get("name")
    return name if isinstance(name, str) else ""


def tool_definition_tokens(tools: Sequence[Mapping[str, Any]], counter: TokenCounter) -> int:
    """Return what the definitions need, margin included."""
    if not tools:
        return 0
    functions = [_mapping(tool.get("function")) for tool in tools]
    return counter.scaled(DEFINITIONS_FRAME + sum(_function_tokens(function, counter) for function in functions))


def _function_tokens(function: Mapping[str, Any], counter: TokenCounter) -> int:
    line = f"{_text(function.get('name'))}:{_description(function)}"
    return FUNCTION_FRAME + counter.text(line) + _properties_tokens(_mapping(function.get("parameters")), counter)


def _properties_tokens(schema: Mapping[str, Any], counter: TokenCounter) -> int:
    properties = _mapping(schema.get("properties"))
    if not properties:
        return 0
    return PROPERTIES_FRAME + sum(_property_tokens(name, _mapping(each), counter) for name, each in properties.items())


def _property_tokens(name: str, schema: Mapping[str, Any], counter: TokenCounter) -> int:
    line = f"{name}:{_text(schema.get('type'))}:{_description(schema)}"
    nested = _properties_tokens(schema, counter) + _properties_tokens(_mapping(schema.get("items")), counter)
    return PROPERTY_FRAME + counter.text(line) + _enum_tokens(schema.get("enum"), counter) + nested


def _enum_tokens(values: object, counter: TokenCounter) -> int:
    if not isinstance(values, list):
        return 0
    return ENUM_FRAME + sum(ENUM_VALUE_FRAME + counter.text(_text(value)) for value in values)


def _description(schema: Mapping[str, Any]) -> str:
    return _text(schema.get("description")).removesuffix(".")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, default=str)
