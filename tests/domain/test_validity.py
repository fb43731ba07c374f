import re
from pathlib import Path
from typing import Any

import pytest

from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.validity import RULES, UNCHECKED, validate

SYSTEM = {"role": "system", "content": "Be kind."}
USER = {"role": "user", "content": "Hello"}
ASSISTANT = {"role": "assistant", "content": "Hi"}


def calling(*ids: str, name: str = "look_up", arguments: Any = "{}") -> dict[str, Any]:
    calls = [{"id": each, "type": "function", "function": {"name": name, "arguments": arguments}} for each in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "found"}


def item(kind: str, call_id: str = "a", **fields: Any) -> dict[str, Any]:
    own = {"function_call": {"name": "look_up", "arguments": "{}"}, "function_call_output": {"output": "found"}}
    return {"type": kind, "call_id": call_id, **own.get(kind, {}), **fields}


CALL, OUTPUT = item("function_call"), item("function_call_output")
REASONING = {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}


def said(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call_id: str = "a", name: str = "look_up") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def used(call_id: str = "a") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "found"}


THINKING = {"type": "thinking", "thinking": "Well.", "signature": "Er8C"}


def turn(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


SIGNED = {"functionCall": {"name": "look_up", "args": {}}, "thoughtSignature": "c2ln"}
UNSIGNED = {"functionCall": {"name": "look_up", "args": {}}}
RESPONSE = {"functionResponse": {"name": "look_up", "response": {"output": "found"}}}


def broken(format: str, messages: list[Any], *, query_follows: bool = False) -> set[str]:
    return {found.rule for found in validate(messages, PromptFormat(format), query_follows=query_follows)}


@pytest.mark.parametrize(
    ("format", "messages"),
    [
        ("openai", [USER]),
        ("openai", [SYSTEM, USER, ASSISTANT, USER]),
        ("openai", [{"role": "developer", "content": "x"}, USER]),
        ("openai", [USER, calling("a", "b"), result("b"), result("a")]),
        ("openai", [USER, calling("a"), result("a"), ASSISTANT, USER, calling("b"), result("b")]),
        ("openai", [USER, calling("a"), result("a"), calling("b"), result("b")]),
        ("openai", [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.org/a"}}]}]),
        ("responses", [SYSTEM, USER, REASONING, CALL, OUTPUT]),
        ("responses", [USER, CALL, item("function_call", "b"), item("function_call_output", "b"), OUTPUT]),
        ("responses", [USER, ASSISTANT, CALL, OUTPUT, ASSISTANT, USER]),
        ("responses", [USER, REASONING, ASSISTANT, REASONING, ASSISTANT, USER]),
        ("anthropic", [said("user", "q"), said("assistant", THINKING, "I look.", use()), said("user", used(), "and?")]),
        ("anthropic", [said("user", "q"), said("assistant", use("a"), use("b")), said("user", used("b"), used("a"))]),
        ("gemini", [turn("user", "q"), turn("model", "I look.", SIGNED, UNSIGNED), turn("user", RESPONSE, RESPONSE)]),
        ("gemini", [turn("user", "q"), turn("model", "a"), turn("user", "q")]),
        ("text", [ASSISTANT, ASSISTANT]),
    ],
)
def test_valid_messages_break_no_rule(format: str, messages: list[Any]):
    assert broken(format, messages) == set()


BROKEN = [
    ("C1", "openai", [USER, result("a")]),
    ("C1", "openai", [USER, calling("a"), result("a"), result("a")]),
    ("C1", "openai", [USER, calling("a"), result("a"), ASSISTANT, USER, result("a")]),
    ("C2", "openai", [USER, calling("a", "b"), result("a"), USER]),
    ("C2", "openai", [USER, calling("a")]),
    ("C3", "openai", [USER, {"role": "assistant", "content": None}, USER]),
    ("C4", "openai", [USER, calling("a", name="a b"), result("a")]),
    ("C4", "openai", [USER, calling("a", name="n" * 65), result("a")]),
    ("C5", "openai", [USER, calling("a" * 41), result("a" * 41)]),
    ("C8", "openai", [USER, calling("a", arguments="plain"), result("a")]),
    ("C8", "openai", [USER, calling("a", arguments={}), result("a")]),
    ("R1", "responses", [USER, CALL, USER]),
    ("R1", "responses", [USER, CALL]),
    ("R2", "responses", [USER, OUTPUT]),
    ("R3", "responses", [USER, REASONING, USER]),
    ("R3", "responses", [USER, REASONING]),
    ("R3", "responses", [USER, REASONING, REASONING, ASSISTANT, USER]),
    ("R4", "responses", [USER, {"type": "reasoning", "id": "rs_1", "summary": []}, ASSISTANT, USER]),
    ("R4", "responses", [{"type": "item_reference", "id": "msg_1"}, USER]),
    ("R5", "responses", [USER, CALL | {"id": "call_1"}, OUTPUT]),
    ("R6", "responses", [USER, REASONING | {"id": "rs_1"}, CALL, OUTPUT, REASONING | {"id": "rs_1"}, ASSISTANT, USER]),
    ("R7", "responses", [USER, said("assistant", {"type": "input_text", "text": "a"}), USER]),
    ("R7", "responses", [said("user", "plain text part")]),
    ("A1", "anthropic", [said("assistant", "a"), said("user", "q")]),
    ("A2", "anthropic", [said("user", "q"), said("user", "q")]),
    ("A3", "anthropic", [said("user"), said("assistant", "a"), said("user", "q")]),
    ("A4", "anthropic", [said("user", " ")]),
    ("A5", "anthropic", [said("user", "q"), said("assistant", use()), said("user", "q")]),
    ("A5", "anthropic", [said("user", "q"), said("assistant", use("a"), use("b")), said("user", used("a"))]),
    ("A6", "anthropic", [said("user", used())]),
    ("A6", "anthropic", [said("user", "q"), said("assistant", use("a")), said("user", used("b"))]),
    ("A7", "anthropic", [said("user", "q"), said("assistant", use()), said("user", "and?", used())]),
    ("A8", "anthropic", [said("user", "q"), said("assistant", use("a.b")), said("user", used("a.b"))]),
    ("A8", "anthropic", [said("user", "q"), said("assistant", use(), use()), said("user", used(), used())]),
    ("A9", "anthropic", [SYSTEM, said("user", "q")]),
    ("A9", "anthropic", [said("user", "q"), said("tool", "q"), said("user", "q")]),
    ("A10", "anthropic", [said("user", "q"), said("assistant", "a ")]),
    ("A11", "anthropic", [said("user", "q"), said("assistant", "a")]),
    ("A12", "anthropic", [said("user", "q"), said("assistant", {"type": "thinking", "thinking": "x"}, "a")]),
    ("A13", "anthropic", [said("user", "q"), said("assistant", "a")] * 50_000 + [said("user", "q")]),
    ("G1", "gemini", [turn("user", "q"), turn("assistant", "a"), turn("tool", "q")]),
    ("G2", "gemini", [turn("system", "x"), turn("user", "q")]),
    ("G3", "gemini", [turn("user", "q"), turn("model", "a"), turn("model", SIGNED), turn("user", RESPONSE)]),
    ("G3", "gemini", [turn("model", SIGNED), turn("user", RESPONSE)]),
    ("G4", "gemini", [turn("user", "q"), turn("model", "a"), turn("user", RESPONSE)]),
    ("G5", "gemini", [turn("user", "q"), turn("model", SIGNED, UNSIGNED), turn("user", RESPONSE)]),
    ("G5", "gemini", [turn("user", "q"), turn("model", SIGNED)]),
    ("G6", "gemini", [turn("user", "")]),
    ("G6", "gemini", [turn("user")]),
    ("G6", "gemini", [turn("user", {})]),
    ("G7", "gemini", []),
    ("G7", "gemini", [turn("user", "q"), turn("model", "a")]),
    ("G8", "gemini", [turn("user", "q"), turn("model", UNSIGNED, SIGNED), turn("user", RESPONSE, RESPONSE)]),
    ("V1", "openai", [USER, SYSTEM, USER]),
    ("V1", "openai", [SYSTEM, SYSTEM, USER]),
    ("V1", "responses", [SYSTEM, USER, SYSTEM, USER]),
    ("V1", "openai", [{"role": "narrator", "content": "x"}, USER]),
    ("V2", "openai", [SYSTEM, ASSISTANT, USER]),
    ("V2", "gemini", [turn("model", "a"), turn("user", "q")]),
    ("V3", "openai", [USER, USER]),
    ("V3", "openai", [USER, ASSISTANT, ASSISTANT, USER]),
    ("V3", "responses", [USER, USER]),
    ("V4", "openai", [{"role": "user", "content": " "}]),
    ("V4", "openai", [{"role": "user", "content": []}]),
    ("V4", "openai", [{"role": "user", "content": [{"type": "text", "text": ""}]}]),
    ("V4", "responses", [USER, CALL, OUTPUT | {"output": ""}]),
    ("V5", "anthropic", [said("user", "q"), said("assistant", use()), said("user", "q")]),
    ("V6", "responses", [USER, OUTPUT]),
    ("V7", "openai", [USER, calling("a", "a"), result("a"), result("a")]),
    ("V7", "openai", [USER, calling("ü"), result("ü")]),
    ("V8", "gemini", [turn("user", "q"), turn("model", {"functionCall": {"name": "a b"}}), turn("user", RESPONSE)]),
    ("V9", "openai", [USER, ASSISTANT]),
    ("V9", "openai", []),
    ("V10", "openai", [USER, said("assistant", THINKING, "a"), USER]),
    ("V11", "openai", [USER, {"role": "assistant", "content": "a \n"}]),
]


@pytest.mark.parametrize(("rule", "format", "messages"), BROKEN)
def test_each_broken_rule_is_named(rule: str, format: str, messages: list[Any]):
    assert rule in broken(format, messages)


def test_every_rule_is_broken_by_one_of_these():
    assert {rule for rule, _, _ in BROKEN} == {rule.rule for rule in RULES}


def test_the_place_of_a_broken_rule_is_the_index_of_its_message():
    found = validate([USER, calling("a"), USER], PromptFormat.OPENAI)
    assert [(each.rule, each.index) for each in found] == [("C2", 1), ("V5", 1)]


def test_the_last_role_is_not_judged_when_the_query_is_still_to_come():
    assert broken("openai", [USER, ASSISTANT], query_follows=True) == set()
    for each in ("openai", "responses", "anthropic", "gemini"):
        assert broken(each, [], query_follows=True) == set()
    assert broken("anthropic", [said("user", "q"), said("assistant", "a ")], query_follows=True) == set()


@pytest.mark.parametrize("format", ["openai", "responses", "anthropic", "gemini"])
@pytest.mark.parametrize("odd", [None, 3, [], {}, {"role": []}, {"role": "user", "content": [None, 3]}, {"parts": [1]}])
def test_messages_of_odd_types_break_rules_and_nothing_else(format: str, odd: Any):
    assert broken(format, [odd])
    assert broken(format, [{"role": "assistant", "tool_calls": [odd, {"id": [], "function": odd}]}])


def test_every_rule_of_the_page_is_checked_or_said_to_be_no_matter_of_messages():
    page = (Path(__file__).parents[2] / "docs" / "prompt-formats.md").read_text()
    told = set(re.findall(r"^\| ([A-Z]\d+) \|", page, re.MULTILINE))
    numbers = {"C": 8, "R": 8, "A": 13, "G": 9, "V": 12}
    assert told == {f"{letter}{number}" for letter, last in numbers.items() for number in range(1, last + 1)}
    assert told == {rule.rule for rule in RULES} | set(UNCHECKED)
