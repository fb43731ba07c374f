"""Checks that only one provider makes; as in validity_checks, each yields the index and what is wrong there."""

from collections import Counter
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from sessions_app.domain.message_shapes import Kind
from sessions_app.domain.validity_checks import ID_PREFIXES, MOST_MESSAGES, PART_TYPES, Findings, Judged, empty_texts


def reasoning_alone(judged: Judged) -> Findings:
    """Reasoning items without the item that they belong to right behind them."""
    for one, other in zip_longest(judged.messages, judged.messages[1:]):
        if one.of(Kind.REASONING) and (other is None or other.role != "assistant" or other.of(Kind.REASONING)):
            yield one.index, "reasoning is not followed by the item that it belongs to"


def reasoning_by_id(judged: Judged) -> Findings:
    """Reasoning items and references that only the provider's own storage could resolve."""
    for message in judged.messages:
        is_reference = message.raw.get("type") == "item_reference"
        if is_reference or (message.of(Kind.REASONING) and not message.raw.get("encrypted_content")):
            yield message.index, "the item has no encrypted content, so that its id alone would have to be known"


def item_id_prefixes(judged: Judged) -> Findings:
    """Item ids that do not begin as those of their type do."""
    for message in judged.messages:
        item_id, prefix = message.raw.get("id"), ID_PREFIXES.get(str(message.raw.get("type", "message")), "")
        if item_id is not None and not str(item_id).startswith(prefix):
            yield message.index, f"the item id {item_id!r} does not begin with {prefix}"


def repeated_item_ids(judged: Judged) -> Findings:
    """Item ids that are used twice."""
    uses = Counter(repr(message.raw.get("id")) for message in judged.messages)
    for message in judged.messages:
        item_id = message.raw.get("id")
        if item_id is not None and uses[repr(item_id)] > 1:
            yield message.index, f"the item id {item_id!r} is used {uses[repr(item_id)]} times"


def part_types(judged: Judged) -> Findings:
    """Content parts of another role."""
    for message in judged.messages:
        allowed, content = PART_TYPES.get(message.role), message.raw.get("content")
        if message.is_message and allowed and isinstance(content, list):
            for part in content:
                kind = part.get("type") if isinstance(part, Mapping) else None
                if kind not in allowed:
                    yield message.index, f"a part {kind!r} is not one of {', '.join(allowed)}"


def unsigned_thinking(judged: Judged) -> Findings:
    """Thinking without its signature, or where no assistant speaks."""
    for message in judged.messages:
        for part in message.of(Kind.REASONING):
            if not (part.raw.get("signature") or part.raw.get("data")):
                yield message.index, "thinking has no signature"
            if message.role != "assistant":
                yield message.index, "thinking stands in a message that is not the assistant's"


def too_many_messages(judged: Judged) -> Findings:
    """More messages than one request may have."""
    if len(judged.messages) > MOST_MESSAGES:
        yield MOST_MESSAGES, f"there are {len(judged.messages):,} messages, at most {MOST_MESSAGES:,} are allowed"


def calls_out_of_turn(judged: Judged) -> Findings:
    """Function calls that do not come right behind the user's turn or a function's response."""
    before: Any = None
    for message in judged.messages:
        if message.of(Kind.CALL) and before != "user":
            yield message.index, "a function call turn is not right behind a user turn or a function response turn"
        before = message.role


def unsigned_calls(judged: Judged) -> Findings:
    """Turns whose first function call has no thought signature."""
    for message in judged.messages:
        calls = message.of(Kind.CALL)
        if calls and not calls[0].raw.get("thoughtSignature"):
            yield message.index, "the first function call has no thoughtSignature"


def empty_parts(judged: Judged) -> Findings:
    """Contents, parts and texts that hold nothing."""
    yield from empty_texts(judged)
    for message in judged.messages:
        for part in message.parts:
            if part.kind is Kind.OTHER and not any(isinstance(value, Mapping) and value for value in part.raw.values()):
                yield message.index, "a part has no data"
