"""What makes OpenAI chat messages valid, judged apart from the product: nothing of it is imported here."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def broken_rules(messages: Sequence[Mapping[str, Any]], *, last_is_history: bool) -> list[str]:
    """Return each broken rule with its place; with `last_is_history` a question is still to follow."""
    broken = [*_order(messages), *_texts(messages), *_calls(messages), *_names(messages)]
    if not last_is_history and messages[-1]["role"] not in ("user", "tool"):
        broken.append("V9 the last message is neither the user's nor a tool's")
    return broken


def _order(messages):
    roles = [message["role"] for message in messages]
    if "system" in roles[1:]:
        yield "V1 a system message that is not the first"
    spoken = roles[1:] if roles[:1] == ["system"] else roles
    if spoken and spoken[0] != "user":
        yield f"V2 the first to speak is {spoken[0]}"
    for place, (one, next_one) in enumerate(pairwise(roles)):
        if one == next_one and one != "tool":
            yield f"V3 two neighbours at {place} are {one}"


def _texts(messages):
    for place, message in enumerate(messages):
        content = message["content"]
        if content is None:
            if not message.get("tool_calls"):
                yield f"C3 no content at {place}"
        elif isinstance(content, str) and not content.strip():
            yield f"V4 empty text at {place}"
    if messages[-1]["role"] == "assistant" and messages[-1]["content"] != messages[-1]["content"].rstrip():
        yield "V11 white space at the end of the last answer"


def _calls(messages):
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] != "tool":
            if waiting:
                yield f"V5 calls without results before {place}"
            waiting = [call["id"] for call in message.get("tool_calls", [])]
        elif message["tool_call_id"] in waiting:
            waiting.remove(message["tool_call_id"])
        else:
            yield f"V6 a result without its call at {place}"
    if waiting:
        yield "V5 calls without results at the end"


def _names(messages):
    calls = [call for message in messages for call in message.get("tool_calls", [])]
    if len({call["id"] for call in calls}) < len(calls):
        yield "V7 an id twice"
    for call in calls:
        if not LEGAL_ID.fullmatch(call["id"]):
            yield f"V7 id {call['id']!r}"
        if not LEGAL_NAME.fullmatch(call["function"]["name"]):
            yield f"V8 name {call['function']['name']!r}"
        if not isinstance(call["function"]["arguments"], str):
            yield f"C8 arguments of {call['id']!r}"
