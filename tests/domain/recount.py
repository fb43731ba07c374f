"""An independent count of a prompt with plain tiktoken, by the words of the counter; imports nothing of the product."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import tiktoken

IMAGE = 765
PROMPT = 3
SLICE = 100_000
BEFORE_SPACES = re.compile(r"(?<=[a-z.])(?= {1000})")


def count_text(text: str, encoding: str) -> int:
    """Count a text; one that the tokenizer would fail at is cut before many spaces, where a token begins, and more."""
    if len(text) <= SLICE:
        return _count_piece(text, encoding)
    pieces = (
        piece[start : start + SLICE] for piece in BEFORE_SPACES.split(text) for start in range(0, len(piece), SLICE)
    )
    return sum(_count_piece(piece, encoding) for piece in pieces)


@lru_cache(maxsize=5_000)
def _count_piece(text: str, encoding: str) -> int:
    return len(tiktoken.get_encoding(encoding).encode(text, disallowed_special=()))


def count_message(message: Mapping[str, Any], encoding: str) -> int:
    """Count a message of OpenAI."""
    return _count(message, "openai", encoding)


def count_messages(messages: Sequence[Mapping[str, Any]], encoding: str, tenths: int = 10) -> int:
    """The margin is given in tenths, each count rounded up on its own."""
    return count_prompt("openai", messages, None, encoding, tenths)


def count_prompt(
    format: str, messages: Sequence[Mapping[str, Any]], system: str | None, encoding: str, tenths: int = 10
) -> int:
    """Count what is sent in a format; the system text beside the messages is a message of the role system."""
    counts = [PROMPT, *(_count(each, format, encoding) for each in messages)]
    if system is not None:
        counts.append(_count({"role": "system", "content": system}, "openai", encoding))
    return sum(-(-count * tenths // 10) for count in counts)


def _count(message: Mapping[str, Any], format: str, encoding: str) -> int:
    words = {"openai": _openai, "responses": _responses, "anthropic": _anthropic, "gemini": _gemini, "seed": _seed}
    tokens = 3
    for word in [message.get("role", ""), *words[format](message)]:
        tokens += word if isinstance(word, int) else count_text(word, encoding)
    return tokens


def _openai(message: Mapping[str, Any]) -> Iterator[str | int]:
    content = message["content"]
    for part in content if isinstance(content, list) else [{"type": "text", "text": content or ""}]:
        yield part["text"] if part["type"] == "text" else IMAGE
    for each in message.get("tool_calls", ()):
        yield from (each["function"]["name"], each["function"]["arguments"], 8)


def _responses(item: Mapping[str, Any]) -> Iterator[str | int]:
    if item.get("type") == "function_call":
        yield from (item["name"], item["arguments"], 8)
    elif item.get("type") == "function_call_output":
        yield item["output"]
    elif item.get("type") == "reasoning":
        yield from _all_texts(item)
    else:
        content = item["content"]
        for part in content if isinstance(content, list) else [{"type": "input_text", "text": content}]:
            yield part["text"] if part["type"] == "input_text" else IMAGE


def _anthropic(message: Mapping[str, Any]) -> Iterator[str | int]:
    for block in message["content"]:
        match block["type"]:
            case "text":
                yield block["text"]
            case "image":
                yield IMAGE
            case "tool_use":
                yield from (block["name"], json.dumps(block["input"], ensure_ascii=False), 8)
            case "tool_result":
                yield block["content"]
            case _:
                yield from _all_texts(block)


def _gemini(content: Mapping[str, Any]) -> Iterator[str | int]:
    for part in content["parts"]:
        if part.get("thought"):
            yield from _all_texts(part)
            continue
        yield from [part["text"]] if "text" in part else []
        yield from [part["thoughtSignature"]] if "thoughtSignature" in part else []
        yield from [IMAGE] if "inlineData" in part or "fileData" in part else []
        if call := part.get("functionCall"):
            yield from (call["name"], json.dumps(call["args"], ensure_ascii=False), 8)
        if response := part.get("functionResponse"):
            yield from (response["name"], json.dumps(response["response"], ensure_ascii=False))


def _seed(message: Mapping[str, Any]) -> Iterator[str | int]:
    yield from [message["name"]] if "name" in message else []
    yield from _openai(message)


def _all_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _all_texts(each)
