"""Counting tokens: the encodings, the counter of prompts, and what each event needs by itself.

The counter: every message 3 + its role + its texts, every tool call name + arguments + 8, every image a constant,
every prompt 3. A model whose tokenizer is not public is counted in o200k_base times a margin m: each message's count n
becomes ceil(m * n) in whole-number arithmetic, so the parts of a prompt always sum to its total.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

import tiktoken

from sessions_app.domain.as_sent import (
    EMPTY_MESSAGE,
    NO_ANSWER,
    arguments_as_sent,
    is_blank,
    message_parts,
    result_as_sent,
    tool_name_as_sent,
)
from sessions_app.domain.transcript import Event, EventKind, Role, ToolCall

STORED_ENCODING = "o200k_base"
EXACT = Fraction(1)
FOREIGN_MARGIN = Fraction(13, 10)

MESSAGE_FRAME = 3
PROMPT_FRAME = 3
TOOL_CALL_FRAME = 8
# One picture of 1024 by 1024 in full detail: 85 and four tiles of 170.
IMAGE_TOKENS = 765

# Longer pieces make tiktoken slow or fail. Tokens of repeated characters are powers of two long, those of digits three,
# so that runs of either lose nothing where they are cut.
SLICE_LENGTH = 3 * 2**15
_SEAM = re.compile(r"(?<=[a-z])(?= [a-z])")
_SEAM_SEARCH = 1_000


@lru_cache(maxsize=4)
def _encoding(name: str) -> tiktoken.Encoding:
    encoding = tiktoken.get_encoding(name)
    # A second copy of the vocabulary, kept for pickling alone, of some 30 MiB.
    encoding._mergeable_ranks = {}  # noqa: SLF001
    return encoding


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts texts and messages in one encoding; `scaled` applies the margin."""

    encoding: str = STORED_ENCODING
    margin: Fraction = EXACT

    def text(self, text: str) -> int:
        """Return the tokens of a text; special tokens in it count as the ordinary text they are."""
        encode = _encoding(self.encoding).encode_ordinary
        return sum(len(encode(piece)) for piece in _slices(text))

    def message(
        self, role: str, texts: Sequence[str], *, calls: Sequence[tuple[str, str]] = (), images: int = 0
    ) -> int:
        """Return the tokens of a message with its frame; calls are (name, arguments) pairs."""
        content = self.text(role) + sum(map(self.text, texts)) + images * IMAGE_TOKENS
        return MESSAGE_FRAME + content + sum(self.call(name, arguments) for name, arguments in calls)

    def call(self, name: str, arguments: str) -> int:
        """Return the tokens of one tool call inside its message."""
        return self.text(name) + self.text(arguments) + TOOL_CALL_FRAME

    def scaled(self, raw: int) -> int:
        """Return a raw count with the margin, rounded up."""
        return raw if self.margin == EXACT else ceil(self.margin * raw)

    def raw_limit(self, scaled: int) -> int:
        """Return the largest raw count that needs at most `scaled` tokens with the margin."""
        return floor(scaled / self.margin)

    def remembering(self) -> "RememberingCounter":
        """Return the same counter, for texts that come again and again."""
        return RememberingCounter(self.encoding, self.margin)


@dataclass(frozen=True, slots=True)
class RememberingCounter(TokenCounter):
    """Counts each text only the first time it sees it."""

    known: dict[str, int] = field(default_factory=dict)

    def text(self, text: str) -> int:
        """Return the tokens of a text."""
        if text not in self.known:
            self.known[text] = TokenCounter.text(self, text)
        return self.known[text]


STORED_COUNTER = TokenCounter()


def event_tokens(event: Event, counter: TokenCounter = STORED_COUNTER) -> int:
    """Return what an event would need in a prompt if it stood alone there, frames included.

    In its run it may need a little less or more: neighbours of one role are sent as one message, and an assistant
    message without text needs no placeholder if it makes tool calls.
    """
    match event.kind:
        case EventKind.MESSAGE:
            return _message_tokens(event, counter)
        case EventKind.TOOL_CALL if event.tool is not None:
            return _call_tokens(event.tool, counter, alone=event.parent is None)
        case _:
            return 0


def _message_tokens(event: Event, counter: TokenCounter) -> int:
    assistant = event.role is Role.ASSISTANT
    parts = message_parts(event)
    images = sum(isinstance(part, Mapping) for part in parts)
    texts = [part for part in parts if isinstance(part, str) and not is_blank(part)]
    if not texts and not images:
        texts = [NO_ANSWER if assistant else EMPTY_MESSAGE]
    return counter.message("assistant" if assistant else "user", texts, images=images)


def _call_tokens(call: ToolCall, counter: TokenCounter, *, alone: bool) -> int:
    name, arguments = tool_name_as_sent(call.name), arguments_as_sent(call.arguments)
    own_message = counter.message("assistant", ()) if alone else 0
    return own_message + counter.call(name, arguments) + counter.message("tool", [result_as_sent(call)])


def _slices(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > SLICE_LENGTH:
        end = _seam(text, start + SLICE_LENGTH)
        yield text[start:end]
        start = end
    yield text[start:]


def _seam(text: str, limit: int) -> int:
    """Prefer to cut between two words, where every encoding cuts too, so that the count stays exact."""
    nearby = [match.start() for match in _SEAM.finditer(text, limit - _SEAM_SEARCH, limit)]
    return nearby[-1] if nearby else limit
