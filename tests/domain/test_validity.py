from typing import Any

import pytest

from sessions_app.domain.validity import validate_openai

SYSTEM = {"role": "system", "content": "Be kind."}
USER = {"role": "user", "content": "Hello"}
ASSISTANT = {"role": "assistant", "content": "Hi"}


def calling(*ids: str, name: str = "look_up", arguments: Any = "{}") -> dict[str, Any]:
    calls = [{"id": each, "type": "function", "function": {"name": name, "arguments": arguments}} for each in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "found"}


def broken(*messages: dict[str, Any], query_follows: bool = False) -> set[str]:
    return {violation.rule for violation in validate_openai(messages, query_follows=query_follows)}


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [SYSTEM, USER, ASSISTANT, USER],
        [USER, calling("a", "b"), result("b"), result("a")],
        [USER, calling("a"), result("a"), ASSISTANT, USER, calling("b"), result("b")],
        [USER, calling("a"), result("a"), calling("b"), result("b")],
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}],
    ],
)
def test_valid_messages_have_no_violation(messages: list[dict[str, Any]]):
    assert broken(*messages) == set()


@pytest.mark.parametrize(
    ("rule", "messages"),
    [
        ("C1", [USER, result("a")]),
        ("C1", [USER, calling("a"), result("a"), result("a")]),
        ("C1", [USER, calling("a"), result("a"), ASSISTANT, USER, result("a")]),
        ("C2", [USER, calling("a", "b"), result("a"), USER]),
        ("C2", [USER, calling("a")]),
        ("C3", [USER, {"role": "assistant", "content": None}, USER]),
        ("C4", [USER, calling("a", name="a b"), result("a")]),
        ("C4", [USER, calling("a", name="n" * 65), result("a")]),
        ("C5", [USER, calling("a" * 41), result("a" * 41)]),
        ("C8", [USER, calling("a", arguments="plain"), result("a")]),
        ("C8", [USER, calling("a", arguments={}), result("a")]),
        ("V1", [USER, SYSTEM, USER]),
        ("V1", [SYSTEM, SYSTEM, USER]),
        ("V1", [{"role": "developer", "content": "x"}, USER]),
        ("V2", [SYSTEM, ASSISTANT, USER]),
        ("V3", [USER, USER]),
        ("V3", [USER, ASSISTANT, ASSISTANT, USER]),
        ("V4", [{"role": "user", "content": " "}]),
        ("V4", [{"role": "user", "content": []}]),
        ("V4", [{"role": "user", "content": [{"type": "text", "text": ""}]}]),
        ("V7", [USER, calling("a", "a"), result("a"), result("a")]),
        ("V7", [USER, calling("ü"), result("ü")]),
        ("V9", [USER, ASSISTANT]),
        ("V9", []),
    ],
)
def test_each_broken_rule_is_named(rule: str, messages: list[dict[str, Any]]):
    assert rule in broken(*messages)


def test_the_last_role_is_not_judged_when_the_query_is_still_to_come():
    assert broken(USER, ASSISTANT, query_follows=True) == set()
    assert broken(query_follows=True) == set()
    assert broken(USER, ASSISTANT, USER, query_follows=True) == {"V3"}
