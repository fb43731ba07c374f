"""Tool call ids that every provider accepts: legal, and unique in the prompt, on both sides of a call."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LONGEST_CALL_ID = 40
UNNAMED_CALL = "call"
LEGAL_CALL_ID = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_CALL_ID}}}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def with_unique_call_ids(messages: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return the messages with new ids where needed; an id that is legal and not taken stays as it is.

    Each assistant message with calls must be followed by one result for each of them, in the same order.
    """
    new_ids = _unique_ids([call["id"] for message in messages for call in message.get("tool_calls", ())])
    waiting: list[str] = []
    renamed = []
    for message in messages:
        if "tool_calls" in message:
            calls = [call | {"id": next(new_ids)} for call in message["tool_calls"]]
            waiting = [call["id"] for call in calls]
            renamed.append({**message, "tool_calls": calls})
        elif "tool_call_id" in message:
            renamed.append({**message, "tool_call_id": waiting.pop(0)})
        else:
            renamed.append(dict(message))
    return tuple(renamed)


def _unique_ids(ids: Sequence[str]) -> Iterator[str]:
    unclaimed = {call_id for call_id in ids if LEGAL_CALL_ID.fullmatch(call_id)}
    taken = set(unclaimed)
    numbers: dict[str, int] = {}
    for call_id in ids:
        if call_id in unclaimed:
            unclaimed.remove(call_id)
            yield call_id
        else:
            yield _free_id(call_id, taken, numbers)


def _free_id(call_id: str, taken: set[str], numbers: dict[str, int]) -> str:
    stem = _ILLEGAL.sub("_", call_id)[:LONGEST_CALL_ID] or UNNAMED_CALL
    candidate = stem
    while candidate in taken:
        numbers[stem] = numbers.get(stem, 1) + 1
        suffix = f"-{numbers[stem]}"
        candidate = stem[: LONGEST_CALL_ID - len(suffix)] + suffix
    taken.add(candidate)
    return candidate
