"""What can be wrong with a prompt's messages: each check yields the index of the message and what is wrong there."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sessions_app.domain.memory_settings import PromptFormat
from sessions_app.domain.message_shapes import Kind, ReadMessage

LONGEST_OPENAI_ID = 40
LONGEST_ID = 64
MOST_MESSAGES = 100_000
ANSWERED = ("user", "tool")
ID_PREFIXES = {"message": "msg", "function_call": "fc", "function_call_output": "fc", "reasoning": "rs"}
PART_TYPES = {"assistant": ("output_text", "refusal"), "user": ("input_text", "input_image", "input_file")}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_-]+")

Findings = Iterator[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Judged:
    """The messages to judge; `query_follows` says that the user's next message is still to come."""

    messages: Sequence[ReadMessage]
    format: PromptFormat
    query_follows: bool

    @property
    def ends_with_assistant(self) -> bool:
        """Whether the assistant has the last word."""
        return bool(self.messages) and self.messages[-1].role == "assistant" and not self.query_follows


def unknown_roles(judged: Judged) -> Findings:
    """Roles that the format does not know."""
    known = {"user", "assistant"}
    if judged.format in (PromptFormat.OPENAI, PromptFormat.RESPONSES):
        known |= {"system", "developer", "tool"}
    for message in judged.messages:
        if message.role not in known:
            yield message.index, f"the role {message.raw.get('role', message.role)!r} is not known"


def system_messages(judged: Judged) -> Findings:
    """System text among the messages where it is sent beside them."""
    for message in judged.messages:
        if message.role in ("system", "developer"):
            yield message.index, "system text stands among the contents"


def late_system_messages(judged: Judged) -> Findings:
    """System messages that are not the one block in front."""
    for message in judged.messages[1:]:
        if message.role in ("system", "developer"):
            yield message.index, "a system message stands only first"


def first_not_user(judged: Judged) -> Findings:
    """Another speaker than the user first."""
    spoken = [message for message in judged.messages if message.role not in ("system", "developer")]
    if spoken and spoken[0].role != "user":
        yield spoken[0].index, "the first message is not the user's"


def neighbours(judged: Judged) -> Findings:
    """Two messages of one role side by side, the one that follows included."""
    for one, other in pairwise(judged.messages):
        if one.role == other.role != "tool" and one.is_message and other.is_message:
            yield other.index, f"two neighbours have the role {other.role}"
    if judged.query_follows and judged.messages and judged.messages[-1].role == "user":
        yield judged.messages[-1].index, "the user's message that follows has a neighbour of the same role"


def last_not_user(judged: Judged) -> Findings:
    """An end that is neither the user's nor a tool's."""
    if not judged.query_follows and (not judged.messages or judged.messages[-1].role not in ANSWERED):
        yield max(0, len(judged.messages) - 1), "the last message is neither the user's nor a tool's"


def trailing_space(judged: Judged) -> Findings:
    """White space at the end of the assistant's last word."""
    if judged.ends_with_assistant:
        texts = judged.messages[-1].of(Kind.TEXT)
        if texts and texts[-1].text != texts[-1].text.rstrip():
            yield judged.messages[-1].index, "the assistant's last text ends with white space"


def null_contents(judged: Judged) -> Findings:
    """A content of null without calls."""
    for message in judged.messages:
        if message.is_message and message.raw.get("content") is None and not message.of(Kind.CALL):
            yield message.index, "content is null without calls"


def empty_contents(judged: Judged) -> Findings:
    """A message without parts."""
    for message in judged.messages:
        if not message.parts and message.raw.get("content", message.raw.get("parts", ())) is not None:
            yield message.index, "the content has no parts"


def blank_texts(judged: Judged) -> Findings:
    """Texts with nothing to read in them."""
    for message in judged.messages:
        for part in message.parts:
            if not part.raw or (part.kind in (Kind.TEXT, Kind.RESULT) and not part.text.strip()):
                yield message.index, f"the {part.kind} is blank"


def empty_texts(judged: Judged) -> Findings:
    """Messages or texts with nothing in them."""
    yield from empty_contents(judged)
    yield from blank_texts(judged)


def orphan_results(judged: Judged) -> Findings:
    """Results without an unanswered call of their id before them."""
    for index, kind, what in _pairing(judged):
        if kind is Kind.RESULT:
            yield index, f"no unanswered call {what!r} stands before this result"


def unanswered_calls(judged: Judged) -> Findings:
    """Calls that are not answered before anything else is said."""
    for index, kind, what in _pairing(judged):
        if kind is Kind.CALL:
            yield index, f"the call {what!r} is not answered before the next message"


def results_elsewhere(judged: Judged) -> Findings:
    """Results that are not all in the one message behind their calls."""
    for one, other in pairwise([*judged.messages, ReadMessage(len(judged.messages), "", (), {})]):
        calls, results = one.of(Kind.CALL), other.of(Kind.RESULT)
        if calls and len(calls) != len(results):
            yield one.index, f"{len(calls)} calls are answered by {len(results)} results in the next message"


def results_not_first(judged: Judged) -> Findings:
    """Results behind anything else in their message."""
    for message in judged.messages:
        kinds = [part.kind is Kind.RESULT for part in message.parts]
        if kinds != sorted(kinds, reverse=True):
            yield message.index, "a result stands behind something else in its message"


def names(judged: Judged) -> Findings:
    """Tool names that are not legal."""
    for message in judged.messages:
        for call in message.of(Kind.CALL):
            if not (isinstance(call.name, str) and NAME.fullmatch(call.name)):
                yield message.index, f"the tool name {call.name!r} is not 1 to 64 of A-Z a-z 0-9 _ -"


def long_ids(judged: Judged) -> Findings:
    """Call ids that are no texts, or too long for OpenAI."""
    for message in judged.messages:
        for call in message.of(Kind.CALL):
            if not isinstance(call.call_id, str) or len(call.call_id) > LONGEST_OPENAI_ID:
                yield message.index, f"the call id {call.call_id!r} is not a text of at most {LONGEST_OPENAI_ID}"


def illegal_ids(judged: Judged) -> Findings:
    """Call ids that are not legal or not unique; a format without ids has none."""
    calls = [(message.index, part) for message in judged.messages for part in message.of(Kind.CALL)]
    if judged.format is PromptFormat.GEMINI:
        calls = [(index, part) for index, part in calls if part.call_id is not None]
    uses = Counter(repr(part.call_id) for _, part in calls)
    longest = LONGEST_ID if judged.format is PromptFormat.ANTHROPIC else LONGEST_OPENAI_ID
    for index, part in calls:
        legal = isinstance(part.call_id, str) and ID.fullmatch(part.call_id) and len(part.call_id) <= longest
        if not legal:
            yield index, f"the call id {part.call_id!r} is not 1 to {longest} of A-Z a-z 0-9 _ -"
        if uses[repr(part.call_id)] > 1:
            yield index, f"the call id {part.call_id!r} is used {uses[repr(part.call_id)]} times"


def arguments(judged: Judged) -> Findings:
    """Arguments that are not JSON text."""
    for message in judged.messages:
        for call in message.of(Kind.CALL):
            if not (isinstance(call.arguments, str) and _is_json(call.arguments)):
                yield message.index, "the arguments are not JSON text"


def carried_reasoning(judged: Judged) -> Findings:
    """Reasoning where there is no place for it."""
    if judged.format is PromptFormat.OPENAI:
        for message in judged.messages:
            if message.of(Kind.REASONING):
                yield message.index, "reasoning is sent, which this format cannot carry"


def _pairing(judged: Judged) -> Iterator[tuple[int, Kind, Any]]:
    """Walk along the parts with the calls that still wait, and yield calls and results that stand alone."""
    waiting: list[tuple[int, Any]] = []
    for message in judged.messages:
        for part in message.parts:
            key = part.call_id if part.call_id is not None else part.name
            if part.kind is Kind.RESULT:
                found = next((each for each in waiting if each[1] == key), None)
                if found is None:
                    yield message.index, Kind.RESULT, key
                else:
                    waiting.remove(found)
            elif part.kind is not Kind.REASONING:
                yield from ((index, Kind.CALL, left) for index, left in waiting if _interrupts(part, message, index))
                waiting = [each for each in waiting if not _interrupts(part, message, each[0])]
                waiting += [(message.index, key)] if part.kind is Kind.CALL else []
    yield from ((index, Kind.CALL, key) for index, key in waiting)


def _interrupts(part: Any, message: ReadMessage, index: int) -> bool:
    """Whether a part ends the wait of a call at `index`; parallel calls are parts of one message or items in a row."""
    parallel_items = part.kind is Kind.CALL and not message.is_message
    return message.index != index and not parallel_items


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True
