from typing import Any

from sessions_app.domain.call_ids import with_unique_call_ids


def calling(*ids: str) -> list[dict[str, Any]]:
    calls = [{"id": each, "type": "function", "function": {}} for each in ids]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": each, "content": f"of {each}"} for each in ids),
    ]


def renamed(*groups: list[dict[str, Any]]) -> list[str]:
    """The ids in order, after checking that each result has its call's id."""
    messages = with_unique_call_ids([message for group in groups for message in group])
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert [message["tool_call_id"] for message in messages if "tool_call_id" in message] == calls
    return calls


def test_legal_and_unique_ids_stay():
    assert renamed(calling("call_1", "x" * 40), calling("B-2")) == ["call_1", "x" * 40, "B-2"]


def test_repeated_ids_are_numbered_in_parallel_calls_and_across_messages():
    assert renamed(calling("a", "a"), calling("a")) == ["a", "a-2", "a-3"]


def test_a_made_id_never_takes_one_that_stands_further_on():
    assert renamed(calling("a b", "a"), calling("a", "a-2", "a_b")) == ["a_b-2", "a", "a-3", "a-2", "a_b"]


def test_illegal_ids_are_made_legal_and_short():
    assert renamed(calling("a.b", "", "y" * 41, "y" * 50)) == ["a_b", "call", "y" * 40, "y" * 38 + "-2"]


def test_the_given_messages_are_not_touched():
    messages = calling("a", "a")
    with_unique_call_ids(messages)
    assert messages == calling("a", "a")
