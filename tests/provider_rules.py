"""What makes a provider's messages valid, judged apart from the product: nothing of it is imported here.

Each format is first told as a list of (place, speaker, what) with what one of text, image, call, result, reasoning;
then the rules that all share are judged on that, and each provider's own on its messages.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

LEGAL_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NO_ID = "by order"


class Told(NamedTuple):
    place: int
    speaker: str
    what: str
    text: str = ""
    call_id: str = ""
    name: str = ""


def broken_rules(
    messages: Sequence[Mapping[str, Any]], *, last_is_history: bool, format: str = "openai", system: str | None = None
) -> list[str]:
    """Return each broken rule with its place; with `last_is_history` a question is still to follow."""
    told, own = all_told(messages, format), _FORMATS[format][1]
    broken = [*_speakers(told), *_texts(told), *_pairs(told), *_names(told, format), *own(messages)]
    if system is not None and (format in ("openai", "responses") or not system.strip()):
        broken.append("V1 a system text beside the messages, or an empty one")
    if not last_is_history and (not told or told[-1].speaker not in ("user", "tool")):
        broken.append("V9 the last message is neither the user's nor a tool's")
    if not last_is_history and told and told[-1].speaker == "assistant" and told[-1].text != told[-1].text.rstrip():
        broken.append("V11 white space at the end of the last answer")
    return broken


def all_told(messages: Sequence[Mapping[str, Any]], format: str) -> list[Told]:
    """Return who says what where, in order."""
    tell = _FORMATS[format][0]
    return [each for index, message in enumerate(messages) for each in tell(index, message)]


def _speakers(told: Sequence[Told]) -> Iterator[str]:
    if any(each.speaker == "system" and each.place > 0 for each in told):
        yield "V1 a system message that is not the first"
    turns = [each for each in told if each.speaker != "system"]
    if turns and turns[0].speaker != "user":
        yield f"V2 the first to speak is {turns[0].speaker}"
    for one, other in pairwise(turns):
        if one.place != other.place and one.speaker == other.speaker and {one.what, other.what} <= {"text", "image"}:
            yield f"V3 two neighbours at {other.place} are {one.speaker}"


def _texts(told: Sequence[Told]) -> Iterator[str]:
    for each in told:
        if each.what in ("text", "result") and not each.text.strip():
            yield f"V4 empty {each.what} at {each.place}"


def _pairs(told: Sequence[Told]) -> Iterator[str]:
    waiting: list[str] = []
    answering = False
    for each in told:
        if each.what == "call":
            if waiting and answering:
                yield f"V5 a call at {each.place} before the others have results"
            waiting.append(each.call_id or NO_ID)
            answering = False
        elif each.what == "result":
            answering = True
            if (each.call_id or NO_ID) in waiting:
                waiting.remove(each.call_id or NO_ID)
            else:
                yield f"V6 a result without its call at {each.place}"
        elif waiting:
            yield f"V5 calls without results before {each.place}"
            waiting = []
    if waiting:
        yield "V5 calls without results at the end"


def _names(told: Sequence[Told], format: str) -> Iterator[str]:
    calls = [each for each in told if each.what == "call"]
    ids = [each.call_id for each in calls]
    if format != "gemini" and (len(set(ids)) < len(ids) or not all(map(LEGAL_ID.fullmatch, ids))):
        yield f"V7 ids {ids}"
    for each in calls:
        if not LEGAL_NAME.fullmatch(each.name):
            yield f"V8 name {each.name!r}"


def _tell_openai(index: int, message: Mapping[str, Any]) -> Iterator[Told]:
    role, content = message["role"], message["content"]
    if role == "tool":
        yield Told(index, "tool", "result", content, message["tool_call_id"])
    elif content is not None:
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield Told(index, role, "text" if part["type"] == "text" else "image", part.get("text", ""))
    for call in message.get("tool_calls", ()):
        yield Told(index, role, "call", "", call["id"], call["function"]["name"])


def _own_openai(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, message in enumerate(messages):
        if message["role"] not in ("system", "user", "assistant", "tool"):
            yield f"role at {index}"
        if message["content"] is None and not message.get("tool_calls"):
            yield f"C3 no content at {index}"
        for call in message.get("tool_calls", ()):
            json.loads(call["function"]["arguments"])


def _tell_responses(index: int, item: Mapping[str, Any]) -> Iterator[Told]:
    match item.get("type", "message"):
        case "function_call":
            yield Told(index, "assistant", "call", "", item["call_id"], item["name"])
        case "function_call_output":
            yield Told(index, "tool", "result", item["output"], item["call_id"])
        case "reasoning":
            yield Told(index, "assistant", "reasoning")
        case "message":
            content = item["content"]
            for part in [{"type": "input_text", "text": content}] if isinstance(content, str) else content:
                yield Told(index, item["role"], "text" if "text" in part else "image", part.get("text", ""))


def _own_responses(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, item in enumerate(items):
        if "id" in item:
            yield f"R5 an id at {index}"
        if item.get("type") == "reasoning":
            following = items[index + 1] if index + 1 < len(items) else {}
            if not (following.get("type") == "function_call" or following.get("role") == "assistant"):
                yield f"R3 reasoning alone at {index}"
            if not item.get("encrypted_content"):
                yield f"R4 reasoning without its content at {index}"
        if isinstance(item.get("content"), list) and (
            item["role"] != "user" or {part["type"] for part in item["content"]} - {"input_text", "input_image"}
        ):
            yield f"R7 parts at {index}"
        if "arguments" in item:
            json.loads(item["arguments"])


def _tell_anthropic(index: int, message: Mapping[str, Any]) -> Iterator[Told]:
    role = message["role"]
    for block in message["content"]:
        match block["type"]:
            case "text":
                yield Told(index, role, "text", block["text"])
            case "image":
                yield Told(index, role, "image")
            case "tool_use":
                yield Told(index, role, "call", "", block["id"], block["name"])
            case "tool_result":
                yield Told(index, role, "result", block["content"], block["tool_use_id"])
            case "thinking" | "redacted_thinking":
                yield Told(index, role, "reasoning")


def _own_anthropic(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, message in enumerate(messages):
        kinds = [block["type"] for block in message["content"]]
        if message["role"] not in ("user", "assistant") or not kinds:
            yield f"A9 role or A3 nothing at {index}"
        if index and messages[index - 1]["role"] == message["role"]:
            yield f"A2 roles at {index}"
        results = [kind == "tool_result" for kind in kinds]
        if results != sorted(results, reverse=True):
            yield f"A7 a result behind something else at {index}"
        uses = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        behind = messages[index + 1]["content"] if index + 1 < len(messages) else []
        if uses and uses != [block["tool_use_id"] for block in behind if block["type"] == "tool_result"]:
            yield f"A5 results of {index}"
        if any(block["type"] == "thinking" and not block.get("signature") for block in message["content"]):
            yield f"A12 thinking at {index}"
        if not all(isinstance(block.get("input", {}), dict) for block in message["content"]):
            yield f"input at {index}"


def _tell_gemini(index: int, content: Mapping[str, Any]) -> Iterator[Told]:
    speaker = "assistant" if content["role"] == "model" else content["role"]
    for part in content["parts"]:
        if "functionCall" in part:
            yield Told(index, speaker, "call", "", "", part["functionCall"]["name"])
        elif "functionResponse" in part:
            yield Told(index, speaker, "result", *part["functionResponse"]["response"].values())
        elif part.get("thought"):
            yield Told(index, speaker, "reasoning")
        else:
            yield Told(index, speaker, "text" if "text" in part else "image", part.get("text", ""))


def _own_gemini(contents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, content in enumerate(contents):
        if content["role"] not in ("user", "model") or not content["parts"]:
            yield f"G1 role or G6 nothing at {index}"
        if index and contents[index - 1]["role"] == content["role"]:
            yield f"G9 roles at {index}"
        calls = [part for part in content["parts"] if "functionCall" in part]
        behind = contents[index + 1]["parts"] if index + 1 < len(contents) else []
        responses = [part["functionResponse"]["name"] for part in behind if "functionResponse" in part]
        if [call["functionCall"]["name"] for call in calls] != responses:
            yield f"G5 responses to {index}"
        if calls and (not index or contents[index - 1]["role"] != "user"):
            yield f"G3 calls at {index}"
        if calls and not calls[0].get("thoughtSignature"):
            yield f"G8 signature at {index}"


_FORMATS: dict[str, Any] = {
    "openai": (_tell_openai, _own_openai),
    "responses": (_tell_responses, _own_responses),
    "anthropic": (_tell_anthropic, _own_anthropic),
    "gemini": (_tell_gemini, _own_gemini),
}
