"""An independent count of a prompt with plain tiktoken, by the words of the counter; imports nothing of the product."""

from collections.abc import Mapping, Sequence
from typing import Any

import tiktoken

IMAGE = 765


def count_text(text: str, encoding: str) -> int:
    return len(tiktoken.get_encoding(encoding).encode(text, disallowed_special=()))


def count_message(message: Mapping[str, Any], encoding: str) -> int:
    content = message["content"]
    parts = [{"type": "text", "text": content or ""}] if not isinstance(content, list) else content
    tokens = 3 + count_text(message["role"], encoding)
    tokens += sum(count_text(part["text"], encoding) if part["type"] == "text" else IMAGE for part in parts)
    for each in message.get("tool_calls", ()):
        function = each["function"]
        tokens += count_text(function["name"], encoding) + count_text(function["arguments"], encoding) + 8
    return tokens


def count_messages(messages: Sequence[Mapping[str, Any]], encoding: str, tenths: int = 10) -> int:
    """The margin is given in tenths, each count rounded up on its own."""
    return sum(-(-count * tenths // 10) for count in [3, *(count_message(each, encoding) for each in messages)])
